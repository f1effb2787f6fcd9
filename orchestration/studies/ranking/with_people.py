"""Estimates of people's means and differences from few marks, with a panel's help."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from spanjury.orchestration.studies.ranking.means import CONFIDENCE
from spanjury.orchestration.studies.ranking.score_table import ScoreTable
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
    """Systems of which people marked some texts.

    Parameters
    ----------
    tuning
        People's points that a point of the panel counts.
    variance
        Of a mark within its system: few marks that are alike borrow it.
    """

    table: ScoreTable
    tuning: float
    variance: MarkVariance

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
        columns = np.ones(table.inputs.size, dtype=np.bool_)
        variance = mark_variance(
            [_mean(table, system, tuning=tuning) for system in systems],
            [_size(table, system, columns) for system in systems],
        )
        return cls(table=table, tuning=tuning, variance=variance)

    def mean(self, system: int) -> PoweredEstimate:
        """Estimate people's mean of a system."""
        columns = np.ones(self.table.inputs.size, dtype=np.bool_)
        return moderated(
            _mean(self.table, system, tuning=self.tuning),
            variance=self.variance,
            sizes=[_size(self.table, system, columns)],
            confidence=CONFIDENCE,
        )

    def difference(self, pair: tuple[int, int], columns: NDArray[np.bool_]) -> PoweredEstimate:
        """Estimate people's difference of two systems, over the texts in some columns."""
        table, rows = self.table, np.ix_(np.array(pair), np.flatnonzero(columns))
        estimate = powered_difference(
            table.people[rows],
            table.judged[rows],
            weights=table.weights[rows],
            clusters=table.inputs[columns],
            tuning=self.tuning,
            confidence=CONFIDENCE,
        )
        return moderated(
            estimate,
            variance=self.variance,
            sizes=[_size(table, system, columns) for system in pair],
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


def _size(table: ScoreTable, system: int, columns: NDArray[np.bool_]) -> float:
    """Return as many marks of one chance as would weigh as much as a system's."""
    marked = columns & ~np.isnan(table.people[system] + table.judged[system])
    weights: FloatArray = table.weights[system][marked]
    return float(weights.sum() ** 2 / (weights @ weights)) if weights.size else 0.0
