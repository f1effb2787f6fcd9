"""A panel: judges that assess together, and one report made from their reports.

A panel is a judge. It returns a report for every segment: any exception of a seat costs only that
seat's report, and the outcome says so.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from anyio import create_task_group

from spanjury.judges.core import (
    RUN_ENDING,
    Aggregation,
    Aspect,
    ConfigError,
    Consolidation,
    Consolidator,
    ErrorSpan,
    EventLog,
    JudgeError,
    Outcome,
    PanelReport,
    RunFailedError,
    RunStoppedError,
    Scale,
    SeatReport,
    Segment,
    Usage,
    Verdict,
    bind_values,
    failing_as,
    fingerprint,
    reason_of,
    release_values,
    score_of_probability,
    signature,
    stamped,
    still_unverified,
)
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.engine.aggregation import far_from_all
from spanjury.orchestration.engine.calibration import AspectCalibration, Calibration
from spanjury.orchestration.engine.decision import (
    Stated,
    decide,
    decision_signature,
    probability_signature,
    stated_by,
)
from spanjury.orchestration.engine.families import FamilyWatch
from spanjury.orchestration.engine.seats import (
    Seat,
    check_fields,
    check_spans,
    gravest_of,
    rationales_of,
    reasons_of,
    seat_report,
    usage_of,
)
from spanjury.orchestration.engine.thresholds import Thresholds

with lazily():
    from spanjury.orchestration.engine import span_score as span_scores
    from spanjury.orchestration.engine import staging

log = EventLog()

_NO_LOCATION = (
    "the score cannot be computed from spans: every error that a judge reported lacks a location in"
    " the text"
)
BY_PROBABILITY = "probability"
"""Name of the aggregation when the score follows from the panel's probability."""

Observer = Callable[[Segment, Aspect], AbstractContextManager[Callable[[PanelReport], None]]]
"""Opens a context around each assessment of a panel; its value is called with the report."""


def unobserved(
    segment: Segment, aspect: Aspect
) -> AbstractContextManager[Callable[[PanelReport], None]]:
    """Observe nothing."""
    del segment, aspect
    return nullcontext(lambda _: None)


