"""Drops: by how much each item's score fell when its text was damaged."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["FloatArray", "checked_drops", "one_axis"]

FloatArray = NDArray[np.float64]


def checked_drops(drops: ArrayLike) -> FloatArray:
    """Return `drops` as an array, after a look at what is in it.

    Parameters
    ----------
    drops
        Shape ``(..., items)``; clean minus damaged score. NaN where one of them is missing.

    Raises
    ------
    ValueError
        If there is no axis of items, or a value is infinite.
    """
    values = np.asarray(drops, dtype=np.float64)
    if values.ndim == 0 or np.isinf(values).any():
        raise ValueError(f"expected an array of finite or missing values, got {drops!r}")
    return values


def one_axis(drops: ArrayLike) -> FloatArray:
    """Return `drops`, shape ``(items,)``, as an array; raise ValueError for another shape."""
    values = checked_drops(drops)
    if values.ndim != 1:
        raise ValueError(f"expected one axis, of items, got the shape {values.shape}")
    return values
