"""Totals estimated from a sample."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from spanjury.stats.arrays import checked_share


class TotalEstimate(NamedTuple):
    """A total, and the bounds of its confidence interval."""

    total: float
    low: float
    high: float


def estimated_total(
    sample: ArrayLike, *, population: int, confidence: float = 0.95
) -> TotalEstimate:
    """Estimate the sum over a population from a simple random sample of it.

    Raise `ValueError` if a shape or a range is not as described.

    Parameters
    ----------
    sample
        Shape ``(n,)``, ``1 <= n <= population``; drawn without replacement. Finite.
    population
        Number of values in the population.
    confidence
        Level of the interval, in ``(0, 1)``.

    Returns
    -------
    TotalEstimate
        With Student's interval [1]_, corrected for the finite population. The bounds are
        NaN for a sample of one from a larger population. They may be negative even if the
        values cannot be.

    References
    ----------
    .. [1] Cochran (1977), Sampling Techniques, 3rd ed., sections 2.5 to 2.8

    Examples
    --------
    >>> estimate = estimated_total([1.0, 2.0, 3.0], population=30)
    >>> [round(value, 1) for value in estimate]
    [60.0, -10.7, 130.7]
    """
    values = np.asarray(sample, dtype=np.float64)
    if values.ndim != 1 or not 1 <= values.size <= population or not np.isfinite(values).all():
        raise ValueError(f"expected 1 to {population} finite values, got {sample!r}")
    checked_share("confidence", confidence)
    total = population * float(values.mean())
    if values.size == population:
        return TotalEstimate(total, total, total)
    if values.size == 1:
        return TotalEstimate(total, np.nan, np.nan)
    left_out = 1 - values.size / population
    error = population * float(np.sqrt(left_out * values.var(ddof=1) / values.size))
    reach = float(stdtrit(values.size - 1, (1 + confidence) / 2)) * error
    return TotalEstimate(total, total - reach, total + reach)