@dataclass(frozen=True, kw_only=True)
class Panel:
    """Several judges that assess at once, and the parts that make one report from theirs.

    Raises `ConfigError` if there is no seat, two have one name, or the stages name other seats.

    Parameters
    ----------
    seats
        One or more, under distinct names.
    aggregation, aggregation_name
        Makes one score from the scores of the seats. If all scored seats state a probability of an
        error, and thresholds were measured for these judges, the plain mean is not used: the score
        then follows from the panel's probability (`score_of_probability`).
    consolidator
        Makes one list from the spans of the scored seats. It does not receive the spans of a seat
        whose score is an outlier (`far_from_all`); the score still includes that seat.
    span_score
        Makes the score from the consolidated spans, instead of the aggregation; None to aggregate.
    thresholds
        Thresholds of the probability of an error, for the judges that they were measured with, and
        its recalibration.
    calibration
        Fitted for this panel to people's marks: it maps scores and has its own thresholds, per
        aspect. None for no mapping.
    observer
        Observes each assessment; it changes nothing.
    stages
        Asks seats in stages, and the later ones only if they are needed; None to ask all at once.
    families
        Warns of systems that belong to a seat's own family; it changes nothing. None for no
        warnings.
    agent_seats
        Seats that take part only if a trajectory is assessed; they are not in the signature of
        reports on texts.
    """

    seats: tuple[Seat, ...]
    aggregation: Aggregation
    aggregation_name: str
    consolidator: Consolidator
    span_score: "span_scores.SpanScore | None" = None
    thresholds: tuple[Thresholds, ...] = ()
    calibration: Calibration | None = None
    observer: Observer = unobserved
    stages: "staging.Staging | None" = None
    families: FamilyWatch | None = field(default=None, repr=False, compare=False)
    agent_seats: tuple[Seat, ...] = ()

    def __post_init__(self) -> None:
        names = [seat.name for seat in self.seats]
        if not names:
            raise ConfigError("a panel needs at least one judge")
        if len(names) != len(set(names)):
            raise ConfigError(f"the seats of a panel need distinct names, got {', '.join(names)}")
        if self.stages is not None:
            self.stages.cascade.require_seats(names)

    @cached_property
    def signature(self) -> str:
        """Names the judges and everything that makes one report from theirs."""
        probability = probability_signature(
            (seat.signature for seat in self.seats), self.thresholds
        )
        return signature(
            "panel",
            seats=self._judges,
            aggregation=self.span_score.signature if self.span_score else self.aggregation_name,
            consolidator=fingerprint(self.consolidator.signature),
            **({"probability": probability} if probability else {}),
            decision=fingerprint(decision_signature(self.thresholds)),
            **({"calibration": self.calibration.digest} if self.calibration else {}),
            **({"cascade": fingerprint(self.stages.signature)} if self.stages else {}),
        )

    @property
    def is_observed(self) -> bool:
        """True if an observer was given."""
        return self.observer is not unobserved

    def begin_budget(self, first: Segment) -> None:
        """Raise `ConfigError` if the budget is too small for all seats to judge the first row."""
        if self.stages is not None and self.stages.allowance is not None:
            self.stages.allowance.require_row(first)

    def note_remembered(self, system: str, usages: Iterable[tuple[str, Usage]]) -> None:
        """Record a row that is remembered whole: its text's system and its seats' usage."""
        self._note(system)
        if self.stages is not None and self.stages.allowance is not None:
            for seat, usage in usages:
                self.stages.allowance.count(seat, usage)

    async def assess(self, segment: Segment, aspect: Aspect) -> PanelReport:
        """Have the seats assess, and return one report with theirs inside."""
        if segment.trajectory is not None and self.agent_seats:
            return await self.for_agents.assess(segment, aspect)
        # Every log line written during the assessment names its segment and aspect.
        bound = bind_values(segment_id=segment.segment_id, aspect=aspect.name)
        try:
            with self.observer(segment, aspect) as observe:
                report = await self._assess(segment, aspect)
                observe(report)
                return report
        finally:
            release_values(bound)

    async def _assess(self, segment: Segment, aspect: Aspect) -> PanelReport:
        """Judge and conclude; an error in plugin code after the seats costs this report only."""
        verdict = await self.judge(segment, aspect)
        scored = tuple(seat for seat in verdict.seats if seat.report.score is not None)
        if not scored:
            return self._unscored(verdict, outcome=gravest_of(verdict), reason=reasons_of(verdict))
        try:
            with failing_as(_no_conclusion, passing=RUN_ENDING):
                return await self._conclude(verdict, scored)
        except JudgeError as error:
            return self._unscored(verdict, outcome=error.outcome, reason=str(error))

    @cached_property
    def for_agents(self) -> "Panel":
        """The panel for trajectories: this panel with its `agent_seats`."""
        return replace(self, seats=(*self.seats, *self.agent_seats), agent_seats=())

    @property
    def _judges(self) -> str:
        return fingerprint(*sorted(f"{seat.name}={seat.signature}" for seat in self.seats))

    async def judge(self, segment: Segment, aspect: Aspect) -> Verdict:
        """Return the report of every seat that is asked, in the order of the panel.

        All seats of a stage are asked at once; without stages, all seats are.
        """
        if segment.trajectory is not None and self.agent_seats:
            return await self.for_agents.judge(segment, aspect)
        self._note(segment.system)
        if self.stages is None:
            given = await self._reports_of(self.seats, segment, aspect)
            return Verdict(segment=segment, aspect=aspect, seats=given)

        async def ask(names: Sequence[str]) -> Sequence[SeatReport]:
            seats = tuple(seat for seat in self.seats if seat.name in names)
            return await self._reports_of(seats, segment, aspect)

        staged = await self.stages.collect(ask, segment, aspect, judges=self._judges)
        reports = {report.seat: report for report in staged.seats}
        return Verdict(
            segment=segment,
            aspect=aspect,
            seats=tuple(reports[seat.name] for seat in self.seats if seat.name in reports),
            unasked=staged.unasked,
        )

    def _note(self, system: str) -> None:
        if self.families is not None:
            self.families.see(system)

    async def _reports_of(
        self, seats: Sequence[Seat], segment: Segment, aspect: Aspect
    ) -> tuple[SeatReport, ...]:
        """Return the reports of `seats`, which assess concurrently."""
        reports: dict[str, SeatReport] = {}
        failures: list[RunFailedError | RunStoppedError] = []

        async def ask(seat: Seat) -> None:
            try:
                reports[seat.name] = await seat_report(seat, segment, aspect)
            except (RunFailedError, RunStoppedError) as error:
                failures.append(error)  # other seats may still get replies that are paid for

        if len(seats) == 1:  # a task group would cost as much as all the rest
            await ask(seats[0])
        else:
            async with create_task_group() as group:
                for seat in seats:
                    group.start_soon(ask, seat)
        if failures:
            raise failures[0]
        return tuple(reports[seat.name] for seat in seats)

    @property
    def _score_name(self) -> str:
        return "from-spans" if self.span_score else self.aggregation_name

    def _score_probability(self, stated: Stated) -> float | None:
        """Return the probability that determines the score; None if it is aggregated otherwise."""
        # A cascade is fitted to the mean, and compares texts on which not all seats were asked.
        by_mean = self.aggregation_name == "mean" and not self.span_score and self.stages is None
        follows = by_mean and stated.is_measured and stated.is_everyones
        return stated.probability if follows else None

    def _calibration(self, aspect: Aspect) -> AspectCalibration | None:
        return self.calibration.on(aspect.task.name, aspect.name) if self.calibration else None

    def _span_score(self, calibrated: AspectCalibration | None) -> "span_scores.SpanScore | None":
        weights = calibrated.severity_weights if calibrated else None
        return self.span_score.weighed(weights) if self.span_score and weights else self.span_score

    def _unscored(self, verdict: Verdict, *, outcome: Outcome, reason: str) -> PanelReport:
        return PanelReport(
            outcome=outcome,
            reason=reason,
            usage=usage_of(verdict),
            signature=stamped(self.signature),
            seats=verdict.seats,
            unasked=verdict.unasked,
            aggregation=self._score_name,
        )

    async def _conclude(self, verdict: Verdict, scored: tuple[SeatReport, ...]) -> PanelReport:
        """Make one score and one list of spans from the reports of the `scored` seats."""
        scores = tuple(seat.report.score for seat in scored if seat.report.score is not None)
        far = far_from_all(scores)
        near = tuple(seat for seat, is_far in zip(scored, far, strict=True) if not is_far)
        agreed = verdict if near == verdict.seats else replace(verdict, seats=near)
        merged = await self.consolidator.consolidate(agreed)
        _check_merged(merged, verdict.segment)
        calibrated = self._calibration(verdict.aspect)
        stated = stated_by(scored, self.thresholds)
        bare = self._bare_score(
            agreed, merged.spans, scores=scores, stated=stated, calibrated=calibrated
        )
        if bare is None:
            return self._unscored(verdict, outcome=Outcome.ABSTAINED, reason=_NO_LOCATION)
        score, thresholds = bare.value, self.thresholds
        if calibrated is not None:
            score, thresholds = calibrated.score(score), calibrated.before(thresholds)
        decided = decide(
            scored,
            merged.spans,
            score=score,
            scale=verdict.aspect.scale,
            thresholds=thresholds,
            stated=stated,
            bare_score=bare.value,
            expected=bare.expected,
            output=verdict.segment.output,
        )
        return PanelReport(
            score=score,
            spans=_at_most(merged.spans, stated.probability if stated.is_measured else None),
            rationale=rationales_of(scored),
            usage=usage_of(verdict),
            signature=stamped(self.signature),
            seats=verdict.seats,
            unasked=verdict.unasked,
            aggregation=bare.aggregation,
            consolidator=merged.consolidator,
            set_aside=_set_aside(scored, merged),
            left_out=len(merged.left_out),
            error_probability=stated.probability,
            unverified=still_unverified([seat.report.unverified for seat in scored], merged.spans),
            decision=decided.decision,
            basis=decided.basis,
        )

    def _bare_score(
        self,
        agreed: Verdict,
        spans: tuple[ErrorSpan, ...],
        *,
        scores: tuple[float, ...],
        stated: Stated,
        calibrated: AspectCalibration | None,
    ) -> "_BareScore | None":
        """Return the score before calibration; None if it needs a located span and there is none.

        Raises `ValueError` if the score is not on the scale of the aspect.
        """
        scale, unasked = agreed.aspect.scale, agreed.unasked
        likely = self._score_probability(stated)
        aggregation = self._score_name
        expected: tuple[str, ...] = ()
        value: float | None
        if likely is not None:
            value, aggregation = score_of_probability(likely, scale), BY_PROBABILITY
        elif unasked and unasked.score is not None:
            value, expected = unasked.score, unasked.seats
        else:
            by_spans = self._span_score(calibrated)
            value = by_spans.of(agreed, spans) if by_spans else self.aggregation(scores)
        if value is None:
            return None
        value = _on_scale(value, scale, self._score_name)
        return _BareScore(value, aggregation, expected)


