"""Texts as a model's tokens, cut at what the model takes, and the cuts counted."""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from transformers import PreTrainedTokenizerBase

from spanjury.adapters.surrogates import without_lone_surrogates


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces:
    """A text in tokens, with the marks that the tokenizer puts around a text.

    `content` says for each whether it is the text's own.
    """

    ids: tuple[int, ...]
    content: tuple[bool, ...]

    @property
    def empty(self) -> bool:
        """True if the text has no token of its own."""
        return not any(self.content)


class Tokeniser:
    """A tokenizer that may be used by several threads, and counts what it cuts.

    It keeps `limit` tokens, marks included.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, *, limit: int) -> None:
        self.tokenizer = tokenizer
        self.limit = limit
        self.cut = 0
        self._lock = threading.Lock()  # a tokenizer keeps the limit of a call in itself

    @property
    def padding(self) -> int:
        """The number of the token that fills a batch up; never read."""
        padding = self.tokenizer.pad_token_id
        return padding if isinstance(padding, int) else 0

    def written(self, ids: Sequence[int]) -> list[str]:
        """Return tokens as the tokenizer writes them, ``##ing`` or ``Ġthe``."""
        tokens = self.tokenizer.convert_ids_to_tokens(list(ids))
        return [str(token) for token in tokens]

    def pieces(self, text: str, *, target: bool = False) -> Pieces:
        """Return the tokens of `text`, as a decoder is to write them if it is a `target`."""
        key = "text_target" if target else "text"
        arguments = {key: without_lone_surrogates(text), "return_special_tokens_mask": True}
        with self._lock:
            encoded = self.tokenizer(**arguments, verbose=False)
            if len(encoded["input_ids"]) > self.limit:
                self.cut += 1
                encoded = self.tokenizer(**arguments, truncation=True, max_length=self.limit)
        return Pieces(
            ids=tuple(encoded["input_ids"]),
            content=tuple(not special for special in encoded["special_tokens_mask"]),
        )


def padded(
    rows: Iterable[Sequence[int]], *, padding: int, device: torch.device
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the rows, filled up to the longest, and 1 where a number is a row's own."""
    kept = [torch.tensor(row, dtype=torch.long) for row in rows]
    ids = torch.nn.utils.rnn.pad_sequence(kept, batch_first=True, padding_value=padding)
    ones = [torch.ones_like(row) for row in kept]
    mask = torch.nn.utils.rnn.pad_sequence(ones, batch_first=True, padding_value=0)
    return ids.to(device), mask.to(device)
