"""BERTScore: each token is matched with the most similar token of the other text [1].

The layers and the weights of tokens are those of the library ``bert_score``, with which the tests
compare it. It is implemented here because the library downloads models from the hub, fails for
empty texts with current transformers, and lets the longest text of a batch change other scores.

References
----------
.. [1] Zhang et al. (2020), BERTScore: evaluating text generation with BERT, ICLR,
   arXiv:1904.09675
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
import torch
from bert_score.utils import model2layers  # type: ignore[import-untyped]  # it brings no types
from transformers import GPT2Tokenizer, RobertaTokenizer

from spanjury.adapters.weights.checkpoint import Checkpoint, CheckpointMetric
from spanjury.adapters.weights.encoder import Encoder, Idf, token_weights
from spanjury.adapters.weights.movers import TokenSimilarities
from spanjury.adapters.weights.tokens import Pieces
from spanjury.judges.core import Sample

Measure = Literal["f1", "precision", "recall"]
_PREFIXED = (GPT2Tokenizer, RobertaTokenizer)  # first words have other tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class BERTScore(CheckpointMetric):
    """Similarity of meaning, token by token.

    Parameters
    ----------
    model
        A folder or a hub id, such as ``roberta-large``.
    measure
        Mean similarity of the output's tokens (precision), the reference's (recall), or both (f1).
    layer
        The layer whose vectors are used; 0 means the embeddings. None for the layer that
        ``bert_score`` found best for the model, or the last one of an unknown model.
    idf
        Whether rare tokens weigh more. Then a score depends on the references of all samples.
    """

    measure: Measure = "f1"
    layer: int | None = None
    idf: bool = False
    batch_size: int = 32
    _layer: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.measure not in get_args(Measure):
            raise ValueError(f"measure must be one of {get_args(Measure)}, got {self.measure!r}")
        checkpoint = self._find("bertscore", Encoder)
        object.__setattr__(self, "_layer", _layer_of(checkpoint, self.layer))

    @property
    def signature(self) -> str:
        """The model, the layer, the weighting and the measure."""
        return self._signature("bertscore", measure=self.measure, layer=self._layer, idf=self.idf)

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return one score in ``[-1, 1]`` per sample, for its only reference."""
        encoder: Encoder = self._engine.get()
        texts = [_texts(encoder, sample) for sample in samples]
        pieces = encoder.pieces(texts)
        idf = Idf.of(pieces[reference].ids for _, reference in texts) if self.idf else None
        vectors = encoder.pairs(
            texts, pieces, layers=lambda states: states[self._layer], batch_size=self.batch_size
        )
        return [
            self._score((pieces[output], pieces[reference]), (first, second), idf)
            for (output, reference), (first, second) in zip(texts, vectors, strict=True)
        ]

    def similarities(self, sample: Sample, /) -> TokenSimilarities:
        """Return the similarities of the output's tokens to those of the first reference."""
        encoder: Encoder = self._engine.get()
        texts = _texts(encoder, sample)
        pieces = encoder.pieces([texts])
        ((first, second),) = encoder.pairs(
            [texts], pieces, layers=lambda states: states[self._layer], batch_size=1
        )
        own = [np.flatnonzero(pieces[text].content) for text in texts]
        output, reference = (tuple(encoder.tokeniser.written(pieces[text].own)) for text in texts)
        if not output or not reference:
            return TokenSimilarities(output, reference, np.zeros((len(output), len(reference))))
        left, right = (torch.nn.functional.normalize(part, dim=-1) for part in (first, second))
        return TokenSimilarities(output, reference, (left @ right.T).numpy()[np.ix_(*own)])

    def _score(
        self,
        pieces: tuple[Pieces, Pieces],
        vectors: tuple[torch.Tensor, torch.Tensor],
        idf: Idf | None,
    ) -> float:
        output, reference = pieces
        if output.empty or reference.empty:
            return float(output.empty and reference.empty)
        first, second = (torch.nn.functional.normalize(part, dim=-1) for part in vectors)
        alike = first @ second.T
        precision = float(alike.max(dim=1).values @ _shares(output, idf))
        recall = float(alike.max(dim=0).values @ _shares(reference, idf))
        both = precision + recall
        f1 = 2 * precision * recall / both if both else 0.0
        score = {"precision": precision, "recall": recall, "f1": f1}[self.measure]
        # A cosine may round to 1.0000001, and F1 of negative numbers is unbounded.
        return min(1.0, max(-1.0, score))


def _texts(encoder: Encoder, sample: Sample) -> tuple[str, str]:
    """Return the output and its reference, with the blank that some tokenizers need first."""
    start = " " if isinstance(encoder.tokeniser.tokenizer, _PREFIXED) else ""
    output, reference = (text.strip() for text in (sample.output, sample.references[0]))
    return output and start + output, reference and start + reference


def _shares(pieces: Pieces, idf: Idf | None) -> torch.Tensor:
    weights = torch.tensor(token_weights(pieces, idf), dtype=torch.float32)
    return weights / weights.sum()


def _layer_of(checkpoint: Checkpoint, asked: int | None) -> int:
    count = checkpoint.config.num_hidden_layers
    layers = model2layers.get(checkpoint.name, model2layers.get(checkpoint.folder.name, count))
    layer = min(layers, count) if asked is None else asked
    if not 0 <= layer <= count:
        raise ValueError(f"layer must be from 0 to {count} for {checkpoint.name!r}, got {layer!r}")
    return layer
