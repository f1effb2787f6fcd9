"""The harmonic mean of dependent p-values: as printed, as normalised, and calibrated."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from scipy.stats import landau

from spanjury.stats.combination.combining import weighted_values

LOCATION = 0.874367  # [1] eq. 4: 1 + psi(1) - log(2 / pi)
SCALE = math.pi / 2
LOG_AS_IT_IS = math.log(1e-6)
"""Below this the calibration changes a p-value by less than two parts in 100,000."""


def harmonic_mean_paper(
    log_p: ArrayLike, *, weights: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Combine p-values as DHP prints it: ``1 / sum(1 / p)`` or ``1 / sum(w / p)``.

    Parameters
    ----------
    log_p
        Natural logarithms of ``m`` p-values; shape ``(..., m)``.
    weights
        Shape ``(m,)``, not negative, sum 1. None is the unweighted formula, whose weights
        are all 1: equal weights are not the same.

    Returns
    -------
    array
        Shape ``(...)``, of logarithms; NaN where a p-value with a weight is.

    Raises
    ------
    ValueError
        If a shape or a range is not as above.

    Notes
    -----
    This is no p-value: the unweighted one lacks the factor ``m``, so that of four independent
    p-values without any effect it is below .05 in 30 % of cases. To compare with the paper
    only.

    References
    ----------
    .. [1] Wang et al. (2024), DHP Benchmark, section 3.3.2, arXiv:2408.13704

    Examples
    --------
    >>> round(float(np.exp(harmonic_mean_paper(np.log([0.1, 0.2])))), 4)
    0.0667
    """
    if weights is None:
        values, shares = weighted_values(log_p, weights=None)
        return _log_harmonic_mean(values, np.ones_like(shares))
    return harmonic_mean_wilson(log_p, weights=weights)


def harmonic_mean_wilson(
    log_p: ArrayLike, *, weights: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Combine p-values by their weighted harmonic mean, normalised, without calibration.

    Parameters
    ----------
    log_p
        Natural logarithms of ``m`` p-values; shape ``(..., m)``.
    weights
        Shape ``(m,)``, not negative, sum 1; equal if None.

    Returns
    -------
    array
        Shape ``(...)``, of logarithms, between the least and the greatest of those with a
        weight; NaN where one of these is.

    Raises
    ------
    ValueError
        If a shape or a range is not as above.

    Notes
    -----
    Read as a p-value it is somewhat anti-conservative: compare it with `landau_threshold`.

    References
    ----------
    .. [1] Wilson (2019), PNAS 116(4):1195-1200, doi:10.1073/pnas.1814092116
    """
    return _log_harmonic_mean(*weighted_values(log_p, weights=weights))


def harmonic_mean_calibrated(
    log_p: ArrayLike, *, weights: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Combine p-values by their weighted harmonic mean, calibrated to be a p-value.

    Parameters
    ----------
    log_p
        Natural logarithms of ``m`` p-values; shape ``(..., m)``.
    weights
        Shape ``(m,)``, not negative, sum 1; equal if None.

    Returns
    -------
    array
        Shape ``(...)``, of logarithms, never below the harmonic mean's; of a single p-value
        with a weight, its own. NaN where one of those with a weight is.

    Raises
    ------
    ValueError
        If a shape or a range is not as above.

    Notes
    -----
    The inverse of the harmonic mean of many independent p-values follows Landau's
    distribution [1]_; dependence matters little. The location is that of equal weights,
    and for others a little conservative. Above .6 or so, where the approximation falls
    below the harmonic mean itself, the harmonic mean stands: p-values of 1 combine to 1.

    References
    ----------
    .. [1] Wilson (2019), PNAS 116(4):1195-1200, eq. 4, doi:10.1073/pnas.1814092116
    """
    values, shares = weighted_values(log_p, weights=weights)
    mean = _log_harmonic_mean(values, shares)
    if shares.size == 1:
        return mean
    inverse = np.exp(-np.maximum(mean, LOG_AS_IT_IS))
    tail = np.log(landau.sf(inverse, loc=_location(shares.size), scale=SCALE))
    return np.where(mean < LOG_AS_IT_IS, mean, np.maximum(mean, tail))


def landau_threshold(count: int, *, alpha: float = 0.05) -> float:
    """Return the harmonic mean of `count` p-values at and below which they are significant.

    Parameters
    ----------
    count
        How many p-values were combined, at least 1.
    alpha
        The level of significance, in ``(0, 1)``.

    Raises
    ------
    ValueError
        If a range is not as above.

    Examples
    --------
    >>> [round(landau_threshold(count), 4) for count in (2, 3, 4)]
    [0.0424, 0.0417, 0.0412]
    """
    if count < 1 or not 0 < alpha < 1:
        raise ValueError(f"expected a count >= 1 and alpha in (0, 1), got {count!r}, {alpha!r}")
    if count == 1:
        return alpha
    return min(alpha, 1 / float(landau.isf(alpha, loc=_location(count), scale=SCALE)))


def _location(count: int) -> float:
    return math.log(count) + LOCATION


def _log_harmonic_mean(
    log_p: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    return np.asarray(-logsumexp(-log_p, b=weights, axis=-1))
