"""Scorers beside people: how near each is to them, how sure that is, and which is nearest."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.random import Generator, default_rng

from spanjury.orchestration.studies.agreement.ratings import Ratings
from spanjury.orchestration.studies.estimates import LEVEL, Estimate, holm_adjusted
from spanjury.stats.arrays import FloatArray
from spanjury.stats.correlations.correlation import Method
from spanjury.stats.correlations.grouping import Level, level_correlation
from spanjury.stats.correlations.metric_permutation import perm_both
from spanjury.stats.correlations.pairwise import tie_calibrated_accuracy
from spanjury.stats.correlations.resampled_correlations import resampled_correlations
from spanjury.stats.correlations.system_pairs import soft_pairwise_accuracy, system_accuracy

Proximity = Literal["nearest", "not told apart", "behind", "untested"]
"""A scorer beside the scorer that is nearest to people on the aspect, by a test at 5 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of the measures of agreement."""

    level: Level = "by-input"
    """Over what a correlation is taken, as `stats.grouping` says."""
    method: Method = "spearman"
    draws: int = 1000
    """Number of resamples in the bootstrap and the permutation test; 0 for neither."""
    seed: int = 1
    """Seed of both; the same seed draws the same outputs for every scorer and aspect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Agreement of one scorer with people on one aspect.

    `low`, `high`: ends of its 95 % interval over resampled systems and inputs (BOOT-BOTH); NaN
    without one.
    `items`, `groups`, `undefined`: outputs that both scored; correlations whose mean it is, and
    those that are undefined.
    """

    scorer: str
    aspect: str
    value: float
    """The correlation, positive where both find the same better; NaN where it is undefined."""
    reason: str
    low: float
    high: float
    items: int
    groups: int
    undefined: int
    coverage: float
    """Share of the outputs that people rated and the scorer scored."""
    behind: float
    """P-value (PERM-BOTH, two-sided, Holm over the scorers) of the null that the nearest scorer on
    this aspect is no nearer than this one; NaN for that one itself, and where no test could be
    run."""
    standing: Proximity
    """The conclusion from the tests; without draws, every scorer is untested."""
    others: Mapping[str, float]
    """The same agreement by other measures: name -> value."""
    signature: str

    @property
    def is_tied(self) -> bool:
        """True if no other scorer is shown to be nearer to people on the aspect."""
        return self.standing in ("nearest", "not told apart")


def agreements(ratings: Ratings, settings: Settings) -> tuple[Agreement, ...]:
    """Measure how far each scorer agrees with people, the nearest first and undefined ones last."""
    rng = default_rng(settings.seed)
    values = [
        level_correlation(ratings.human, scores, level=settings.level, method=settings.method)
        for scores in ratings.scores
    ]
    intervals = _intervals(ratings, settings, rng=rng)
    correlations = [result.value for result in values]
    is_tested = settings.draws and not np.all(np.isnan(correlations))
    nearest = int(np.nanargmax(correlations)) if is_tested else None
    behind = _behind(ratings, settings, values=correlations, nearest=nearest, rng=rng)
    compared = [
        Agreement(
            scorer=scorer.name,
            aspect=ratings.aspect,
            value=value.value,
            reason=value.reason or "",
            low=intervals[number].low,
            high=intervals[number].high,
            items=value.items,
            groups=value.groups,
            undefined=value.undefined,
            coverage=float(ratings.coverage[number]),
            behind=behind[number],
            standing=_standing(behind[number], is_nearest=number == nearest),
            others=dict(_others(ratings, ratings.scores[number], settings)),
            signature=scorer.signature,
        )
        for number, (scorer, value) in enumerate(zip(ratings.scorers, values, strict=True))
    ]
    return tuple(sorted(compared, key=lambda each: (math.isnan(each.value), -each.value)))


def _intervals(ratings: Ratings, settings: Settings, *, rng: Generator) -> list[Estimate]:
    """Resample for one scorer at a time: each on the outputs that it scored itself."""
    if not settings.draws:
        return [Estimate()] * len(ratings.scorers)
    return [
        Estimate.of(
            resampled_correlations(
                ratings.human,
                scores,
                level=settings.level,
                method=settings.method,
                rng=twin,
                draws=settings.draws,
            )
        )
        for scores, twin in zip(ratings.scores, _twins(rng, len(ratings.scorers)), strict=True)
    ]


def _twins(rng: Generator, count: int) -> Iterator[Generator]:
    """Yield generators that all draw the same."""
    seed = int(rng.integers(2**32))
    return (default_rng(seed) for _ in range(count))


def _behind(
    ratings: Ratings,
    settings: Settings,
    *,
    values: Sequence[float],
    nearest: int | None,
    rng: Generator,
) -> list[float]:
    """Return for each scorer the probability that the nearest is nearer by chance alone."""
    p = np.full(len(values), np.nan)
    if nearest is not None:
        for number, drawn in enumerate(_twins(rng, len(p))):
            if number != nearest and not math.isnan(values[number]):
                p[number] = perm_both(
                    ratings.human,
                    ratings.scores[[nearest, number]],
                    level=settings.level,
                    method=settings.method,
                    rng=drawn,
                    draws=settings.draws,
                ).p_two_sided
    behind: list[float] = holm_adjusted(p).tolist()
    return behind


def _standing(behind: float, *, is_nearest: bool) -> Proximity:
    if is_nearest:
        return "nearest"
    if math.isnan(behind):
        return "untested"
    return "behind" if behind < LEVEL else "not told apart"


def _others(
    ratings: Ratings, scores: FloatArray, settings: Settings
) -> Iterator[tuple[str, float]]:
    for method in get_args(Method):
        value = level_correlation(ratings.human, scores, level=settings.level, method=method)
        yield method, value.value
    yield "tie-calibrated accuracy", tie_calibrated_accuracy(ratings.human, scores).value
    yield "system accuracy", system_accuracy(ratings.human, scores).value
    if settings.draws:
        soft = soft_pairwise_accuracy(
            ratings.human, scores, rng=default_rng(settings.seed), draws=settings.draws
        )
        yield "soft pairwise accuracy", soft.value
