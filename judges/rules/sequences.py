"""Sequences: which words a source has side by side."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise

SHORT = 1500
"""Words of a text up to which a search in it is faster than sets of its sequences."""

_SIGNS = "".join(map(chr, range(1, 4 * SHORT)))
_UNKNOWN = "\0"  # stands for every word that the source does not have


class Sequences:
    """The pairs and triples of words of a source.

    Each of its words has a sign, so that the source is a string, and words side by side are found
    by a search in it: the string is made at once, and takes next to no memory. The search takes
    time in proportion to the source, so that a long one has sets of hashes instead.

    Parameters
    ----------
    signs
        The sign of each of `words`; None for a long source.
    """

    __slots__ = ("_hashes", "_signs", "_text")

    def __init__(self, words: Sequence[str], *, signs: Mapping[str, str] | None) -> None:
        self._signs = signs or {}
        self._text = "".join(map(self._signs.__getitem__, words)) if signs is not None else ""
        self._hashes = (
            {size: frozenset(_hashed(words, size)) for size in (2, 3)} if signs is None else {}
        )

    def held(self, words: Sequence[str], *, size: int) -> list[bool]:
        """Say of each `size` words in a row, 2 or 3, whether the source has them in a row."""
        if self._hashes:
            return [*map(self._hashes[size].__contains__, _hashed(words, size))]
        said, text = "".join([self._signs.get(word, _UNKNOWN) for word in words]), self._text
        return [said[at : at + size] in text for at in range(len(said) - size + 1)]


def signs_of(words: Collection[str]) -> dict[str, str] | None:
    """Give each of different words a sign of its own; None where they are too many."""
    return dict(zip(words, _SIGNS, strict=False)) if len(words) <= len(_SIGNS) else None


def _hashed(words: Sequence[str], size: int) -> Iterator[int]:
    """Yield the hash of each so many words in a row: sets of them are small and quickly made."""
    if size == 2:  # noqa: PLR2004
        return map(hash, pairwise(words))
    return map(hash, zip(words, words[1:], words[2:], strict=False))