class _BareScore(NamedTuple):
    """A score on its aspect's scale before calibration, and the name of its aggregation.

    `expected` names the seats that were not asked, if the score is that expected of the whole
    panel.
    """

    value: float
    aggregation: str
    expected: tuple[str, ...]


def _set_aside(scored: Iterable[SeatReport], merged: Consolidation) -> tuple[str, ...]:
    """Return the seats none of whose spans became part of the consolidated ones."""
    seen = {ref.seat for refs in (*merged.sources, merged.left_out) for ref in refs}
    return tuple(seat.seat for seat in scored if seat.report.spans and seat.seat not in seen)


def _at_most(spans: tuple[ErrorSpan, ...], of_text: float | None) -> tuple[ErrorSpan, ...]:
    """Return `spans` with probabilities up to `of_text`, that of an error in the whole text.

    A seat alone states a higher one if it is surer than the panel. Without a measured probability,
    None, the spans stay as they are.
    """
    if of_text is None:
        return spans
    return tuple(
        span
        if span.probability is None or span.probability <= of_text
        else replace(span, probability=of_text)
        for span in spans
    )


def _no_conclusion(error: BaseException) -> JudgeError:
    log.exception("panel.conclusion_failed")  # noqa: LOG004  `failing_as` handles it
    problem = reason_of(error, kind=True)
    return JudgeError(f"the seats reported, but no report was made of theirs: {problem}")


def _check_merged(merged: object, segment: Segment) -> None:
    if not isinstance(merged, Consolidation):
        raise JudgeError(f"the consolidator returned {merged!r}, not a Consolidation")
    check_fields(merged, Consolidation, by="the consolidator")
    check_spans(merged.spans, segment)


def _on_scale(score: float, scale: Scale, aggregation: str) -> float:
    """Return the nearest score on the scale; raise `ValueError` unless only rounding separates it.

    A mean of equal scores may exceed them by a rounding error.
    """
    nearest = float(min(scale.high, max(scale.low, score)))
    if not math.isclose(score, nearest, rel_tol=1e-9):
        raise ValueError(
            f"aggregation {aggregation!r} returned {score!r}, which is not within {scale.low} to "
            f"{scale.high}"
        )
    return nearest
