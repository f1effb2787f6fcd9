"""CharacTER, and the word and character error rates [3].

CharacTER counts the character edits that remain after words have been shifted into place.

Shifts are chosen as in the authors' program [1]_: of all longest runs of words that output and
reference share at different positions, the one whose move to the reference's position leaves the
fewest words to edit; of several such orders of words, the last in the alphabet. In long texts, for
which the program was not designed, only the longest runs are tried.

References
----------
.. [1] Wang, Peter, Rosendahl and Ney (2016), CharacTer: translation edit rate on character
       level, WMT, doi:10.18653/v1/W16-2342; the program is https://github.com/rwth-i6/CharacTER
.. [2] The package ``cer`` 1.2 (GPL-3), which maintains the authors' program; the values are equal
.. [3] Morris, Maier and Green (2004), From WER and RIL to MER and WIL: improved evaluation
       measures for connected speech recognition, Interspeech
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from spanjury.judges.core import Sample, signature
from spanjury.judges.metrics.edits.native import KERNELS, MOST_CHARACTERS
from spanjury.judges.metrics.reductions import SummedRows
from spanjury.judges.metrics.signed import Signed, version

_SHORT = 100  # maximum words of a text in which every shift is tried
_TRIED = 50  # maximum shifts tried at a time in a longer text
_LONG = 2_000  # words above which nothing is shifted
_REACH = (_SHORT, _LONG, _TRIED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Character:
    """CharacTER: edits per character of the output, at most 1.

    A phrase of the output that the reference has elsewhere is moved there while this leaves fewer
    words to edit. The remaining character edits plus the cost of the shifts are divided by the
    output's length.

    Parameters
    ----------
    likeness
        Words count as similar, and so form a phrase, if at most this share of the characters of
        the longer one differs; 0 to 1. The authors' program accepts equal words only, which is 0.
    """

    likeness: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.likeness <= 1.0:
            raise ValueError(f"likeness must be from 0 to 1, got {self.likeness!r}")

    @property
    def signature(self) -> str:
        """The options, the program that the search follows, and the version of rapidfuzz."""
        return signature(
            "character", likeness=self.likeness, search="cer-1.2", rapidfuzz=version("rapidfuzz")
        )

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return the rate of each output against its one reference."""
        return [self._rate(sample.output, sample.references[0]) for sample in samples]

    def _rate(self, output: str, reference: str) -> float:
        is_short = len(output) <= MOST_CHARACTERS and len(reference) <= MOST_CHARACTERS
        if KERNELS is not None and is_short and not self.likeness:
            edits, length, phrases = KERNELS.character_edits([reference, output], _REACH)
        else:
            edits, length, phrases = character_edits(output, reference, likeness=self.likeness)
        return min(1.0, (edits + phrases_cost(phrases)) / max(1, length))


def character_edits(
    output: str, reference: str, *, likeness: float
) -> tuple[int, int, list[tuple[int, int]]]:
    """Return the character edits after all shifts, the output's length, and its moved phrases.

    Of each phrase that was moved back, the number of characters and of words is returned.
    """
    before, words = output.split(), reference.split()
    wanted, given = " ".join(words), " ".join(before)
    if given == wanted:
        return 0, len(given), []  # the program does not search for repeated words, either
    if max(len(before), len(words)) > _LONG:
        return Levenshtein.distance(given, wanted), len(given), []
    after = reordered(before, words, likeness=likeness)
    edits = Levenshtein.distance(" ".join(after), wanted)
    return edits, len(given), moved_phrases(before, after)


class _Shift(NamedTuple):
    """Move words ``[start, start + length)`` so that the first becomes word `to` of the result."""

    start: int
    to: int
    length: int

    def of(self, words: str) -> str:
        """Return words, one character each, in their new order."""
        end = self.start + self.length
        rest = words[: self.start] + words[end:]
        return rest[: self.to] + words[self.start : end] + rest[self.to :]


def reordered(output: Sequence[str], reference: Sequence[str], *, likeness: float) -> list[str]:
    """Return the words of `output` after all shifts that leave fewer words to edit.

    Similar words (see `alike_positions`) can form a run, but still count as different.
    """
    by_character = sorted({*output, *reference})  # so that codes sort like words
    code = {word: chr(number) for number, word in enumerate(by_character)}
    ours, theirs = ("".join(map(code.__getitem__, words)) for words in (output, reference))
    alike = {
        code[word]: positions
        for word, positions in alike_positions(output, reference, likeness=likeness).items()
    }
    return [by_character[ord(char)] for char in _searched(ours, theirs, alike=alike)]


