"""Copies: sentences that stand in the source word for word, and need not be read."""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from spanjury.judges.text.sentences import sentence_intervals
from spanjury.judges.text.tokens import TURNS
from spanjury.judges.text.words import folded_words

_FIRST = 3  # words that are looked up at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Copies:
    """The folded words of a source, blanks around each.

    Parameters
    ----------
    begins
        Where its sentences begin in it.
    places
        The first words of a stretch -> where they stand first.
    """

    text: str
    begins: list[int]
    offsets: Mapping[int, int] = field(repr=False)

    def holds(self, sentence: str) -> bool:
        """Say whether the words of `sentence` stand in the source side by side, meaning the same.

        A sentence without words is a copy.
        """
        folded = folded_words(sentence)
        begin = self.offsets.get(_key(folded[:_FIRST])) if len(folded) >= _FIRST else 0
        if begin is None:
            return False
        start = self.text.find(f" {' '.join(folded)} ", begin) if folded else 0
        return start >= 0 and not self._turned(start)

    def _turned(self, start: int) -> bool:
        begin = self.begins[bisect_right(self.begins, start) - 1] if self.begins else 0
        return not TURNS.isdisjoint(self.text[begin:start].split())


def copies_of(inputs: Mapping[str, str]) -> Copies:
    """Index the inputs; systems that share them share the work."""
    return _copies(tuple(inputs.values()))


@lru_cache(maxsize=8)  # the systems that share a source come one after another
def _copies(texts: tuple[str, ...]) -> Copies:
    parts: list[str] = []
    begins: list[int] = []
    offsets: dict[int, int] = {}
    length = 0
    for text in texts:
        words: list[str] = []
        at: list[int] = []
        for start, end in sentence_intervals(text):
            begins.append(length)
            for word in folded_words(text[start:end]):
                words.append(word)
                at.append(length)
                length += 1 + len(word)
        for first in range(len(words) - _FIRST + 1):
            offsets.setdefault(_key(words[first : first + _FIRST]), at[first])
        parts += [f" {word}" for word in words]
        parts.append(" |")  # no word, so that nothing is a copy across inputs
        length += 2
    return Copies(text=f"{''.join(parts)} ", begins=begins, offsets=offsets)


def _key(words: list[str]) -> int:
    return hash(tuple(words))
