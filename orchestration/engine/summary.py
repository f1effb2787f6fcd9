"""A run's summary: means with their coverage, and counts of failures."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
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

    `scored` of `total` assessments have a score; the mean is over these. `decisions` counts their
    decisions.
    """

    total: int = 0
    scored: int = 0
    points: float = 0.0
    spans: int = 0
    decisions: Counter[Decision] = field(default_factory=Counter)

    @property
    def mean(self) -> float | None:
        """Mean score of the scored assessments; None if there are none."""
        return self.points / self.scored if self.scored else None

    @property
    def coverage(self) -> float:
        """Share of assessments that have a score, 0 to 1."""
        return self.scored / self.total if self.total else 0.0

    @property
    def spans_per_text(self) -> float | None:
        """Mean number of spans of the scored assessments; None if there are none."""
        return self.spans / self.scored if self.scored else None

    def share(self, decision: Decision) -> float | None:
        """Return the share of `decision` among all assessments; None without decisions."""
        return self.decisions[decision] / self.total if self.decisions else None

    @property
    def decided(self) -> float | None:
        """Share of assessments decided as ok or faulty; None without decisions."""
        if not self.decisions:
            return None
        return (self.decisions[Decision.OK] + self.decisions[Decision.FAULTY]) / self.total

    def add(self, figures: "Figures") -> None:
        """Add one result."""
        self.total += 1
        if figures.decision is not None:
            self.decisions[figures.decision] += 1
        if figures.score is not None:
            self.scored += 1
            self.points += figures.score
            self.spans += figures.spans


_NOTHING = Usage()


class Risk(NamedTuple):
    """A decision and how often it is wrong: its false alarms or, for ``ok``, its misses."""

    decision: Decision
    share: float | None
    measured_on: str
    spread: tuple[float, float] | None = None

    @property
    def words(self) -> str:
        """The share of texts with this wrong decision, by kind of text; empty if unknown."""
        if self.share is None:
            return ""
        truth = "wrong" if self.decision is Decision.OK else "correct"
        called = "unsure or faulty" if self.decision is Decision.UNSURE else self.decision.value
        statement = f"{self.share:.0%} of {truth} texts are called {called}"
        if self.spread is None:
            return statement
        low, high = (round(100 * share) for share in self.spread)
        return f"{statement} ({low}-{high}%, depending on the kind of text)"


class Figures(NamedTuple):
    """The counted part of a result.

    `spans` is their number; `seats` holds name, outcome and usage of each seat that was asked.
    `consolidator` is that of the report.
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
    consolidator: str = ""


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
        consolidator=report.consolidator,
    )


def risk_of(report: PanelReport) -> Risk | None:
    """Return the decision of `report` and how often it is wrong; None without a decision."""
    decision, basis = report.decision, report.basis
    if not decision or not basis:
        return None
    return Risk(decision, basis.share, basis.measured_on, basis.spread)


def open_questions(report: PanelReport) -> Iterator[str]:
    """Yield the reasons for an unsure `report` other than its errors and sentences.

    These are the seats that could not judge the text, each with its reason. If the report names no
    error and no sentence, the basis of its probability is added. Nothing is yielded for a report
    that is not unsure.
    """
    if report.decision is not Decision.UNSURE:
        return
    for seat in report.seats:
        if seat.report.outcome is Outcome.ABSTAINED and not seat.report.is_other_kind:
            yield f"not judged by {one_line(seat.seat)}: {one_line(seat.report.reason)}"
    if report.cannot_tell and not report.spans and not report.unverified and report.rationale:
        yield f"rests on: {one_line(report.rationale)}"


def is_open(risks: Iterable[Risk | None]) -> bool:
    """Return whether a text with these decisions is unsure, and other judges might decide it.

    It is then unsure by thresholds that were measured. Without measured thresholds, and by errors
    such as an empty text, it would stay unsure beside other judges.
    """
    known_risks = [risk for risk in risks if risk is not None]
    return not any(risk.decision is Decision.FAULTY for risk in known_risks) and any(
        risk.decision is Decision.UNSURE and risk.share is not None for risk in known_risks
    )


@dataclass(slots=True)
class Summary:
    """Figures of a run, accumulated result by result.

    Parameters
    ----------
    rows
        ``(task, aspect, system)`` -> figures; the system is ``""`` if rows name none.
    seats
        Seat -> counts of its outcomes.
    usage
        Seat -> usage of its reports; a remembered report counts its original cost, and one that
        failed by an error counts nothing.
    uncounted
        Seat -> number of its reports whose replies came without counts of tokens.
    reasons
        Reason for a missing score -> count; the text is that of the first seat to fail.
    risks
        Decision, with how often it is wrong -> count.
    unmeasured
        Decision and aspect -> count of decisions without a measured error rate.
    unasked
        Seat -> number of results for which it was not asked; empty without a cascade.
    stops
        Reason why no further seats were asked -> count.
    replaced
        Consolidator that stood in for the requested one, with the reason -> number of results.
    unanswered
        Number of results that lack an answer of a seat or of the panel.
    """

    rows: dict[tuple[str, str, str], Row] = field(default_factory=dict)
    whole: Row = field(default_factory=Row)
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    seats: dict[str, Counter[Outcome]] = field(default_factory=dict)
    usage: dict[str, Usage] = field(default_factory=dict)
    uncounted: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    risks: Counter[Risk] = field(default_factory=Counter)
    unmeasured: Counter[tuple[Decision, str]] = field(default_factory=Counter)
    unasked: Counter[str] = field(default_factory=Counter)
    stops: Counter[StopReason] = field(default_factory=Counter)
    replaced: Counter[str] = field(default_factory=Counter)
    unanswered: int = 0

    @property
    def useless(self) -> Sequence[str]:
        """The seats without any usable report."""
        return [seat for seat, ends in self.seats.items() if not USABLE & ends.keys()]

    def add(self, result: Result) -> None:
        """Add one result."""
        self.count(figures_of(result))

    def count(self, figures: Figures) -> None:
        """Add the figures of one result."""
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
        if figures.consolidator.endswith(")"):
            self.replaced[figures.consolidator] += 1
        ends = (figures.outcome, *(outcome for _, outcome, _ in figures.seats))
        self.unanswered += not UNANSWERED.isdisjoint(ends)
        for seat, outcome, usage in figures.seats:
            self.seats.setdefault(seat, Counter())[outcome] += 1
            if usage.calls and not usage.prompt + usage.completion:
                self.uncounted[seat] += 1
            if usage != _NOTHING:
                self.usage[seat] = self.usage.get(seat, _NOTHING) + usage
            else:
                self.usage.setdefault(seat, _NOTHING)

    def by_aspect(self) -> dict[tuple[str, str], Row]:
        """Return ``(task, aspect)`` -> figures over all systems."""
        together: dict[tuple[str, str], Row] = {}
        for (task, aspect, _), row in self.rows.items():
            whole = together.setdefault((task, aspect), Row())
            whole.total += row.total
            whole.scored += row.scored
            whole.points += row.points
            whole.spans += row.spans
            whole.decisions += row.decisions
        return together
