"""The rows of a file of comparisons: one a pair and aspect, with the report of each order."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from spanjury.judges.core import (
    Aspect,
    Comparison,
    ErrorSpan,
    Outcome,
    PairReport,
    Preference,
    Usage,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderRow:
    """The report of a judge on a pair in one order.

    `preference`, `probability`, `reply`: as in `PairReport`, for A and B as the row names them.
    """

    first: Literal["A", "B"] | None
    """The text that it was shown first; None for a judge that sees no order."""
    outcome: Outcome
    preference: Preference | None
    probability: float | None = None
    explanation: str = ""
    reason: str = ""
    reply: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonRow:
    """A comparison of two texts on one aspect.

    `system_a`, `system_b`, `id_a`, `id_b`: systems and ids of the texts.
    `outcome`, `preference`, `consistent`, `probability`, `explanation`, `reason`, `spans_a`,
    `spans_b`, `usage`: as in `Comparison`.
    """

    source: str
    """Name of the source that both texts are about."""
    task: str
    aspect: str
    system_a: str
    system_b: str
    id_a: str
    id_b: str
    judge: str
    """Signature of the pair judge."""
    outcome: Outcome
    preference: Preference | None
    consistent: bool | None
    probability: float | None
    orders: tuple[OrderRow, ...]
    """The reports that these follow from."""
    explanation: str = ""
    reason: str = ""
    spans_a: tuple[ErrorSpan, ...] = ()
    spans_b: tuple[ErrorSpan, ...] = ()
    usage: Usage = Usage()

    @classmethod
    def of(cls, comparison: Comparison, aspect: Aspect, *, source: str) -> "ComparisonRow":
        """Return the row of a comparison."""
        pair = comparison.pair
        return cls(
            source=source,
            task=aspect.task.name,
            aspect=aspect.name,
            system_a=pair.a.system,
            system_b=pair.b.system,
            id_a=pair.a.segment_id,
            id_b=pair.b.segment_id,
            judge=comparison.signature,
            outcome=comparison.outcome,
            preference=comparison.preference,
            consistent=comparison.consistent,
            probability=comparison.probability,
            orders=_orders(comparison.orders),
            explanation=comparison.explanation,
            reason=comparison.reason,
            spans_a=comparison.spans_a,
            spans_b=comparison.spans_b,
            usage=comparison.usage,
        )

    @property
    def points_a(self) -> float | None:
        """1 if A is preferred, 0 if B is, a half for a tie; None without a preference."""
        return None if self.preference is None else POINTS[self.preference]


POINTS = {Preference.A: 1.0, Preference.TIE: 0.5, Preference.B: 0.0}
"""Points of A."""


def _orders(reports: Sequence[PairReport]) -> tuple[OrderRow, ...]:
    firsts: tuple[Literal["A", "B"] | None, ...] = ("A", "B") if len(reports) > 1 else (None,)
    return tuple(
        OrderRow(
            first=first,
            outcome=report.outcome,
            preference=report.preference,
            probability=report.probability,
            explanation=report.explanation,
            reason=report.reason,
            reply=report.reply,
        )
        for first, report in zip(firsts, reports, strict=True)
    )
