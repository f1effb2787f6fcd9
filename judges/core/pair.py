"""Pairs: two texts about the same inputs, and a judge's preference between them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from spanjury.judges.core.chat import Usage
from spanjury.judges.core.errors import Outcome
from spanjury.judges.core.segment import Segment
from spanjury.judges.core.span import ErrorSpan


class Preference(StrEnum):
    """The better text of a pair, or a tie."""

    A = "A"
    B = "B"
    TIE = "tie"

    @property
    def swapped(self) -> "Preference":
        """The preference after the two texts exchange their names."""
        return _SWAPPED[self]


_SWAPPED = {Preference.A: Preference.B, Preference.B: Preference.A, Preference.TIE: Preference.TIE}


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPair:
    """Two texts about the same inputs.

    Raises `ValueError` if their inputs or their tasks differ.

    Parameters
    ----------
    a, b
        The texts; a judge is shown `a` first.
    """

    a: Segment
    b: Segment

    def __post_init__(self) -> None:
        if dict(self.a.inputs) != dict(self.b.inputs) or self.a.task != self.b.task:
            names = f"{self.a.segment_id!r} and {self.b.segment_id!r}"
            raise ValueError(f"a pair needs the same inputs and task, but {names} differ in them")

    @property
    def swapped(self) -> "TextPair":
        """The pair with its texts in the other order."""
        return TextPair(a=self.b, b=self.a)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairReport:
    """Report of a judge that was shown a pair once, in one order.

    Raises `ValueError` if the outcome is not an `Outcome` or the preference not a `Preference`, if
    a preference comes without the outcome `Outcome.SCORED` or the reverse, if both preference and
    reason are missing, or if the probability is out of range.

    Parameters
    ----------
    outcome
        How the comparison ended.
    preference
        The better text; not None iff the outcome is `Outcome.SCORED`.
    probability
        Probability that A is preferred plus half the probability of a tie, 0 to 1; None if the
        judge states none.
    explanation
        Reason for the preference.
    spans_a, spans_b
        The words of each text that speak against it and made the difference.
    reason
        Why there is no preference; required without one.
    reply
        The model's reply, word for word; empty for judges without a model.
    usage
        Tokens spent.
    """

    outcome: Outcome = Outcome.SCORED
    preference: Preference | None = None
    probability: float | None = None
    explanation: str = ""
    spans_a: tuple[ErrorSpan, ...] = ()
    spans_b: tuple[ErrorSpan, ...] = ()
    reason: str = ""
    reply: str = ""
    usage: Usage = Usage()

    def __post_init__(self) -> None:
        if not isinstance(self.outcome, Outcome):
            raise ValueError(f"outcome must be an Outcome, got {self.outcome!r}")  # noqa: TRY004  as every invariant here
        if self.preference is not None and not isinstance(self.preference, Preference):
            raise ValueError(f"preference must be a Preference, got {self.preference!r}")
        if (self.outcome is Outcome.SCORED) != (self.preference is not None):
            raise ValueError(f"outcome {self.outcome.value!r} with {self.preference!r}")
        if self.preference is None and not self.reason:
            raise ValueError(f"outcome {self.outcome.value!r} without a reason")
        if self.probability is not None and not 0.0 <= self.probability <= 1.0:
            raise ValueError(f"probability must be 0 to 1, got {self.probability!r}")

    @property
    def swapped(self) -> "PairReport":
        """The report after the two texts exchange their names."""
        return replace(
            self,
            preference=self.preference and self.preference.swapped,
            probability=None if self.probability is None else 1.0 - self.probability,
            spans_a=self.spans_b,
            spans_b=self.spans_a,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A judge's reports on a pair in each order, and the resulting preference.

    Parameters
    ----------
    pair
        The texts.
    signature
        Everything about the judge that can change its preference.
    orders
        The report with A shown first, then the report with B shown first; both name the texts as
        the pair does. Only one report if the judge's preference cannot depend on the order.
    """

    pair: TextPair
    signature: str
    orders: tuple[PairReport, ...]

    @property
    def outcome(self) -> Outcome:
        """`Outcome.SCORED` if each order has a preference, else that of the first failure."""
        failed = (report.outcome for report in self.orders if report.preference is None)
        return next(failed, Outcome.SCORED)

    @property
    def reason(self) -> str:
        """Why there is no preference; empty if there is one."""
        return next((report.reason for report in self.orders if report.preference is None), "")

    @property
    def preference(self) -> Preference | None:
        """The preference of both orders, or a tie if they differ; None if either order has none."""
        if self.outcome is not Outcome.SCORED:
            return None
        first, *others = (report.preference for report in self.orders)
        return first if all(other is first for other in others) else Preference.TIE

    @property
    def consistent(self) -> bool | None:
        """True if the preference is the same in both orders; None for one order, or a failure."""
        if self.outcome is not Outcome.SCORED or len(self.orders) == 1:
            return None
        return len({report.preference for report in self.orders}) == 1

    @property
    def probability(self) -> float | None:
        """Mean probability over the orders that A is preferred; None if an order states none."""
        stated = [report.probability for report in self.orders if report.probability is not None]
        if self.outcome is not Outcome.SCORED or len(stated) < len(self.orders):
            return None
        return sum(stated) / len(stated)

    @property
    def explanation(self) -> str:
        """The distinct explanations of the orders, one per line."""
        return "\n".join(dict.fromkeys(filter(None, (r.explanation for r in self.orders))))

    @property
    def spans_a(self) -> tuple[ErrorSpan, ...]:
        """The words of A that made the difference in any order, without duplicates."""
        return _distinct([span for report in self.orders for span in report.spans_a])

    @property
    def spans_b(self) -> tuple[ErrorSpan, ...]:
        """The words of B that made the difference in any order, without duplicates."""
        return _distinct([span for report in self.orders for span in report.spans_b])

    @property
    def usage(self) -> Usage:
        """Tokens spent on all orders."""
        return sum((report.usage for report in self.orders), start=Usage())


def _distinct(spans: Sequence[ErrorSpan]) -> tuple[ErrorSpan, ...]:
    """Return the spans without those that mark the same words as an earlier one."""
    by_words = {(span.interval, span.text): span for span in reversed(spans)}
    return tuple(span for span in spans if by_words[span.interval, span.text] is span)
