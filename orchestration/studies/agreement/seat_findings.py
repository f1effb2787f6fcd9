"""Findings on the seats of a run: agreement, size of the panel, each seat's gain, aggregation."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

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
from spanjury.orchestration.studies.agreement.seats import (
    SeatAgreement,
    SeatTable,
    seat_agreement,
    seat_tables,
)
from spanjury.stats.arrays import FloatArray
from spanjury.stats.correlations.grouping import level_correlation
from spanjury.stats.raters.ensembles import ensemble_curve, leave_one_out

__all__ = ["EnsembleSize", "SeatFindings", "SeatGain", "seat_findings"]

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
class EnsembleSize:
    """Agreement of panels of one size with people; a panel's score is the mean of its seats'.

    Parameters
    ----------
    size
        Number of seats.
    panels, undefined
        Number of panels, and of those without a correlation.
    mean, least, greatest
        Of the correlations of the others; NaN without any.
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
    seat
        Its name.
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
    run, aspect
        Path of the results, and name.
    seats
        Their names.
    agreement
        With one another.
    sizes
        With people, by the size of the panel.
    whole
        The correlation with people of all seats' mean.
    gains
        Seat by seat.
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
        level_correlation(ratings.human, one, level=settings.level, method=settings.method).value
        for one in table.scores
    ]


def _aggregations(ratings: Ratings, table: SeatTable, settings: Settings) -> tuple[Agreement, ...]:
    """Compare aggregations as if each were a scorer."""
    names = tuple(Scorer(name=name, scores={}) for name in _AGGREGATIONS)
    scores = np.array([_aggregated(table.scores, by) for by in _AGGREGATIONS.values()])
    return agreements(replace(ratings, scorers=names, scores=scores), settings)


def _aggregated(scores: FloatArray, by: Callable[[Sequence[float]], float]) -> FloatArray:
    """Aggregate the scores of each output, those that are there."""
    aggregated = np.full(scores.shape[1:], np.nan)
    for output in zip(*np.nonzero(~np.isnan(scores).all(axis=0)), strict=True):
        given = scores[(slice(None), *output)]
        aggregated[output] = by(given[~np.isnan(given)].tolist())
    return aggregated
