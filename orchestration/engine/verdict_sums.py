"""Sums of a verdict's reports, but for score and spans: usage, outcome and words."""

from collections.abc import Collection, Sequence

from spanjury.judges.core import Outcome, SeatReport, Usage, Verdict

_GRAVEST_FIRST = (
    Outcome.BACKEND_FAILED,
    Outcome.TIMED_OUT,
    Outcome.REFUSED,
    Outcome.TRUNCATED,
    Outcome.UNPARSEABLE,
    Outcome.ABSTAINED,
)
"""An unscored panel has the gravest of its seats' outcomes."""


def usage_of(verdict: Verdict) -> Usage:
    """Return the usage of all seats together."""
    return sum((seat.report.usage for seat in verdict.seats), Usage())


def gravest_of(verdict: Verdict) -> Outcome:
    """Return the outcome of a verdict without a score."""
    return gravest_outcome({seat.report.outcome for seat in verdict.seats})


def gravest_outcome(outcomes: Collection[Outcome]) -> Outcome:
    """Return the gravest outcome but `Outcome.SCORED`; `Outcome.ABSTAINED` if there is none."""
    return next((outcome for outcome in _GRAVEST_FIRST if outcome in outcomes), Outcome.ABSTAINED)


def reasons_of(verdict: Verdict) -> str:
    """Return why a verdict has no score."""
    if verdict.unasked and not verdict.seats:
        return f"no seat was asked: {verdict.unasked.reason}"
    reasons = [f"{seat.seat}: {seat.report.reason}" for seat in verdict.seats if seat.report.reason]
    if verdict.unasked:
        reasons.append(f"not asked: {', '.join(verdict.unasked.seats)}. {verdict.unasked.reason}")
    return "; ".join(reasons) or "no seat gave a score"


def rationales_of(seats: Sequence[SeatReport]) -> str:
    """Return the rationales of `seats`, under their names where there are several."""
    saying = [seat for seat in seats if seat.report.rationale]
    if len(saying) == 1:
        return saying[0].report.rationale
    return "\n".join(f"{seat.seat}: {seat.report.rationale}" for seat in saying)
