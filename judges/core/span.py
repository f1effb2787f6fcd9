"""An error span: where a text fails, why, and how badly."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A passage of one input.

    Raises `ValueError` if the offsets do not fit the text.

    Parameters
    ----------
    input
        Header of the input in the segment.
    start, end
        Half-open offsets in code points of that input.
    text
        The passage itself, ``inputs[input][start:end]``.
    """

    input: str
    start: int
    end: int
    text: str

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end or self.end - self.start != len(self.text):
            raise ValueError(f"{(self.start, self.end)} does not hold {len(self.text)} characters")


MIN_SEVERITY = 1
MAX_SEVERITY = 5

Item = TypeVar("Item")


class Located(StrEnum):
    """Method by which the quote of an error was located in the text."""

    EXACT = "exact"
    """Character for character."""
    NORMALISED = "normalised"
    """Up to case, white space, quotation marks, dashes and Unicode normalization."""
    FUZZY = "fuzzy"
    """Approximately: most of its characters, in order."""
    UNLOCATED = "unlocated"
    """Not located: an omission, or a quote that does not occur in the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorSpan:
    """One error that a judge reports.

    Raises `ValueError` if `located` is not a `Located`, if the offsets, the text and `located`
    contradict each other, or if the severity or the probability is out of range.

    Parameters
    ----------
    text
        The marked part of the output, ``output[start:end]``; for an unlocated error the
        judge's own quote, or empty for an omission, which has no position.
    start, end
        Half-open offsets in code points of the output; both None iff unlocated.
    explanation
        Why it is an error.
    severity
        1 (hardly matters) to 5 (ruins the text); None if the judge gave none.
    category
        Kind of error, in the judge's words; empty if it gave none.
    located
        How the span was located.
    found_by
        Names of the seats that found it; filled in by the panel.
    evidence
        Passages of the source that support or contradict it.
    probability
        Probability that it is an error, 0 to 1; None if the judge estimates none.
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
        if not isinstance(self.located, Located):
            raise ValueError(f"located must be a Located, got {self.located!r}")  # noqa: TRY004  as every invariant here
        if self.severity is not None and not MIN_SEVERITY <= self.severity <= MAX_SEVERITY:
            raise ValueError(f"severity must be 1 to 5 or None, got {self.severity!r}")
        if self.probability is not None and not 0.0 <= self.probability <= 1.0:
            raise ValueError(f"probability must be 0 to 1 or None, got {self.probability!r}")
        start, end = self.start, self.end
        if (start is None) != (end is None):
            raise ValueError(f"half an interval: start={start!r}, end={end!r}")
        if (start is None) != (self.located is Located.UNLOCATED):
            raise ValueError(f"{self.located.value} but start={start!r}")
        if start is None or end is None:
            return
        if not (0 <= start < end and end - start == len(self.text)):
            raise ValueError(f"{self.interval} does not hold {len(self.text)} characters")

    @property
    def interval(self) -> tuple[int, int] | None:
        """``(start, end)``, or None if unlocated."""
        if self.start is None or self.end is None:
            return None
        return self.start, self.end

    def credited_to(self, by: tuple[str, ...]) -> "ErrorSpan":
        """Return the same error with the seats `by` in `found_by`."""
        return replace(self, found_by=by)

    def moved(self, by: int) -> "ErrorSpan":
        """Return the same error, with its offsets moved by `by` code points."""
        if self.start is None or self.end is None:
            return self
        return replace(self, start=self.start + by, end=self.end + by)

    @property
    def hallucinated(self) -> bool:
        """True if the judge quotes words that the text does not contain."""
        return self.start is None and bool(self.text)


def gravest(spans: Sequence[ErrorSpan], *, limit: int) -> tuple[ErrorSpan, ...]:
    """Return at most `limit` of `spans`: the gravest, and among equally grave ones the likeliest.

    They are sorted by position; omissions come last. Spans that repeat another's quote and
    explanation are kept only if room remains, so that a text cannot hide its errors behind one
    that it repeats.
    """
    in_order = sorted(spans, key=lambda span: (span.start is None, span.start or 0, span.end or 0))
    ranked = sorted(
        range(len(in_order)),
        key=lambda n: (-(in_order[n].severity or 0), -(in_order[n].probability or 0.0)),
    )
    kept = repetitions_last(ranked, lambda n: (in_order[n].text, in_order[n].explanation))[:limit]
    return tuple(in_order[n] for n in sorted(kept))


def repetitions_last(items: Iterable[Item], content: Callable[[Item], Hashable]) -> list[Item]:
    """Move items with repeated content after the others; each part keeps its order."""
    met: set[Hashable] = set()

    def repeats(item: Item) -> bool:
        key = content(item)
        repeated = key in met
        met.add(key)
        return repeated

    return sorted(items, key=repeats)
