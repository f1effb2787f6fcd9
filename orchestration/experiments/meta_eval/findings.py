"""Findings: how near each scorer is to people, how sure that is, and who is nearest."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np
from numpy.random import Generator, default_rng

from spanjury.orchestration.experiments.meta_eval.ratings import Ratings
from spanjury.stats.bootstrap import Interval, percentile_interval
from spanjury.stats.combination.multiplicity import holm
from spanjury.stats.correlations.correlation import Method
from spanjury.stats.correlations.grouping import Level, level_correlation
from spanjury.stats.correlations.metric_permutation import perm_both
from spanjury.stats.correlations.pairwise import tie_calibrated_accuracy
from spanjury.stats.correlations.resampled_correlations import resampled_correlations
from spanjury.stats.correlations.system_pairs import soft_pairwise_accuracy, system_accuracy
from spanjury.stats.drops import FloatArray

__all__ = ["Agreement", "Settings", "found"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How agreement is measured.

    Parameters
    ----------
    level
        Over what a correlation is taken, as `stats.grouping` says.
    method
        Which correlation.
    draws
        Of the bootstrap and of the permutation test; 0 for neither.
    seed
        Of both; the same seed draws the same outputs for every scorer and aspect.
    """

    level: Level = "by-input"
    method: Method = "spearman"
    draws: int = 1000
    seed: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How far one scorer agrees with people on one aspect.

    Parameters
    ----------
    scorer, aspect
        Who, and on what.
    value
        The correlation, positive where both find the same better; NaN where it is undefined.
    reason
        Why it is undefined; empty if it is not.
    low, high
        Of its 95 % interval over systems and inputs drawn anew (BOOT-BOTH); NaN without one.
    items, groups, undefined
        Outputs that both scored; correlations whose mean it is, and that were left out of it.
    coverage
        Share of the outputs that people rated and the scorer scored.
    behind
        P-value (PERM-BOTH, two-sided, Holm over the scorers) of the null that the nearest
        scorer on this aspect is no nearer than this one; NaN for that one itself.
    others
        The same agreement by other measures: name -> value.
    signature
        Of the scorer.
    """

    scorer: str
    aspect: str
    value: float
    reason: str
    low: float
    high: float
    items: int
    groups: int
    undefined: int
    coverage: float
    behind: float
    others: Mapping[str, float]
    signature: str


def found(ratings: Ratings, settings: Settings) -> tuple[Agreement, ...]:
    """Say how far each scorer agrees with people, the nearest first and undefined ones last."""
    rng = default_rng(settings.seed)
    values = [
        level_correlation(ratings.human, scores, level=settings.level, method=settings.method)
        for scores in ratings.scores
    ]
    intervals = _intervals(ratings, settings, rng=rng)
    behind = _behind(ratings, settings, values=[one.value for one in values], rng=rng)
    told = [
        Agreement(
            scorer=scorer.name,
            aspect=ratings.aspect,
            value=value.value,
            reason=value.reason or "",
            low=float(intervals.low[place]),
            high=float(intervals.high[place]),
            items=value.items,
            groups=value.groups,
            undefined=value.undefined,
            coverage=float(ratings.coverage[place]),
            behind=behind[place],
            others=dict(_others(ratings, ratings.scores[place], settings)),
            signature=scorer.signature,
        )
        for place, (scorer, value) in enumerate(zip(ratings.scorers, values, strict=True))
    ]
    return tuple(sorted(told, key=lambda one: (math.isnan(one.value), -one.value)))


def _intervals(ratings: Ratings, settings: Settings, *, rng: Generator) -> Interval:
    """Draw anew for one scorer at a time: each on the outputs that it scored itself."""
    none = np.full(len(ratings.scorers), np.nan)
    if not settings.draws:
        return Interval(none, none)
    told = [
        percentile_interval(
            resampled_correlations(
                ratings.human,
                scores,
                level=settings.level,
                method=settings.method,
                rng=one,
                draws=settings.draws,
            )
        )
        for scores, one in zip(ratings.scores, _twins(rng, len(none)), strict=True)
    ]
    return Interval(
        np.array([float(one.low) for one in told]), np.array([float(one.high) for one in told])
    )


def _twins(rng: Generator, count: int) -> Iterator[Generator]:
    """Yield generators that all draw the same."""
    seed = int(rng.integers(2**32))
    return (default_rng(seed) for _ in range(count))


def _behind(
    ratings: Ratings, settings: Settings, *, values: Sequence[float], rng: Generator
) -> list[float]:
    """Return for each scorer how likely the nearest is nearer by chance alone."""
    p = np.full(len(values), np.nan)
    if settings.draws and not np.all(np.isnan(values)):
        best = int(np.nanargmax(values))
        for place, one in enumerate(_twins(rng, len(values))):
            if place != best and not math.isnan(values[place]):
                pair = ratings.scores[[best, place]]
                p[place] = _p(ratings.human, pair, settings, rng=one)
    with np.errstate(divide="ignore"):
        return [float(one) for one in np.exp(holm(np.log(p)))]


def _p(human: FloatArray, pair: FloatArray, settings: Settings, *, rng: Generator) -> float:
    return perm_both(
        human, pair, level=settings.level, method=settings.method, rng=rng, draws=settings.draws
    ).p_two_sided


def _others(
    ratings: Ratings, scores: FloatArray, settings: Settings
) -> Iterator[tuple[str, float]]:
    for method in get_args(Method):
        told = level_correlation(ratings.human, scores, level=settings.level, method=method)
        yield method, told.value
    yield "tie-calibrated accuracy", tie_calibrated_accuracy(ratings.human, scores).value
    yield "system accuracy", system_accuracy(ratings.human, scores).value
    if settings.draws:
        soft = soft_pairwise_accuracy(
            ratings.human, scores, rng=default_rng(settings.seed), draws=settings.draws
        )
        yield "soft pairwise accuracy", soft.value
