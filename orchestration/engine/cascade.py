"""A cascade: cheap seats are asked first, and the others only where these do not suffice.

The reports of the seats that were asked are read as one *estimate*, 0 to 1: the mean over the
seats of one minus the probability of an error, where a seat states one, or of its score's place
on the scale. A stage suffices where its estimate is outside of the interval in which it is
unsure and its scores do not disagree, or where the seats that are left could not bring the score
to the other side of a cutoff.

A stage with a `ScoreMap` says which score the seats that were not asked can be expected to give.
The aggregation takes it in their place, so that the scores of all rows mean the same, however many
seats were asked.
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
"""Aggregations that never fall where a score rises: the others' scores have bounds for them."""

_FEWEST_THAT_DISAGREE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Seats that are asked together, and what of theirs suffices.

    Raises `ConfigError` if there is no seat, or a number is out of range.

    Parameters
    ----------
    seats
        Names.
    unsure
        The estimates, both ends included, with which further seats are asked; None for a stage
        whose estimate says nothing.
    disagreement
        The difference between two scores, in points, from which on further seats are asked;
        None where scores may differ.
    score_map
        The score of the stages behind it by the estimate of this one and those before it, both as
        places on their scale, 0 to 1; None to aggregate the scores that there are.
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
    """The reason for which no further seat is asked, in kind and as a sentence."""

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
        The score from which on a text is good enough; the rest of the seats are not asked where
        they could not change on which side the score is.
    aspect
        The aspect that the numbers were fitted to, as ``task/aspect``: on others, all seats are
        asked. Empty for numbers that hold for any.
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
        """Everything that can change who is asked, or the score."""
        return signature(
            "cascade",
            stages=fingerprint(repr(self.stages), repr(self.cutoff), self.aspect),
            code=_CODE,
        )

    @property
    def can_stop(self) -> bool:
        """True if any reports could suffice before all seats were asked."""
        rules = ((stage.unsure, stage.disagreement) for stage in self.stages[:-1])
        return self.cutoff is not None or any(rule != (None, None) for rule in rules)

    def is_for(self, aspect: Aspect) -> bool:
        """Say whether seats may be left out on `aspect`."""
        return self.aspect in {"", aspect_key(aspect.task.name, aspect.name)}

    def require_seats(self, seats: Collection[str]) -> None:
        """Raise `ConfigError` unless the stages name all `seats` of a panel, and no other."""
        named = {seat for stage in self.stages for seat in stage.seats}
        if unknown := sorted(named - set(seats)):
            raise ConfigError(
                f"the cascade asks {', '.join(unknown)}, which is no seat of the panel: "
                f"{', '.join(seats)}"
            )
        if unasked := sorted(set(seats) - named):
            raise ConfigError(f"the cascade has no stage for {', '.join(unasked)}")

    def after(self, stage: int) -> tuple[str, ...]:
        """Return the seats of the stages behind that of number `stage`."""
        return tuple(seat for later in self.stages[stage + 1 :] for seat in later.seats)


_CODE = code_digest(__name__)


def estimate_of(report: Report, scale: Scale) -> float | None:
    """Return how good one report says the text is, 0 to 1; None without a score."""
    if report.score is None:
        return None
    if report.error_probability is not None:
        return 1.0 - report.error_probability
    return place_on(scale, report.score)


def place_on(scale: Scale, score: float) -> float:
    """Return where `score` is on its scale, 0 for the worst and 1 for the best."""
    return (score - scale.low) / (scale.high - scale.low)


def joint_estimate(reports: Sequence[Report], scale: Scale) -> float | None:
    """Return the estimate of several reports; None if none of them has a score."""
    estimated = [estimate_of(report, scale) for report in reports]
    estimates = [estimate for estimate in estimated if estimate is not None]
    return fmean(estimates) if estimates else None


def score_bounds(
    scores: Sequence[float], missing: int, *, scale: Scale, aggregation: Aggregation
) -> tuple[float, float]:
    """Return the lowest and the highest score of the panel, whatever the missing seats say.

    They hold for an aggregation that is `MONOTONE`, and also where some of the missing seats
    would give no score.

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
    """Return why the `reports` of the stages up to that of `number` suffice; None to ask on.

    They never do where a seat failed: those that are left make up for it.

    Parameters
    ----------
    aggregation
        The panel's; one that is `MONOTONE` where the cascade has a cutoff.
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
    stage: Stage,
    reports: Sequence[Report],
    missing: int,
    *,
    scale: Scale,
    aggregation: Aggregation,
) -> float | None:
    """Return the whole panel's score, if each missing seat scores as is expected of it.

    It is None if `stage` has no map, or none of the reports a score.
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
