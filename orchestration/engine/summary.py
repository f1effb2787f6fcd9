"""A run's summary: means with their coverage, and how often what went wrong."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from spanjury.judges.core import (
    UNANSWERED,
    USABLE,
    Decision,
    Outcome,
    PanelReport,
    Result,
    StopReason,
    Unasked,
    Usage,
    one_line,
)


@dataclass(slots=True)
class Row:
    """Figures of one aspect of one system, or of all of them.

    `scored` of `total` assessments have a score; the mean is over those. `decisions` counts
    the decisions on them.
    """

    total: int = 0
    scored: int = 0
    points: float = 0.0
    spans: int = 0
    decisions: Counter[Decision] = field(default_factory=Counter)

    @property
    def mean(self) -> float | None:
        """Mean score of the scored assessments; None without any."""
        return self.points / self.scored if self.scored else None

    @property
    def coverage(self) -> float:
        """Share of assessments that have a score, 0 to 1."""
        return self.scored / self.total if self.total else 0.0

    @property
    def spans_per_text(self) -> float | None:
        """Mean number of spans of the scored assessments; None without any."""
        return self.spans / self.scored if self.scored else None

    def share(self, decision: Decision) -> float | None:
        """Return the share of the decisions that are `decision`; None without any."""
        made = self.decisions.total()
        return self.decisions[decision] / made if made else None

    @property
    def decided(self) -> float | None:
        """Share of the assessments that were decided, as ok or faulty; None without decisions."""
        if not self.decisions:
            return None
        return (self.decisions[Decision.OK] + self.decisions[Decision.FAULTY]) / self.total

    def add(self, figures: "Figures") -> None:
        """Count one result in."""
        self.total += 1
        if figures.decision is not None:
            self.decisions[figures.decision] += 1
        if figures.score is not None:
            self.scored += 1
            self.points += figures.score
            self.spans += figures.spans


_NOTHING = Usage()


class Risk(NamedTuple):
    """A decision, and how often it is wrong: its false alarms or, of ``ok``, its misses."""

    decision: Decision
    share: float | None
    measured_on: str
    spread: tuple[float, float] | None = None

    @property
    def words(self) -> str:
        """Return how many texts get the decision wrongly, by kind of text; empty if unknown."""
        if self.share is None:
            return ""
        right = "wrong" if self.decision is Decision.OK else "right"
        called = "unsure or faulty" if self.decision is Decision.UNSURE else self.decision.value
        statement = f"{self.share:.0%} of {right} texts are called {called}"
        if self.spread is None:
            return statement
        low, high = (round(100 * share) for share in self.spread)
        return f"{statement} ({low}-{high}% by kind of text)"


class Figures(NamedTuple):
    """The part of a result that is counted.

    `spans` is their number; `seats` holds name, outcome and usage of each that was asked.
    """

    task: str
    aspect: str
    system: str
    outcome: Outcome
    score: float | None
    reason: str
    spans: int
    decision: Decision | None
    risk: Risk | None
    seats: Sequence[tuple[str, Outcome, Usage]]
    unasked: Unasked | None = None


def figures_of(result: Result) -> Figures:
    """Return the figures of `result`."""
    report = result.report
    return Figures(
        task=result.aspect.task.name,
        aspect=result.aspect.name,
        system=result.segment.system,
        outcome=report.outcome,
        score=report.score,
        reason=report.reason,
        spans=len(report.spans),
        decision=report.decision,
        risk=risk_of(report),
        seats=[(seat.seat, seat.report.outcome, seat.report.usage) for seat in report.seats],
        unasked=report.unasked,
    )


def risk_of(report: PanelReport) -> Risk | None:
    """Return the decision of `report` with how often it is wrong; None without a decision."""
    decision, basis = report.decision, report.basis
    if not decision or not basis:
        return None
    return Risk(decision, basis.share, basis.measured_on, basis.spread)


def open_questions(report: PanelReport) -> Iterator[str]:
    """Yield why `report` leaves a text undecided, as far as its errors and sentences do not say.

    These are the seats that could not judge the text, each with its reason, and, where the report
    names no error and no sentence, what its probability rests on. Nothing if it is not unsure.
    """
    if report.decision is not Decision.UNSURE:
        return
    for seat in report.seats:
        if seat.report.outcome is Outcome.ABSTAINED and not seat.report.is_other_kind:
            yield f"not judged by {one_line(seat.seat)}: {one_line(seat.report.reason)}"
    if report.cannot_tell and not report.spans and not report.unverified and report.rationale:
        yield f"rests on: {one_line(report.rationale)}"


@dataclass(slots=True)
class Summary:
    """Figures of a run, counted up result by result.

    Parameters
    ----------
    rows
        ``(task, aspect, system)`` -> figures; the system is ``""`` where rows name none.
    seats
        Seat -> its outcomes, counted.
    usage
        Seat -> usage of its reports; a report that is remembered counts as it cost then,
        and one that failed by an error as nothing.
    reasons
        Why there is no score -> how often; the text is that of the first seat to fail.
    risks
        Decision, with how often it is wrong -> how often it was made.
    unmeasured
        Decision and aspect -> how often the decision was made there without a measured rate.
    unasked
        Seat -> how often it was not asked; none without a cascade.
    stops
        Why no further seats were asked -> how often.
    unanswered
        Results that lack an answer: of a seat, or of the panel.
    """

    rows: dict[tuple[str, str, str], Row] = field(default_factory=dict)
    whole: Row = field(default_factory=Row)
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    seats: dict[str, Counter[Outcome]] = field(default_factory=dict)
    usage: dict[str, Usage] = field(default_factory=dict)
    reasons: Counter[str] = field(default_factory=Counter)
    risks: Counter[Risk] = field(default_factory=Counter)
    unmeasured: Counter[tuple[Decision, str]] = field(default_factory=Counter)
    unasked: Counter[str] = field(default_factory=Counter)
    stops: Counter[StopReason] = field(default_factory=Counter)
    unanswered: int = 0

    @property
    def useless(self) -> Sequence[str]:
        """The seats of which no report can be used."""
        return [seat for seat, ends in self.seats.items() if not USABLE & ends.keys()]

    def add(self, result: Result) -> None:
        """Count one result in."""
        self.count(figures_of(result))

    def count(self, figures: Figures) -> None:
        """Count the figures of one result in."""
        key = (figures.task, figures.aspect, figures.system)
        row = self.rows.get(key)
        if row is None:
            row = self.rows[key] = Row()
        row.add(figures)
        self.whole.add(figures)
        self.outcomes[figures.outcome] += 1
        if figures.score is None:
            self.reasons[figures.reason] += 1
        if figures.risk is not None:
            self.risks[figures.risk] += 1
            if figures.risk.share is None:
                self.unmeasured[figures.risk.decision, figures.aspect] += 1
        if figures.unasked is not None:
            self.unasked.update(figures.unasked.seats)
            self.stops[figures.unasked.why] += 1
        ends = (figures.outcome, *(outcome for _, outcome, _ in figures.seats))
        self.unanswered += not UNANSWERED.isdisjoint(ends)
        for seat, outcome, usage in figures.seats:
            self.seats.setdefault(seat, Counter())[outcome] += 1
            if usage != _NOTHING:
                self.usage[seat] = self.usage.get(seat, _NOTHING) + usage
            else:
                self.usage.setdefault(seat, _NOTHING)

    def by_aspect(self) -> dict[tuple[str, str], Row]:
        """Return ``(task, aspect)`` -> figures of all systems together."""
        together: dict[tuple[str, str], Row] = {}
        for (task, aspect, _), row in self.rows.items():
            whole = together.setdefault((task, aspect), Row())
            whole.total += row.total
            whole.scored += row.scored
            whole.points += row.points
            whole.spans += row.spans
            whole.decisions += row.decisions
        return together
