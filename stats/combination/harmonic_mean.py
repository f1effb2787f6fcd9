"""The harmonic mean of dependent p-values: as in the paper, normalized, and calibrated."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from spanjury.stats.combination.combining import weighted_values

LOCATION = 0.874367  # [1] eq. 4: 1 + psi(1) - log(2 / pi)
SCALE = math.pi / 2
LOG_AS_IT_IS = math.log(1e-6)
"""Below this, the calibration changes a p-value by less than two parts in 100,000."""


def harmonic_mean_paper(
    log_p: ArrayLike, *, weights: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Combine p-values by the formulas of DHP: ``1 / sum(1 / p)`` or ``1 / sum(w / p)``.

    Parameters
    ----------
    log_p
        Natural logarithms of ``m`` p-values; shape ``(..., m)``.
    weights
        Shape ``(m,)``, nonnegative, sum 1. None means the unweighted formula, whose weights
        are all 1, unlike equal weights.

    Returns
    -------
    array
        Shape ``(...)``, of logarithms; NaN if a p-value with nonzero weight is NaN.

    Raises
    ------
    ValueError
        If a shape or a range is not as above.

    Notes
    -----
    This is not a p-value: the unweighted one lacks the factor ``m``, so that for four
    independent p-values without any effect it is below 0.05 in 30 % of cases. Only for
    comparison with the paper.

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
    """Combine p-values by their weighted harmonic mean, normalized, without calibration.

    Parameters
    ----------
    log_p
        Natural logarithms of ``m`` p-values; shape ``(..., m)``.
    weights
        Shape ``(m,)``, not negative, sum 1; equal if None.

    Returns
    -------
    array
        Shape ``(...)``, of logarithms, between the minimum and the maximum of those with
        nonzero weight; NaN if one of these is NaN.

    Raises
    ------
    ValueError
        If a shape or a range is not as above.

    Notes
    -----
    As a p-value it is slightly anti-conservative: compare it with `landau_threshold`.

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
        Shape ``(...)``, of logarithms, at least that of the harmonic mean; a single p-value
        with nonzero weight is unchanged. NaN if one of those with nonzero weight is NaN.

    Raises
    ------
    ValueError
        If a shape or a range is not as above.

    Notes
    -----
    The inverse of the harmonic mean of many independent p-values follows Landau's
    distribution [1]_; dependence matters little. The location is that of equal weights,
    and slightly conservative for others. Above about 0.6, where the approximation is below
    the harmonic mean itself, the harmonic mean is used: p-values of 1 combine to 1.

    References
    ----------
    .. [1] Wilson (2019), PNAS 116(4):1195-1200, eq. 4, doi:10.1073/pnas.1814092116
    """
    values, shares = weighted_values(log_p, weights=weights)
    mean = _log_harmonic_mean(values, shares)
    if shares.size == 1:
        return mean
    inverse = np.exp(-np.maximum(mean, LOG_AS_IT_IS))
    from scipy.stats import landau  # noqa: PLC0415  a second, which most commands do without

    tail = np.log(landau.sf(inverse, loc=_location(shares.size), scale=SCALE))
    return np.where(mean < LOG_AS_IT_IS, mean, np.maximum(mean, tail))


def landau_threshold(count: int, *, alpha: float = 0.05) -> float:
    """Return the largest harmonic mean of `count` p-values that is significant.

    Parameters
    ----------
    count
        Number of combined p-values, at least 1.
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
    from scipy.stats import landau  # noqa: PLC0415  as above

    return min(alpha, 1 / float(landau.isf(alpha, loc=_location(count), scale=SCALE)))


def _location(count: int) -> float:
    return math.log(count) + LOCATION


def _log_harmonic_mean(
    log_p: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    return np.asarray(-logsumexp(-log_p, b=weights, axis=-1))
