"""MoverScore: how little the reference's tokens must move to become the output's [1].

Single tokens are moved, each by the shortest way on the unit sphere's chords, weighted by how
telling they are. Their vectors are the least, mean and greatest value of the last layers.

References
----------
.. [1] Zhao et al. (2019), MoverScore: text generation evaluating with contextualized embeddings
   and earth mover distance, EMNLP-IJCNLP, arXiv:1909.02622
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version

import numpy as np
import torch

from spanjury.adapters.weights.encoder import Encoder, EncoderMetric, Idf
from spanjury.adapters.weights.tokens import Pieces
from spanjury.adapters.weights.transport import TokenFlow, token_flow, transport_cost
from spanjury.judges.core import Sample, signature


@dataclass(frozen=True, slots=True, kw_only=True)
class MoverScore(EncoderMetric):
    """One less the work of moving one text's tokens to the other's.

    Parameters
    ----------
    model
        A folder or a hub id of an encoder; the paper's is a BERT trained to tell entailment.
    layers
        How many of the last layers make a token's vector.
    idf
        Whether rare tokens weigh more, by all outputs and by all references; if so, as in the
        paper, a score depends on the other samples.
    """

    layers: int = 5
    idf: bool = True
    batch_size: int = 32

    def __post_init__(self) -> None:
        if self.layers < 1 or self.batch_size < 1:
            raise ValueError(
                f"layers and batch_size must be 1 or more, got {self.layers!r}, {self.batch_size!r}"
            )
        self._find_encoder("moverscore")

    @property
    def signature(self) -> str:
        """The model, its layers and the weights."""
        return signature(
            "moverscore",
            model=self._checkpoint.identity,
            layers=self.layers,
            idf=self.idf,
            max_tokens=self._checkpoint.window,
            device=self._checkpoint.device,
            pot=version("pot"),
            transformers=version("transformers"),
            torch=version("torch"),
        )

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return one score in ``[-1, 1]`` a sample, for its one reference."""
        encoder = self._encoder.get()
        texts = [(sample.output.strip(), sample.references[0].strip()) for sample in samples]
        pieces = _pieces(encoder, texts)
        outputs = Idf.of(pieces[output].ids for output, _ in texts) if self.idf else None
        references = Idf.of(pieces[reference].ids for _, reference in texts) if self.idf else None
        vectors = encoder.pairs(texts, pieces, layers=self._pooled, batch_size=self.batch_size)
        return [
            _score((pieces[output], first, outputs), (pieces[reference], second, references))
            for (output, reference), (first, second) in zip(texts, vectors, strict=True)
        ]

    def flow(self, sample: Sample, /) -> TokenFlow:
        """Return what tokens of the output move where, for the sample's first reference.

        Tokens weigh alike: how rare they are, a single sample does not tell.
        """
        encoder = self._encoder.get()
        texts = (sample.output.strip(), sample.references[0].strip())
        pieces = _pieces(encoder, [texts])
        (vectors,) = encoder.pairs([texts], pieces, layers=self._pooled, batch_size=1)
        sides = [
            _own(encoder, pieces[text], vector) for text, vector in zip(texts, vectors, strict=True)
        ]
        return token_flow(*sides)

    def _pooled(self, states: tuple[torch.Tensor, ...]) -> torch.Tensor:
        """Return the power means of the last layers, for the powers -inf, 1 and inf: [1] 3.2."""
        last = torch.stack(
            [torch.nn.functional.normalize(s, dim=-1) for s in states[-self.layers :]]
        )
        return torch.cat([last.amin(0), last.mean(0), last.amax(0)], dim=-1)


def _pieces(encoder: Encoder, texts: Sequence[tuple[str, str]]) -> dict[str, Pieces]:
    every = dict.fromkeys(text for pair in texts for text in pair)
    return {text: encoder.tokeniser.pieces(text) for text in every}


def _own(
    encoder: Encoder, pieces: Pieces, vectors: torch.Tensor
) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return a text's own tokens, their vectors and equal weights."""
    own = np.flatnonzero(pieces.content)
    ids = [pieces.ids[index] for index in own]
    return encoder.tokeniser.written(ids), vectors.numpy()[own], np.ones(len(own))


def _score(
    output: tuple[Pieces, torch.Tensor, Idf | None],
    reference: tuple[Pieces, torch.Tensor, Idf | None],
) -> float:
    if output[0].empty or reference[0].empty:
        return 1.0 if output[0].empty and reference[0].empty else -1.0
    (a, first, rare), (b, second, unusual) = output, reference
    return 1.0 - transport_cost(
        (first.numpy(), _weights(a, rare)), (second.numpy(), _weights(b, unusual))
    )


def _weights(pieces: Pieces, idf: Idf | None) -> list[float]:
    """Return what each token weighs; nothing for the marks, and alike where all would be 0."""
    alike = [float(own) for own in pieces.content]
    if idf is None:
        return alike
    rare = [idf(token) * own for token, own in zip(pieces.ids, alike, strict=True)]
    return rare if any(rare) else alike
