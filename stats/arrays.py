"""Validation of arrays, mostly of differences: how far an item's score fell after damage."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]

_DIGITS = 6
"""Decimals of a sum: 5 - 14 / 3 is to tie with 13 / 3 - 4, and scores keep nine decimals."""


def checked_differences(differences: ArrayLike) -> FloatArray:
    """Return `differences` as a validated array.

    Raises `ValueError` if there is no axis of items, or a value is infinite.

    Parameters
    ----------
    differences
        Shape ``(..., items)``; clean minus damaged score. NaN if one of them is missing.
    """
    values = np.asarray(differences, dtype=np.float64)
    if values.ndim == 0 or np.isinf(values).any():
        raise ValueError(f"expected an array of finite or missing values, got {differences!r}")
    return values


def one_axis(differences: ArrayLike) -> FloatArray:
    """Return `differences` as an array ``(items,)``; raises ValueError for another shape."""
    values = checked_differences(differences)
    if values.ndim != 1:
        raise ValueError(f"expected one axis, of items, got the shape {values.shape}")
    return values


def safe_divide(above: ArrayLike, below: ArrayLike) -> FloatArray:
    """Divide arrays whose shapes broadcast; NaN, without a warning, if the divisor is 0.

    Examples
    --------
    >>> safe_divide([1.0, 1.0], [4.0, 0.0]).tolist()
    [0.25, nan]
    """
    divided, divisor = np.broadcast_arrays(
        np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    )
    quotient = np.full(divided.shape, np.nan)
    np.divide(divided, divisor, out=quotient, where=divisor != 0)
    return quotient


def mean_of_defined(values: ArrayLike) -> FloatArray:
    """Return means over the last axis without what is NaN; NaN, without a warning, of nothing.

    Examples
    --------
    >>> mean_of_defined([[1.0, 2.0], [3.0, np.nan], [np.nan, np.nan]]).tolist()
    [1.5, 3.0, nan]
    """
    array = np.asarray(values, dtype=np.float64)
    return safe_divide(np.nansum(array, axis=-1), np.sum(~np.isnan(array), axis=-1))


def cluster_numbers(clusters: ArrayLike | None, *, items: int) -> NDArray[np.intp]:
    """Return the number of each item's cluster, from 0; if None, every item is its own.

    Labels are of any sortable type, shape ``(items,)``; raises ValueError for another shape.

    Examples
    --------
    >>> cluster_numbers(["b", "a", "b"], items=3).tolist()
    [1, 0, 1]
    """
    if clusters is None:
        return np.arange(items)
    labels = np.asarray(clusters)
    if labels.shape != (items,):
        raise ValueError(f"expected one cluster of each of {items} items, got {labels.shape}")
    return np.unique(labels, return_inverse=True)[1]


def cluster_sums(values: ArrayLike, numbers: NDArray[np.intp]) -> FloatArray:
    """Return the sums over each cluster, rounded so that equal ones tie; missing values count 0.

    Parameters
    ----------
    values
        Shape ``(..., items)``; finite, or NaN where missing.
    numbers
        Shape ``(items,)``: number of each item's cluster, from `cluster_numbers`.

    Returns
    -------
    numpy.ndarray
        Shape ``(..., clusters)``; NaN for a cluster of which every value is missing.

    Examples
    --------
    >>> cluster_sums([1.0, 2.0, np.nan, np.nan], np.array([0, 0, 0, 1])).tolist()
    [3.0, nan]
    """
    by_item = np.moveaxis(np.asarray(values, dtype=np.float64), -1, 0)
    sums = np.zeros((int(numbers.max(initial=-1)) + 1, *by_item.shape[1:]))
    present = np.zeros_like(sums)
    np.add.at(sums, numbers, np.nan_to_num(by_item))
    np.add.at(present, numbers, ~np.isnan(by_item))
    return np.moveaxis(np.where(present > 0, sums.round(_DIGITS), np.nan), 0, -1)


def checked_share(name: str, share: float) -> float:
    """Return `share`, called `name`, if it is in ``(0, 1)``; raises ValueError otherwise."""
    if not 0 < share < 1:
        raise ValueError(f"expected a {name} in (0, 1), got {share!r}")
    return share
