"""Fragments that an output copies from its source: coverage, density and compression [1]_.

References
----------
.. [1] Grusky, Naaman & Artzi, Newsroom: a dataset of 1.3 million summaries with diverse
   extractive strategies, NAACL 2018, section 4
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import ClassVar

from spanjury.judges.core import Sample, signature
from spanjury.judges.metrics.words.word_grams import Tokens, check_tokens, tokenise

_LONG = 50_000  # code points of a sample that is not worth keeping


@dataclass(frozen=True, slots=True, kw_only=True)
class _OfWords:
    """Base of metrics whose one option is how words are cut."""

    tokens: Tokens = "words-and-marks"

    kind: ClassVar[str]

    def __post_init__(self) -> None:
        check_tokens(self.tokens)

    @property
    def signature(self) -> str:
        """The options, and the version that the words belong to."""
        return signature(self.kind, tokens=self.tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage(_OfWords):
    """Share of an output's words that lie in fragments copied from the source."""

    kind: ClassVar[str] = "coverage"

    def score_segments(self, samples: Sequence[Sample], /) -> Sequence[float]:
        """Return the shares, 0 to 1; an output without words has 0."""
        found = (_fragments(sample, self.tokens) for sample in samples)
        return [sum(lengths) / words for lengths, words in found]


@dataclass(frozen=True, slots=True, kw_only=True)
class Density(_OfWords):
    """Mean length of the copied fragment that a word of the output lies in."""

    kind: ClassVar[str] = "density"

    def score_segments(self, samples: Sequence[Sample], /) -> Sequence[float]:
        """Return the means in words, 0 or more; an output without words has 0."""
        found = (_fragments(sample, self.tokens) for sample in samples)
        return [sum(length * length for length in lengths) / words for lengths, words in found]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compression(_OfWords):
    """Ratio of the length of the source to that of the output."""

    kind: ClassVar[str] = "compression"

    def score_segments(self, samples: Sequence[Sample], /) -> Sequence[float]:
        """Return the ratios in words, 0 or more; an output without words counts as one word."""
        return [
            len(tokenise(sample.source, self.tokens))
            / max(1, len(tokenise(sample.output, self.tokens)))
            for sample in samples
        ]


def fragment_lengths(output: Sequence[str], source: Sequence[str]) -> list[int]:
    """Return the lengths of the fragments that `output` shares with `source`.

    From each word on that is not in a fragment yet, the longest match is taken, as in [1]_,
    figure 3: a search goes on behind each match that it meets, not within it.

    Examples
    --------
    >>> fragment_lengths(["a", "b", "x", "c"], ["c", "a", "b"])
    [2, 1]
    """
    known = set(source)
    pairs = set(pairwise(output))
    places: dict[tuple[str, str], list[int]] = {}
    for place, pair in enumerate(pairwise(source)):
        if pair in pairs:
            places.setdefault(pair, []).append(place)
    lengths = []
    start = 0
    while start < len(output):
        # A match of one word hides no other, so where there are longer ones only they matter.
        found = places.get((output[start], output[start + 1])) if start + 1 < len(output) else None
        length = (
            _longest(output, source, start=start, places=found)
            if found
            else int(output[start] in known)
        )
        if length:
            lengths.append(length)
        start += max(1, length)
    return lengths


def _longest(
    output: Sequence[str], source: Sequence[str], *, start: int, places: Sequence[int]
) -> int:
    """Return the length of the longest match of ``output[start:]`` at one of `places`."""
    longest = behind = 0
    for place in places:
        if place < behind:
            continue
        length = 2
        room = min(len(output) - start, len(source) - place)
        while length < room and output[start + length] == source[place + length]:
            length += 1
        longest = max(longest, length)
        behind = place + length
    return longest


def _fragments(sample: Sample, tokens: Tokens) -> tuple[Sequence[int], int]:
    """Return the lengths of the fragments, and of the output, which is one word at least."""
    long = len(sample.output) + len(sample.source) > _LONG
    return _found(sample, tokens) if long else _kept(sample, tokens)


def _found(sample: Sample, tokens: Tokens) -> tuple[Sequence[int], int]:
    words = tokenise(sample.output, tokens)
    return fragment_lengths(words, tokenise(sample.source, tokens)), max(1, len(words))


_kept = lru_cache(maxsize=4096)(_found)  # coverage and density are asked for together
