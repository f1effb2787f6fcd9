"""Rates: how often, how far and which way scores moved, over one choice of reports."""

import math
from typing import NamedTuple

import numpy as np

from spanjury.orchestration.experiments.faithfulness.evidence import BoolArray, FloatArray

__all__ = ["Estimate", "Rates", "rates"]


class Estimate(NamedTuple):
    """A mean, with its 95 % interval over texts drawn anew; NaN where there is none."""

    value: float
    low: float
    high: float


class Rates(NamedTuple):
    """What became of the scores of some reports."""

    reports: int
    """Reports with a score to begin with."""
    lost: int
    """Those of them that were to be scored again, and have no second score."""
    fell: int
    rose: int
    average: Estimate
    """Score afterwards less the one before, over the reports with both."""

    @property
    def scored(self) -> int:
        """How many reports have both scores."""
        return self.reports - self.lost

    @property
    def changed(self) -> float:
        """Share of changed scores, in ``[0, 1]``, among the reports with both."""
        return _quotient(self.fell + self.rose, self.scored)

    @property
    def changed_as_printed(self) -> float:
        """The same as the paper counts: a score that is lost is a changed one."""
        return _quotient(self.fell + self.rose + self.lost, self.reports)


def rates(shifts: FloatArray, among: BoolArray, *, average: Estimate) -> Rates:
    """Count what became of the reports `among` all.

    Parameters
    ----------
    shifts
        Shape ``(texts,)``: score afterwards less the one before, NaN where one is missing.
    among
        The same shape: which reports count.
    average
        Of these shifts.
    """
    told = shifts[among]
    return Rates(
        reports=int(among.sum()),
        lost=int(np.isnan(told).sum()),
        fell=int((told < 0).sum()),
        rose=int((told > 0).sum()),
        average=average,
    )


def _quotient(above: int, below: int) -> float:
    return above / below if below else math.nan
