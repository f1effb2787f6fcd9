"""A contradiction: words of a text that deny a passage of its source.

Most are a difference between two sentences that are aligned word by word: words of the output's
sentence in place of words of the source's.
"""

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Literal, NamedTuple

from spanjury.judges.core.span import Evidence
from spanjury.judges.rules.alignment.aligner import Comparison
from spanjury.judges.rules.alignment.tokens import Token

_WITNESSES = 3  # minimum equal tokens nearby for a sure difference
_CLOSE = 0.75  # aligned share of two sentences from which one equal token fewer suffices
_MOST = 0.8  # minimum equal share of two short sentences, apart from the difference
_NEIGHBOURS = 5  # words that evidence shows on each side of the difference
_WORDS = re.compile(r"\S+")
_QUOTE = 120  # code points of a quote


Category = Literal[
    "negation",
    "antonym",
    "other kind",
    "number",
    "other number",
    "time",
    "unit",
    "date",
    "record",
    "other name",
    "name order",
    "speaker",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """Words of an output that its source contradicts.

    Parameters
    ----------
    start, end
        Half-open offsets in code points of the output.
    text
        The words themselves.
    severity
        4 or 5.
    explanation
        A sentence that quotes the source.
    evidence
        The passage that contradicts the words.
    """

    start: int
    end: int
    text: str
    category: Category
    severity: int
    explanation: str
    evidence: Evidence

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end or self.end - self.start != len(self.text):
            raise ValueError(f"{(self.start, self.end)} does not hold {len(self.text)} characters")


def covered(intervals: Iterable[tuple[int, int]]) -> AbstractSet[int]:
    """Return the offsets within any of the half-open `intervals`."""
    return {at for start, end in intervals for at in range(start, end)}


class Difference(NamedTuple):
    """Offsets of a difference in the two sentences."""

    start: int
    end: int
    source_start: int
    source_end: int
    category: Category
    severity: int


def is_firm(comparison: Comparison, at: int) -> bool:
    """Return whether the words around the link `at` are so similar that it must mean the same.

    Three equal tokens nearby are enough. Two are enough if most tokens of both sentences are
    aligned, or if only a denial distinguishes the output from words of the source. One is enough in
    short sentences, if all aligned tokens but one are equal and hardly any is unaligned.
    """
    witnesses = comparison.witnesses(at)
    if witnesses >= _WITNESSES:
        return True
    covered, equal = comparison.cover(), comparison.equal()
    if witnesses == _WITNESSES - 1 and (
        (covered >= _CLOSE and comparison.source_cover() >= _CLOSE)
        or (covered == 1.0 and equal == len(comparison.links))
    ):
        return True
    return (
        witnesses >= 1
        and covered == 1.0
        and comparison.source_cover() >= _MOST
        and equal >= len(comparison.links) - 1
    )


def is_only_difference(comparison: Comparison, at: int) -> bool:
    """Return whether all tokens of the output but one are the source's, in its order.

    The source may hold more: ``The bridge opened in 1935`` beside ``The bridge over the Alder
    opened in 1932``. Two of the equal tokens must be close by.
    """
    return (
        comparison.witnesses(at) >= _WITNESSES - 1
        and comparison.equal() == len(comparison.output.tokens) - 1
        and comparison.output.question == comparison.source.question
    )


def is_copied_otherwise(comparison: Comparison) -> bool:
    """Return whether the two sentences have the same tokens but for one."""
    tokens = comparison.output.tokens
    return comparison.equal() == len(tokens) - 1 and len(comparison.source.tokens) == len(tokens)


def loose(comparison: Comparison, at: int) -> tuple[int, int]:
    """Count the unaligned tokens before the link `at`, on both sides."""
    left, right = comparison.region(at)
    return len(left) - 1, len(right) - 1


def difference(
    own: Sequence[Token], theirs: Sequence[Token], *, category: Category, severity: int
) -> Difference:
    """Return the words from the first to the last token on both sides as a difference."""
    return Difference(
        own[0].start, own[-1].end, theirs[0].start, theirs[-1].end, category, severity
    )


def contradiction(
    output: str,
    interval: tuple[int, int],
    *,
    category: Category,
    severity: int,
    name: str,
    source: str,
    passage: tuple[int, int],
    explanation: str = "",
) -> Contradiction:
    """Return the words in an interval of `output`, which a passage of `source` contradicts.

    `name` is that of the input.
    """
    (start, end), (first, last) = interval, passage
    text = source[first:last]
    return Contradiction(
        start=start,
        end=end,
        text=output[start:end],
        category=category,
        severity=severity,
        explanation=explanation or f"The source says '{quoted(text)}'.",
        evidence=Evidence(input=name, start=first, end=last, text=text),
    )


def denial(
    sentence: str, start: int, difference: Difference, *, passage: str, at: int, name: str
) -> Contradiction:
    """Return a difference between two sentences with the words that show it.

    `sentence` begins at `start` of the output, and `passage` at `at` of the input called `name`.
    """
    quote = quoted(passage[difference.source_start : difference.source_end])
    first, last = _with_neighbours(passage, difference.source_start, difference.source_end)
    return Contradiction(
        start=start + difference.start,
        end=start + difference.end,
        text=sentence[difference.start : difference.end],
        category=difference.category,
        severity=difference.severity,
        explanation=f"The source says '{quote}'.",
        evidence=Evidence(input=name, start=at + first, end=at + last, text=passage[first:last]),
    )


def quoted(words: str) -> str:
    """Return words on one line, cut if there are too many."""
    quote = " ".join(words.split())
    return quote if len(quote) <= _QUOTE else f"{quote[:_QUOTE].rsplit(' ', 1)[0]} ..."


def _with_neighbours(passage: str, start: int, end: int) -> tuple[int, int]:
    """Widen a place by a few words on both sides, so that it can be understood alone."""
    before = [word.start() for word in _WORDS.finditer(passage, 0, start)]
    after = [word.end() for word in _WORDS.finditer(passage, end)]
    return (before[-_NEIGHBOURS:] or [start])[0], (after[:_NEIGHBOURS] or [end])[-1]
