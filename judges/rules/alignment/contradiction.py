"""A contradiction: words of a text that contradict a passage of its source."""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Literal

from spanjury.judges.core.span import Evidence

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
    "name",
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
