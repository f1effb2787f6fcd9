"""Seats: the judges of one panel, their agreement with one another, and the gain of each."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from types import MappingProxyType
from typing import get_args

import numpy as np
from numpy.random import default_rng

from spanjury.orchestration.engine.aggregation import (
    majority,
    mean,
    mean_without_far_seats,
    mean_without_outliers,
    median,
    minimum,
)
from spanjury.orchestration.studies.agreement.ratings import Ratings, Scorer
from spanjury.orchestration.studies.agreement.scorers import Agreement, Settings, agreements
from spanjury.stats.arrays import FloatArray
from spanjury.stats.correlations.correlation import correlation
from spanjury.stats.correlations.grouping import level_correlation
from spanjury.stats.raters.agreement import Agreement as Chance
from spanjury.stats.raters.agreement import (
    AlphaLevel,
    KappaWeights,
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
)
from spanjury.stats.raters.ensembles import ensemble_curve, leave_one_out

_MOST_RATINGS = 1_000
"""Different scores from which on those that are alike by chance say nothing, and tables of
all pairs of scores become large."""


_TOO_MANY = "too many different scores"


_AGGREGATIONS: Mapping[str, Callable[[Sequence[float]], float]] = MappingProxyType(
    {
        "mean": mean,
        "mean-without-outliers": mean_without_outliers,
        "mean-without-far-seats": mean_without_far_seats,
        "median": median,
        "majority": majority,
        "minimum": minimum,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatTable:
    """The scores of the seats of one run.

    Parameters
    ----------
    scores
        Shape ``(seats, systems, inputs)``; NaN where there is none.
    """

    run: str
    seats: tuple[str, ...]
    scores: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficient:
    """Agreement beyond chance: 1 if perfect, 0 as by chance; NaN where it is undefined."""

    value: float
    outputs: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatPair:
    """Agreement of two seats on the outputs that both scored.

    Parameters
    ----------
    spearman
        Correlation of their scores over all outputs; NaN if it is undefined.
    kappa
        Weights -> Cohen's kappa.
    """

    first: str
    second: str
    outputs: int
    spearman: float
    kappa: Mapping[KappaWeights, Coefficient]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatAgreement:
    """Agreement of all seats, and of each two of them.

    Parameters
    ----------
    fleiss
        Fleiss' kappa: only where every output has as many scores.
    alpha
        Level of measurement -> Krippendorff's alpha.
    pairs
        Two by two.
    """

    fleiss: Coefficient
    alpha: Mapping[AlphaLevel, Coefficient]
    pairs: tuple[SeatPair, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EnsembleSize:
    """Agreement of panels of one size with people; a panel's score is the mean of its seats'.

    Parameters
    ----------
    panels, undefined
        Number of panels, and of those without a correlation.
    mean, least, greatest
        Mean and extremes of the others' correlations; NaN without any.
    """

    size: int
    panels: int
    undefined: int
    mean: float
    least: float
    greatest: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatGain:
    """Contribution of a seat to its panel.

    Parameters
    ----------
    alone
        Its own correlation with people.
    without
        That of the other seats' mean.
    gain
        By how much it raises the whole panel's.
    """

    seat: str
    alone: float
    without: float
    gain: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatFindings:
    """Findings on the seats of a run on one aspect.

    Parameters
    ----------
    whole
        The correlation with people of all seats' mean.
    aggregations
        With people, by how scores are put together: `Agreement.scorer` names the aggregation.
    """

    run: str
    aspect: str
    seats: tuple[str, ...]
    agreement: SeatAgreement
    sizes: tuple[EnsembleSize, ...]
    whole: float
    gains: tuple[SeatGain, ...]
    aggregations: tuple[Agreement, ...]


def seat_findings(ratings: Ratings, settings: Settings) -> Iterator[SeatFindings]:
    """Yield findings on each run of which two seats or more scored what people rated."""
    for table in seat_tables(ratings):
        without = leave_one_out(
            ratings.human, table.scores, level=settings.level, method=settings.method
        )
        yield SeatFindings(
            run=table.run,
            aspect=ratings.aspect,
            seats=table.seats,
            agreement=seat_agreement(table),
            sizes=_sizes(ratings, table, settings),
            whole=without.whole,
            gains=tuple(
                SeatGain(seat=seat, alone=alone, without=rest, gain=gain)
                for seat, alone, rest, gain in zip(
                    table.seats,
                    _alone(ratings, table, settings),
                    without.without.tolist(),
                    without.gain.tolist(),
                    strict=True,
                )
            ),
            aggregations=_aggregations(ratings, table, settings),
        )


def seat_tables(ratings: Ratings) -> Iterator[SeatTable]:
    """Yield the scores of each run of which two seats or more scored what people rated."""
    is_there = ratings.coverage > 0
    for run in dict.fromkeys(scorer.run for scorer in ratings.scorers if scorer.run):
        rows = [
            row for row, scorer in enumerate(ratings.scorers) if scorer.run == run and is_there[row]
        ]
        if len(rows) > 1:
            names = tuple(ratings.scorers[row].name for row in rows)
            yield SeatTable(run=run, seats=names, scores=ratings.scores[rows])


def seat_agreement(table: SeatTable) -> SeatAgreement:
    """Compare the scores of seats, which must be of one scale, with one another."""
    scores = table.scores.reshape(len(table.seats), -1)
    many = np.unique(scores[~np.isnan(scores)]).size > _MOST_RATINGS

    if many:
        none = Coefficient(value=np.nan, outputs=0, reason=_TOO_MANY)
        fleiss, alpha = none, dict.fromkeys(get_args(AlphaLevel), none)
    else:
        fleiss = _coefficient(fleiss_kappa(_scored_by_any(scores)))
        alpha = {
            level: _coefficient(krippendorff_alpha(scores.T, level=level))
            for level in get_args(AlphaLevel)
        }
    pairs = tuple(
        _pair(names, scores[list(rows)], many=many)
        for names, rows in zip(
            combinations(table.seats, 2), combinations(range(len(scores)), 2), strict=True
        )
    )
    return SeatAgreement(fleiss=fleiss, alpha=alpha, pairs=pairs)


def _scored_by_any(scores: FloatArray) -> FloatArray:
    """Return scores by output, ``(outputs, seats)``, without those that no seat scored."""
    kept: FloatArray = scores[:, ~np.isnan(scores).all(axis=0)].T
    return kept


def _pair(names: tuple[str, str], scores: FloatArray, *, many: bool) -> SeatPair:
    both = scores[:, ~np.isnan(scores).any(axis=0)]
    none = Coefficient(value=np.nan, outputs=both.shape[1], reason=_TOO_MANY)
    kappa: dict[KappaWeights, Coefficient] = {
        weights: none if many else _coefficient(cohen_kappa(*both, weights=weights))
        for weights in get_args(KappaWeights)
    }
    return SeatPair(
        first=names[0],
        second=names[1],
        outputs=both.shape[1],
        spearman=correlation(*both, method="spearman").value,
        kappa=kappa,
    )


def _coefficient(chance: Chance) -> Coefficient:
    return Coefficient(value=chance.value, outputs=chance.units, reason=chance.reason or "")


def _sizes(ratings: Ratings, table: SeatTable, settings: Settings) -> tuple[EnsembleSize, ...]:
    curve = ensemble_curve(
        ratings.human,
        table.scores,
        level=settings.level,
        method=settings.method,
        rng=default_rng(settings.seed),
    )
    rows = zip(*(part.tolist() for part in curve), strict=True)
    return tuple(
        EnsembleSize(
            size=size, panels=panels, undefined=undefined, mean=mid, least=least, greatest=greatest
        )
        for size, mid, least, greatest, panels, undefined in rows
    )


def _alone(ratings: Ratings, table: SeatTable, settings: Settings) -> list[float]:
    return [
        level_correlation(ratings.human, score, level=settings.level, method=settings.method).value
        for score in table.scores
    ]


def _aggregations(ratings: Ratings, table: SeatTable, settings: Settings) -> tuple[Agreement, ...]:
    """Compare aggregations as if each were a scorer."""
    names = tuple(Scorer(name=name, scores={}) for name in _AGGREGATIONS)
    flat = table.scores.reshape(len(table.scores), -1)
    (rated,) = np.nonzero(~np.isnan(flat).all(axis=0))
    given = [
        tuple(score for score in row if not math.isnan(score)) for row in flat[:, rated].T.tolist()
    ]
    scores = np.full((len(names), flat.shape[1]), np.nan)
    for aggregated, by in zip(scores, _AGGREGATIONS.values(), strict=True):
        values = {row: by(row) for row in dict.fromkeys(given)}  # few differ, of many outputs
        aggregated[rated] = [values[row] for row in given]
    scores = scores.reshape(len(names), *ratings.human.shape)
    return agreements(replace(ratings, scorers=names, scores=scores), settings)
