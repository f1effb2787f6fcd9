"""Tests that two correlations are equal which were measured on the same items.

All are for Pearson correlations of items that are independent and normally distributed. They
take numbers or arrays that broadcast, and answer NaN where a test is undefined.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, stdtr

from spanjury.stats.arrays import FloatArray, safe_divide

LEAST_ITEMS = 4

# What is nearer than this to a bound is there but for rounding.
NOISE = 1e-12


class DependentTest(NamedTuple):
    """Of the null that two correlations are equal; in the broadcast shape of the arguments."""

    statistic: FloatArray
    """Above 0 where the first correlation is the higher."""
    p_greater: FloatArray
    """One-sided: that the first is higher."""
    p_two_sided: FloatArray


def williams(
    first: ArrayLike, second: ArrayLike, *, between: ArrayLike, items: ArrayLike
) -> DependentTest:
    """Test by Williams' t whether one of two metrics correlates more with people [1]_, [2]_.

    Parameters
    ----------
    first, second
        Each metric's correlation with people, in ``[-1, 1]`` or NaN.
    between
        The correlation between the metrics, likewise.
    items
        How many each correlation is of.

    Returns
    -------
    DependentTest
        With t of ``items - 3`` degrees of freedom. NaN for fewer than 4 items, correlations
        that cannot be together, and two metrics that are the same.

    Raises
    ------
    ValueError
        If a correlation is outside its range.

    References
    ----------
    .. [1] Williams (1959), Regression Analysis, Wiley, as given in
       Graham, Baldwin (2014), EMNLP, pages 172-176, doi:10.3115/v1/D14-1020
    .. [2] Steiger (1980), Psychological Bulletin 87(2):245-251, eq. 7

    Examples
    --------
    >>> test = williams(0.4, 0.5, between=0.1, items=103)
    >>> round(float(test.statistic), 2), round(float(test.p_two_sided), 2)
    (-0.89, 0.37)
    """
    one, other, shared = (_checked(r) for r in (first, second, between))
    count, known = _counted(items)
    room = 1 - one**2 - other**2 - shared**2 + 2 * one * other * shared
    possible = known & (shared < 1) & (room >= -NOISE)
    below = 2 * np.maximum(room, 0) * (count - 1) / (count - 3)
    below = below + ((one + other) / 2) ** 2 * (1 - shared) ** 3
    above = (one - other) * np.sqrt((count - 1) * (1 + shared))
    t = np.where(possible, safe_divide(above, np.sqrt(np.where(possible, below, 0.0))), np.nan)
    return _answer(t, lambda at: stdtr(count - 3, -at))


def steiger(
    first: ArrayLike, second: ArrayLike, *, between: ArrayLike, items: ArrayLike
) -> DependentTest:
    """Test by Steiger's Z whether one of two metrics correlates more with people [1]_.

    Parameters
    ----------
    first, second, between, items
        As in `williams`.

    Returns
    -------
    DependentTest
        With a standard normal Z, of Fisher's transforms. NaN for fewer than 4 items, a
        correlation of 1 or -1, and two metrics that are the same.

    Raises
    ------
    ValueError
        If a correlation is outside its range.

    References
    ----------
    .. [1] Steiger (1980), Psychological Bulletin 87(2):245-251, eq. 10 and 14,
       doi:10.1037/0033-2909.87.2.245
    """
    one, other, shared = (_checked(r) for r in (first, second, between))
    mean = (one + other) / 2
    covariance = shared * (1 - 2 * mean**2) - mean**2 * (1 - 2 * mean**2 - shared**2) / 2
    return _fisher(one, other, safe_divide(covariance, (1 - mean**2) ** 2), items=items)


def dunn_clark(
    first: ArrayLike, second: ArrayLike, *, across: ArrayLike, items: ArrayLike
) -> DependentTest:
    """Test whether two correlations are equal that have no variable in common [1]_.

    Such as: whether a metric follows one aspect better than another metric another aspect.

    Parameters
    ----------
    first, second
        The correlations of variables 1 and 2, and of 3 and 4; in ``[-1, 1]`` or NaN.
    across
        The correlations of 1 and 3, 1 and 4, 2 and 3, and 2 and 4, in this order along the
        last axis, of length 4.
    items
        How many each correlation is of.

    Returns
    -------
    DependentTest
        With a standard normal Z, of Fisher's transforms; NaN as in `steiger`.

    Raises
    ------
    ValueError
        If a shape or a range is not as above.

    References
    ----------
    .. [1] Dunn, Clark (1969), JASA 64(325):366-377, eq. 9 and 15,
       doi:10.1080/01621459.1969.10500981
    """
    one, other, others = (_checked(r) for r in (first, second, across))
    if others.ndim == 0 or others.shape[-1] != 4:  # noqa: PLR2004 - pairs across
        raise ValueError(f"expected four correlations across, got the shape {others.shape}")
    r13, r14, r23, r24 = np.moveaxis(others, -1, 0)
    covariance = one * other * (r13**2 + r14**2 + r23**2 + r24**2) / 2
    covariance = covariance + r13 * r24 + r14 * r23
    covariance -= one * (r13 * r14 + r23 * r24) + other * (r13 * r23 + r14 * r24)
    spread = (1 - one**2) * (1 - other**2)
    return _fisher(one, other, safe_divide(covariance, spread), items=items)


def _fisher(
    first: FloatArray, second: FloatArray, overlap: FloatArray, *, items: ArrayLike
) -> DependentTest:
    """Compare Fisher's transforms, whose own correlation is `overlap`."""
    count, known = _counted(items)
    possible = known & (np.abs(first) < 1) & (np.abs(second) < 1) & (overlap < 1 - NOISE)
    one, other = (np.arctanh(np.where(possible, r, 0.0)) for r in (first, second))
    variance = (2 - 2 * np.where(possible, overlap, 0.0)) / (count - 3)
    z = np.where(possible, (one - other) / np.sqrt(variance), np.nan)
    return _answer(z, lambda at: ndtr(-at))


def _answer(statistic: FloatArray, above: Callable[[FloatArray], ArrayLike]) -> DependentTest:
    """Return the test, of a statistic whose chance to be higher is `above` it."""
    one_sided, half = (np.asarray(above(at)) for at in (statistic, np.abs(statistic)))
    return DependentTest(statistic, one_sided, 2 * half)


def _checked(correlation: ArrayLike) -> FloatArray:
    values = np.asarray(correlation, dtype=np.float64)
    if (np.abs(values) > 1).any():
        raise ValueError(f"expected correlations in [-1, 1], got {correlation!r}")
    return values


def _counted(items: ArrayLike) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return the items, 4 where they are too few, and whether they are not."""
    count = np.asarray(items, dtype=np.float64)
    known = count >= LEAST_ITEMS
    return np.where(known, count, LEAST_ITEMS), known
