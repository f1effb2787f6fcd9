"""Texts as a model's tokens, truncated at the model's maximum, with a count of truncations."""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from transformers import PreTrainedTokenizerBase

from spanjury.adapters.surrogates import without_lone_surrogates


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces:
    """A text as tokens, including the special tokens around it.

    `content` is True for each token that belongs to the text itself.
    """

    ids: tuple[int, ...]
    content: tuple[bool, ...]

    @property
    def own(self) -> list[int]:
        """The tokens that belong to the text itself."""
        return [token for token, own in zip(self.ids, self.content, strict=True) if own]

    @property
    def empty(self) -> bool:
        """True if the text has no tokens of its own."""
        return not any(self.content)


class Tokeniser:
    """A thread-safe tokenizer that counts the texts it truncates.

    It keeps at most `limit` tokens, special tokens included.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, *, limit: int) -> None:
        self.tokenizer = tokenizer
        self.limit = limit
        self.cut = 0
        self._lock = threading.Lock()  # the tokenizer stores a call's truncation limit as state

    @property
    def padding(self) -> int:
        """Id of the token that pads batches; masked."""
        padding = self.tokenizer.pad_token_id
        return padding if isinstance(padding, int) else 0

    def written(self, ids: Sequence[int]) -> list[str]:
        """Return tokens in the tokenizer's spelling, such as ``##ing`` or ``Ġthe``."""
        tokens = self.tokenizer.convert_ids_to_tokens(list(ids))
        return [str(token) for token in tokens]

    def pieces(self, text: str, *, target: bool = False) -> Pieces:
        """Return the tokens of `text`, in the form for a decoder if it is a `target`."""
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
    """Return the padded rows, and a mask that is 1 for each row's own tokens."""
    kept = [torch.tensor(row, dtype=torch.long) for row in rows]
    ids = torch.nn.utils.rnn.pad_sequence(kept, batch_first=True, padding_value=padding)
    ones = [torch.ones_like(row) for row in kept]
    mask = torch.nn.utils.rnn.pad_sequence(ones, batch_first=True, padding_value=0)
    return ids.to(device), mask.to(device)
