"""Pieces: a window as the numbers that an encoder takes.

``[CLS] sentence [SEP] source [SEP]``, each piece with the kind of its word, the marks with 0.
Trainer and judge cut words alike, since both use this.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from tokenizers import Tokenizer

from spanjury.adapters.surrogates import without_lone_surrogates
from spanjury.judges.core import Window

NO_KIND = 0
"""Kind of the marks ``[CLS]`` and ``[SEP]``."""

_MARKS = 3  # that stand in a window
_KEPT_WORDS = 1 << 15  # words whose pieces are kept: looking a word up costs a tenth of cutting it


@dataclass(frozen=True, slots=True, kw_only=True)
class PieceWindow:
    """A window, or one with a part of a sentence that is too long for it.

    Parameters
    ----------
    ids, kinds
        Ids and kinds of its pieces, one for each.
    first
        How many of the pieces are ``[CLS]`` and the sentence.
    places
        For each word of the sentence, where its first piece stands; None for a word without any,
        as of invisible characters.
    """

    ids: Sequence[int]
    kinds: Sequence[int]
    first: int
    positions: Sequence[int | None]


class Pieces:
    """Cuts words into pieces, each by itself: a tokenizer of BERT's kind cuts a text so, too.

    Parameters
    ----------
    tokenizer
        Knows ``[CLS]`` and ``[SEP]``.
    max_length
        The most pieces of a window. A sentence takes half of them at most, and what is left is
        the source's, whose end is cut.

    Raises
    ------
    ValueError
        If the tokenizer lacks a mark.
    """

    def __init__(self, tokenizer: Tokenizer, *, max_length: int) -> None:
        self._begin, self._end = (_mark(tokenizer, mark) for mark in ("[CLS]", "[SEP]"))
        self._max_length = max_length
        self._tokenizer = tokenizer
        self._of_word = lru_cache(maxsize=_KEPT_WORDS)(self._cut)

    def windows(self, window: Window) -> list[PieceWindow]:
        """Return `window` in pieces: one, or several for a sentence of very many pieces."""
        words = [self._of_word(word) for word in window.words]
        source = [self._of_word(word) for word in window.source]
        parts = _parts([len(pieces) for pieces in words], most=self._max_length // 2)
        beside = _spread(source, window.source_kinds)
        return [
            self._window(words[first:stop], window.kinds[first:stop], source=beside)
            for first, stop in parts
        ]

    def _window(
        self,
        words: Sequence[Sequence[int]],
        kinds: Sequence[int],
        *,
        source: tuple[Sequence[int], Sequence[int]],
    ) -> PieceWindow:
        half = self._max_length // 2
        positions: list[int | None] = []
        position = 1
        for pieces in words:
            positions.append(position if pieces else None)
            position += len(pieces)
        ids, ids_kinds = (part[:half] for part in _spread(words, kinds))
        room = self._max_length - _MARKS - len(ids)
        source_ids, source_kinds = (part[:room] for part in source)
        return PieceWindow(
            ids=[self._begin, *ids, self._end, *source_ids, self._end],
            kinds=[NO_KIND, *ids_kinds, NO_KIND, *source_kinds, NO_KIND],
            first=1 + len(ids),
            positions=positions,
        )

    def _cut(self, word: str) -> tuple[int, ...]:
        word = without_lone_surrogates(word)
        cut = self._tokenizer.encode([word], is_pretokenized=True, add_special_tokens=False)
        return tuple(cut.ids)


def _mark(tokenizer: Tokenizer, mark: str) -> int:
    number = tokenizer.token_to_id(mark)
    if number is None:
        raise ValueError(f"the tokenizer does not know {mark}")
    return number


def _parts(lengths: Sequence[int], *, most: int) -> Iterator[tuple[int, int]]:
    """Yield stretches of words of at most `most` pieces; a longer word makes one by itself."""
    first = size = 0
    for at, length in enumerate(lengths):
        if at > first and size + length > most:
            yield first, at
            first, size = at, 0
        size += length
    yield first, len(lengths)


def _spread(
    words: Sequence[Sequence[int]], kinds: Sequence[int]
) -> tuple[Sequence[int], Sequence[int]]:
    """Return the pieces of words, and for each the kind of its word."""
    each = zip(words, kinds, strict=True)
    return list(chain.from_iterable(words)), [kind for word, kind in each for _ in word]
