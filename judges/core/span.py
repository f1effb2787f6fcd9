"""An error span: where a text fails, why, and how badly."""

from dataclasses import dataclass
from enum import StrEnum

from spanjury.judges.core.evidence import Evidence

MIN_SEVERITY = 1
MAX_SEVERITY = 5


class Located(StrEnum):
    """Way in which the quote of an error was found in the text."""

    EXACT = "exact"
    """Character for character."""
    NORMALISED = "normalised"
    """Up to case, white space, quotation marks, dashes and Unicode composition."""
    FUZZY = "fuzzy"
    """Nearly: most of its characters, in order."""
    UNLOCATED = "unlocated"
    """Not at all: an omission, or a quote that is not in the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorSpan:
    """One error that a judge reports.

    Parameters
    ----------
    text
        The marked part of the output, ``output[start:end]``; for an unlocated error the
        judge's own quote, or empty for an omission, which has no place.
    start, end
        Half-open offsets in code points of the output; both None iff unlocated.
    explanation
        Why it is an error.
    severity
        1 (hardly matters) to 5 (ruins the text); None where the judge gave none.
    category
        What sort of error it is, in the judge's words; empty where it gave none.
    located
        How the place was found.
    found_by
        Names of the seats that found it; filled in by the panel.
    evidence
        Places in the source that support or contradict it.
    probability
        Probability that it is an error, 0 to 1; None where the judge estimates none.

    Raises
    ------
    ValueError
        If the offsets, the text and `located` contradict each other, or the severity or the
        probability is out of range.
    """

    text: str
    explanation: str
    severity: int | None
    start: int | None = None
    end: int | None = None
    category: str = ""
    located: Located = Located.UNLOCATED
    found_by: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    probability: float | None = None

    def __post_init__(self) -> None:
        if self.severity is not None and not MIN_SEVERITY <= self.severity <= MAX_SEVERITY:
            raise ValueError(f"severity must be 1 to 5 or None, got {self.severity!r}")
        if self.probability is not None and not 0.0 <= self.probability <= 1.0:
            raise ValueError(f"probability must be 0 to 1 or None, got {self.probability!r}")
        if (self.start is None) != (self.end is None):
            raise ValueError(f"half an interval: start={self.start!r}, end={self.end!r}")
        if (self.start is None) != (self.located is Located.UNLOCATED):
            raise ValueError(f"{self.located.value} but start={self.start!r}")
        if self.interval is not None and not self._fits():
            raise ValueError(f"{self.interval} does not hold {len(self.text)} characters")

    def _fits(self) -> bool:
        assert self.start is not None
        assert self.end is not None
        return 0 <= self.start < self.end and self.end - self.start == len(self.text)

    @property
    def interval(self) -> tuple[int, int] | None:
        """``(start, end)``, or None if unlocated."""
        if self.start is None or self.end is None:
            return None
        return self.start, self.end

    @property
    def hallucinated(self) -> bool:
        """Whether the judge quotes something that the text does not contain."""
        return self.start is None and bool(self.text)
