"""People's means of systems and differences of pairs, from the texts that they marked."""

from dataclasses import dataclass
from itertools import combinations
from typing import Self

import numpy as np
from numpy.typing import NDArray

from spanjury.orchestration.studies.ranking.score_table import CONFIDENCE, ScoreTable
from spanjury.stats.arrays import FloatArray
from spanjury.stats.moderation import MarkVariance, mark_variance, moderated
from spanjury.stats.powered_estimates import PoweredEstimate
from spanjury.stats.prediction_powered import powered_difference, powered_mean, powered_tuning

FEWEST_MARKS = 5
"""Marked texts of an aspect from which on people's scores are used."""
_TUNED = 20
"""Marked texts from which on the panel's scores count: what a point of them is worth is chosen
once for all systems, and taken as known."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MarkedSystems:
    """Systems of which people marked some texts."""

    table: ScoreTable
    tuning: float
    """People's points that a point of the panel counts."""
    variance: MarkVariance
    """Variance of a mark within its system, which systems with few equal marks borrow."""
    pair_variance: MarkVariance
    """The same in differences of two systems: outputs for one input are correlated."""

    @classmethod
    def of(cls, table: ScoreTable) -> Self | None:
        """Return the systems of a table; None where people marked too little."""
        if table.marked < FEWEST_MARKS:
            return None
        tuning = 0.0
        if table.marked >= _TUNED:
            tuning = powered_tuning(
                table.people, table.judged, weights=table.weights, clusters=table.inputs
            )
        systems = range(len(table.systems))
        pairs = [*combinations(systems, 2)]
        return cls(
            table=table,
            tuning=tuning,
            variance=mark_variance(
                [_mean(table, system, tuning=tuning) for system in systems],
                [_size(table, system) for system in systems],
            ),
            pair_variance=mark_variance(
                [_difference(table, pair, tuning=tuning) for pair in pairs],
                [_pair_size(table, pair) for pair in pairs],
                systems=len(systems),
            ),
        )

    def mean(self, system: int) -> PoweredEstimate:
        """Estimate people's mean of a system."""
        return moderated(
            _mean(self.table, system, tuning=self.tuning),
            variance=self.variance,
            size=_size(self.table, system),
            confidence=CONFIDENCE,
        )

    def difference(self, pair: tuple[int, int]) -> PoweredEstimate:
        """Estimate people's difference of two systems, over the inputs that both have scores of."""
        return moderated(
            _difference(self.table, pair, tuning=self.tuning),
            variance=self.pair_variance,
            size=_pair_size(self.table, pair),
            confidence=CONFIDENCE,
        )


def _mean(table: ScoreTable, system: int, *, tuning: float) -> PoweredEstimate:
    return powered_mean(
        table.people[system],
        table.judged[system],
        weights=table.weights[system],
        clusters=table.inputs,
        tuning=tuning,
        confidence=CONFIDENCE,
    )


def _difference(table: ScoreTable, pair: tuple[int, int], *, tuning: float) -> PoweredEstimate:
    columns = _shared(table, pair)
    rows = np.ix_(np.array(pair), np.flatnonzero(columns))
    return powered_difference(
        table.people[rows],
        table.judged[rows],
        weights=table.weights[rows],
        clusters=table.inputs[columns],
        tuning=tuning,
        confidence=CONFIDENCE,
    )


def _shared(table: ScoreTable, pair: tuple[int, int]) -> NDArray[np.bool_]:
    """Return the columns in which the panel scored both systems."""
    return np.asarray(~np.isnan(table.judged[[*pair]]).any(axis=0))


def _size(table: ScoreTable, system: int, columns: NDArray[np.bool_] | None = None) -> float:
    """Return as many marks of one chance as would weigh as much as a system's, in some columns."""
    marked = ~np.isnan(table.people[system] + table.judged[system])
    weights: FloatArray = table.weights[system][marked if columns is None else marked & columns]
    return float(weights.sum() ** 2 / (weights @ weights)) if weights.size else 0.0


def _pair_size(table: ScoreTable, pair: tuple[int, int]) -> float:
    """Return the number of pairs of such marks that would weigh as much as those of two systems."""
    first, second = (_size(table, system, _shared(table, pair)) for system in pair)
    return first * second / (first + second) if first and second else 0.0
