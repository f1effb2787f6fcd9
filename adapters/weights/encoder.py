"""An encoder, which gives each token a vector, and token weights that favour rare tokens."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from transformers import AutoModel, PreTrainedModel

from spanjury.adapters.model_files import batches
from spanjury.adapters.weights.checkpoint import Checkpoint
from spanjury.adapters.weights.tokens import Pieces, Tokeniser, padded

Layers = Callable[[tuple[torch.Tensor, ...]], torch.Tensor]
"""Combines all layers, the embeddings first, to one vector per token, ``(texts, tokens, size)``."""

_CHUNK = 16  # batches whose vectors are in memory together


class Encoder:
    """A model without its head; of an encoder-decoder, only the encoder."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.tokeniser = Tokeniser(checkpoint.tokenizer(), limit=checkpoint.window)
        self._model: PreTrainedModel = checkpoint.load(AutoModel)
        if checkpoint.config.is_encoder_decoder:
            self._model = self._model.get_encoder()
        self._device = checkpoint.device

    def pieces(self, pairs: Iterable[tuple[str, str]]) -> dict[str, Pieces]:
        """Return the tokens of each text of the pairs."""
        texts = dict.fromkeys(text for pair in pairs for text in pair)
        return {text: self.tokeniser.pieces(text) for text in texts}

    def vectors(
        self, texts: Sequence[Pieces], *, layers: Layers, batch_size: int
    ) -> list[torch.Tensor]:
        """Return the vectors of each text's tokens, ``(tokens, size)``, on the CPU.

        Every text must have at least one token.
        """
        encoded: list[torch.Tensor] = [torch.empty(0)] * len(texts)
        for batch in batches([len(text.ids) for text in texts], size=batch_size):
            ids, mask = padded(
                (texts[index].ids for index in batch),
                padding=self.tokeniser.padding,
                device=self._device,
            )
            with torch.inference_mode():
                output = self._model(input_ids=ids, attention_mask=mask, output_hidden_states=True)
                states = layers(output.hidden_states).cpu()
            for row, index in enumerate(batch):
                encoded[index] = states[row, : len(texts[index].ids)].clone()
        return encoded

    def pairs(
        self,
        pairs: Sequence[tuple[str, str]],
        pieces: Mapping[str, Pieces],
        *,
        layers: Layers,
        batch_size: int,
    ) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """Yield the vectors of both texts of each pair; within a chunk, each text is read once.

        A text without tokens gets an empty tensor, ``(0,)``.
        """
        step = _CHUNK * batch_size
        for start in range(0, len(pairs), step):
            chunk = pairs[start : start + step]
            texts = [t for t in dict.fromkeys(t for pair in chunk for t in pair) if pieces[t].ids]
            known_pieces = [pieces[text] for text in texts]
            vectors = self.vectors(known_pieces, layers=layers, batch_size=batch_size)
            by_text = dict(zip(texts, vectors, strict=True))
            none = torch.empty(0)
            yield from ((by_text.get(a, none), by_text.get(b, none)) for a, b in chunk)


@dataclass(frozen=True, slots=True, kw_only=True)
class Idf:
    """Smoothed inverse document frequency, ``log((texts + 1) / (texts with it + 1))``.

    `having` is, for each token, the number of texts that contain it.
    """

    texts: int
    having: Counter[int]

    @classmethod
    def of(cls, texts: Iterable[Sequence[int]]) -> "Idf":
        """Count the texts that contain each token."""
        sets = [set(text) for text in texts]
        return cls(texts=len(sets), having=Counter(token for text in sets for token in text))

    def __call__(self, token: int) -> float:
        """Return the weight of a token: 0 if every text has it."""
        return math.log((self.texts + 1) / (self.having[token] + 1))


def token_weights(pieces: Pieces, idf: Idf | None) -> list[float]:
    """Return the weight of each token; 0 for special tokens, and equal if all would be 0.

    Without `idf`, all tokens of the text itself weigh the same.
    """
    alike = [float(own) for own in pieces.content]
    if idf is None:
        return alike
    rare = [idf(token) * own for token, own in zip(pieces.ids, alike, strict=True)]
    return rare if any(rare) else alike
