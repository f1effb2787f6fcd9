"""A cascade: cheap seats are asked first, the others only if the answer is not clear by then.

The reports of the asked seats are combined into one *estimate*, 0 to 1. It is the mean over the
seats of one minus the probability of an error, if a seat states one, or else of the relative
position of its score on the scale. A stage suffices if its estimate lies outside its unsure
interval and its scores do not disagree. It also suffices if the remaining seats could not move the
score across a cutoff.

A stage with a `ScoreMap` predicts the score of the seats that were not asked. The aggregation uses
the prediction in their place, so that the scores of all rows are comparable, however many seats
were asked.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from statistics import fmean

from spanjury.judges.core import (
    Aggregation,
    Aspect,
    ConfigError,
    Outcome,
    Report,
    Scale,
    StopReason,
    fingerprint,
    signature,
)
from spanjury.judges.core.code_digest import code_digest
from spanjury.orchestration.engine.made_for import aspect_key
from spanjury.orchestration.engine.score_map import ScoreMap

MONOTONE = frozenset({"mean", "median", "minimum"})
"""Aggregations that never fall when a score rises: missing scores then have bounds."""

_FEWEST_THAT_DISAGREE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Seats that are asked together, and the criteria by which their reports suffice.

    Raises `ConfigError` if there is no seat, or a number is out of range.

    Parameters
    ----------
    seats
        Names.
    unsure
        The interval of estimates, both ends included, in which further seats are asked; None if the
        estimate of this stage is not used.
    disagreement
        Further seats are asked if two scores differ by this many points or more; None if scores may
        differ.
    score_map
        Predicts the score of the later stages from the estimate of the stages so far, both as
        relative positions on their scale, 0 to 1; None to aggregate only the available scores.
    """

    seats: tuple[str, ...]
    unsure: tuple[float, float] | None = None
    disagreement: float | None = None
    score_map: ScoreMap | None = None

    def __post_init__(self) -> None:
        if not self.seats:
            raise ConfigError("a stage of a cascade needs a seat")
        if self.unsure and not 0.0 <= self.unsure[0] <= self.unsure[1] <= 1.0:
            raise ConfigError(f"unsure must be two numbers from 0 to 1, got {list(self.unsure)}")
        if self.disagreement is not None and not self.disagreement > 0.0:
            raise ConfigError(f"disagreement must be over 0 points, got {self.disagreement!r}")
        numbers = (*self.score_map.knots, *self.score_map.values) if self.score_map else ()
        if not all(0.0 <= number <= 1.0 for number in numbers):
            raise ConfigError("the estimates and scores of a stage must be 0 to 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """The reason why no further seat is asked, as a category and as a sentence."""

    why: StopReason
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cascade:
    """The stages of a panel.

    Raises `ConfigError` if there are fewer than two, or a seat is in two of them.

    Parameters
    ----------
    stages
        In the order in which they are asked.
    cutoff
        The score from which a text is good enough; remaining seats are not asked if they could not
        move the score across it.
    aspect
        The aspect that the numbers were fitted to, as ``task/aspect``: on other aspects all seats
        are asked. Empty if the numbers hold for every aspect.
    """

    stages: tuple[Stage, ...]
    cutoff: float | None = None
    aspect: str = ""

    def __post_init__(self) -> None:
        if len(self.stages) < 2:  # noqa: PLR2004
            raise ConfigError("a cascade needs two stages or more, each with a seat")
        named = [seat for stage in self.stages for seat in stage.seats]
        if twice := sorted({seat for seat in named if named.count(seat) > 1}):
            raise ConfigError(f"a cascade asks each seat once, but names {', '.join(twice)} twice")

    @property
    def signature(self) -> str:
        """Everything that can change which seats are asked, or the score."""
        return signature(
            "cascade",
            stages=fingerprint(repr(self.stages), repr(self.cutoff), self.aspect),
            code=_CODE,
        )

    @property
    def can_stop(self) -> bool:
        """True if some reports could suffice before all seats are asked."""
        rules = ((stage.unsure, stage.disagreement) for stage in self.stages[:-1])
        return self.cutoff is not None or any(rule != (None, None) for rule in rules)

    def is_for(self, aspect: Aspect) -> bool:
        """Return whether seats may be skipped on `aspect`."""
        return self.aspect in {"", aspect_key(aspect.task.name, aspect.name)}

    def require_seats(self, seats: Collection[str]) -> None:
        """Raise `ConfigError` unless the stages name exactly the `seats` of a panel."""
        named = {seat for stage in self.stages for seat in stage.seats}
        if unknown := sorted(named - set(seats)):
            raise ConfigError(
                f"the cascade asks {', '.join(unknown)}, which is not a seat of the panel: "
                f"{', '.join(seats)}"
            )
        if unasked := sorted(set(seats) - named):
            raise ConfigError(f"the cascade has no stage for {', '.join(unasked)}")

    def after(self, stage: int) -> tuple[str, ...]:
        """Return the seats of all stages after stage number `stage`."""
        return tuple(seat for later in self.stages[stage + 1 :] for seat in later.seats)


_CODE = code_digest(__name__)


def estimate_of(report: Report, scale: Scale) -> float | None:
    """Return a report's estimate of how good the text is, 0 to 1; None without a score."""
    if report.score is None:
        return None
    if report.error_probability is not None:
        return 1.0 - report.error_probability
    return place_on(scale, report.score)


def place_on(scale: Scale, score: float) -> float:
    """Return the relative position of `score` on its scale, 0 for the worst and 1 for the best."""
    return (score - scale.low) / (scale.high - scale.low)


def joint_estimate(reports: Sequence[Report], scale: Scale) -> float | None:
    """Return the joint estimate of several reports; None if none of them has a score."""
    estimated = [estimate_of(report, scale) for report in reports]
    estimates = [estimate for estimate in estimated if estimate is not None]
    return fmean(estimates) if estimates else None


def score_bounds(
    scores: Sequence[float], missing: int, *, scale: Scale, aggregation: Aggregation
) -> tuple[float, float]:
    """Return the lowest and highest score that the panel can reach with `missing` seats unasked.

    The bounds hold for an aggregation that is `MONOTONE`, even if some of the missing seats would
    give no score.

    Examples
    --------
    >>> score_bounds([5, 4], 2, scale=Scale(), aggregation=fmean)
    (2.75, 4.75)
    """
    worst, best = [float(scale.low)] * missing, [float(scale.high)] * missing
    return aggregation([*scores, *worst]), aggregation([*scores, *best])


def stop_after(
    cascade: Cascade,
    number: int,
    reports: Sequence[Report],
    *,
    scale: Scale,
    aggregation: Aggregation,
) -> Stop | None:
    """Return the reason to stop after stage `number`; None if more seats are needed.

    Reports never suffice if a seat failed: the remaining seats make up for it.

    Parameters
    ----------
    aggregation
        The panel's; it must be `MONOTONE` if the cascade has a cutoff.
    """
    scores = [report.score for report in reports if report.score is not None]
    if not scores or any(_has_failed(report) for report in reports):
        return None
    sure = _sure(cascade.stages[number], reports, scores, scale=scale)
    if sure or cascade.cutoff is None:
        return sure
    missing = len(cascade.after(number))
    low, high = score_bounds(scores, missing, scale=scale, aggregation=aggregation)
    return _settled(cascade.cutoff, low, high)


def expected_score(
    stage: Stage, reports: Sequence[Report], missing: int, *, scale: Scale, aggregation: Aggregation
) -> float | None:
    """Return the whole panel's score, with the predicted score for each missing seat.

    It is None if `stage` has no map, or if no report has a score.
    """
    estimate = joint_estimate(reports, scale)
    if stage.score_map is None or estimate is None:
        return None
    expected = scale.low + stage.score_map.at(estimate) * (scale.high - scale.low)
    scores = [report.score for report in reports if report.score is not None]
    return aggregation([*scores, *[expected] * missing])


def _has_failed(report: Report) -> bool:
    return report.outcome not in {Outcome.SCORED, Outcome.ABSTAINED}


def _sure(
    stage: Stage, reports: Sequence[Report], scores: Sequence[float], *, scale: Scale
) -> Stop | None:
    reasons = []
    if stage.disagreement is not None:
        gap = max(scores) - min(scores)
        if gap >= stage.disagreement:
            return None
        if len(scores) >= _FEWEST_THAT_DISAGREE:
            reasons.append(f"the scores differ by {gap:.2f}, less than {stage.disagreement:g}")
    estimate = joint_estimate(reports, scale)
    if stage.unsure is not None and estimate is not None:
        low, high = stage.unsure
        if low <= estimate <= high:
            return None
        side = f"below {low:.2f}" if estimate < low else f"above {high:.2f}"
        reasons.append(f"the estimate is {estimate:.2f}, {side}")
    if not reasons:
        return None
    sentence = " and ".join(reasons)
    return Stop(why=StopReason.SURE, reason=f"{sentence[0].upper()}{sentence[1:]}.")


def _settled(cutoff: float, low: float, high: float) -> Stop | None:
    if low >= cutoff:
        side = f"{low:.2f} or more"
    elif high < cutoff:
        side = f"{high:.2f} or less"
    else:
        return None
    reason = f"The score is {side} whatever the others say, and the cutoff {cutoff:g} decides."
    return Stop(why=StopReason.SETTLED, reason=reason)