def _searched(ours: str, theirs: str, *, alike: Mapping[str, Sequence[int]]) -> str:
    """Shift words, one character each, while this leaves fewer edits."""
    least = max(len(ours), len(theirs)) - (Counter(ours) & Counter(theirs)).total()
    edits = Levenshtein.distance(ours, theirs)
    is_short = max(len(ours), len(theirs)) <= _SHORT
    while edits > least:
        fewest, best = edits - 1, ""
        # Longest first: moving n words saves at most 2 n edits, so many shifts can be skipped.
        shifts = sorted(_shifts(ours, alike=alike), key=lambda shift: -shift.length)
        for shift in shifts if is_short else shifts[:_TRIED]:
            if edits - 2 * shift.length > fewest:
                break
            moved = shift.of(ours)
            left = Levenshtein.distance(moved, theirs, score_cutoff=fewest)
            if left < fewest or (left == fewest and moved > best):
                fewest, best = left, moved
        if not best:
            break
        edits, ours = fewest, best
    return ours


def _shifts(ours: str, *, alike: Mapping[str, Sequence[int]]) -> Iterator[_Shift]:
    """Yield each longest run of words that the reference has at another position."""
    positions = {word: frozenset(indices) for word, indices in alike.items()}
    for start, word in enumerate(ours):
        for to in alike[word]:
            if to == start:
                continue
            length = 1
            while start + length < len(ours) and to + length in positions[ours[start + length]]:
                length += 1
            yield _Shift(start, to, length)


def moved_phrases(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    """Return characters and words of each phrase that the new order has further back.

    Words that moved forward are in none.
    """
    phrases, at = [], 0
    while at < len(before):
        length = _run(before, after, at=at)
        if length:
            phrases.append((sum(map(len, before[at : at + length])), length))
        at += max(1, length)
    return phrases


def phrases_cost(phrases: Iterable[tuple[int, int]]) -> float:
    """Return the cost of moving phrases back: for each the mean length of its words."""
    cost = 0.0
    for characters, words in phrases:  # not `sum`, which rounds differently in newer Pythons
        cost += characters / words
    return cost


def _run(before: Sequence[str], after: Sequence[str], *, at: int) -> int:
    """Return how many words from `at` on occur next further back in `after`; 0 if none does."""
    target = next((n for n in range(at + 1, len(after)) if after[n] == before[at]), None)
    if target is None or after[at] == before[at]:
        return 0
    length = 1
    while target + length < len(after) and before[at + length] == after[target + length]:
        length += 1
    return length


def alike_positions(
    output: Sequence[str], reference: Sequence[str], *, likeness: float
) -> dict[str, list[int]]:
    """Return for each word of the output the positions of similar words of the reference.

    `likeness` is the share of the longer word's characters that may differ, 0 to 1.
    """
    positions: dict[str, list[int]] = {}
    for position, word in enumerate(reference):
        positions.setdefault(word, []).append(position)
    alike = {word: positions.get(word, []) for word in output}
    ours, theirs = _long_words(alike, likeness=likeness), _long_words(positions, likeness=likeness)
    if ours and theirs:
        apart = cdist(ours, theirs, scorer=Levenshtein.normalized_distance, score_cutoff=likeness)
        for word, near in zip(ours, apart <= likeness, strict=True):
            others = [theirs[column] for column in np.flatnonzero(near).tolist()]
            if others and others != [word]:
                alike[word] = sorted(position for other in others for position in positions[other])
    return alike


def _long_words(words: Iterable[str], *, likeness: float) -> list[str]:
    """Return the words that another word may be similar to; shorter ones match only themselves.

    If one character differs, the longer word must have 1 / `likeness` characters; the other may
    be shorter by that share.
    """
    if not likeness:
        return []
    shortest = math.floor((1.0 - likeness) / likeness)
    return [word for word in words if len(word) >= shortest]


@dataclass(frozen=True, slots=True, kw_only=True)
class _ErrorRate(SummedRows, Signed):
    """Edits of units per unit of the reference; an empty reference counts as one unit."""

    lowercase: bool = False

    libraries: ClassVar[tuple[str, ...]] = ("rapidfuzz",)
    by_words: ClassVar[bool]

    def statistics(self, samples: Sequence[Sample], /) -> list[list[float]]:
        """Return edits and the length of the reference in units."""
        cut: Callable[[str], Sequence[str]] = str.split if self.by_words else str.strip
        rows: list[list[float]] = []
        for sample in samples:  # one by one: caching words costs more than computing the edits
            output, reference = sample.output, sample.references[0]
            if self.lowercase:
                output, reference = output.lower(), reference.lower()
            wanted = cut(reference)
            rows.append([Levenshtein.distance(cut(output), wanted), len(wanted)])
        return rows

    def score_statistics(self, total: Sequence[float], /) -> float:
        """Return the rate of summed counts."""
        return total[0] / max(1, total[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Wer(_ErrorRate):
    """Edits of words (split at white space) per word of the reference; 0 and up."""

    kind: ClassVar[str] = "wer"
    by_words: ClassVar[bool] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Cer(_ErrorRate):
    """Edits of characters per character of the reference; 0 and up.

    White space at both ends does not count, white space within a text does.
    """

    kind: ClassVar[str] = "cer"
    by_words: ClassVar[bool] = False
