"""Correlations of scores with weights, such as those of a sample."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from spanjury.stats.arrays import FloatArray, safe_divide
from spanjury.stats.ranks import weighted_midranks

WeighedMethod = Literal["pearson", "spearman"]


def weighted_correlation(
    first: ArrayLike,
    second: ArrayLike,
    *,
    weights: ArrayLike,
    method: WeighedMethod = "spearman",
) -> FloatArray:
    """Correlate two scores of weighted items.

    Raise `ValueError` if a shape or a value is not as described.

    With weights of the reciprocal of the inclusion probability, the items of a sample estimate the
    correlation of all items [1]_. A weight of 2 counts like the same item twice.

    Parameters
    ----------
    first, second
        Shape ``(items,)``, finite.
    weights
        Shape ``(..., items)``, nonnegative: for a bootstrap, a row for each draw.
    method
        ``spearman`` correlates weighted midranks.

    Returns
    -------
    array
        Shape ``(...)``, in [-1, 1]; NaN if one of the scores does not vary.

    References
    ----------
    .. [1] Särndal, Swensson, Wretman (1992), Model Assisted Survey Sampling, section 5.9

    Examples
    --------
    >>> float(weighted_correlation([1, 2, 3], [1, 3, 2], weights=[1, 1, 1]))
    0.5
    """
    x, y, w = (np.asarray(values, dtype=np.float64) for values in (first, second, weights))
    if x.ndim != 1 or x.shape != y.shape or w.shape[-1:] != x.shape:
        raise ValueError(f"expected scores (items,), got {x.shape}, {y.shape} and {w.shape}")
    if not (np.isfinite(x).all() and np.isfinite(y).all() and (w >= 0).all()):
        raise ValueError("expected finite scores, and weights of 0 or more")
    if method == "spearman":
        x, y = weighted_midranks(x, w), weighted_midranks(y, w)
    total = w.sum(axis=-1, keepdims=True)
    x, y = (
        values - safe_divide((w * values).sum(axis=-1, keepdims=True), total) for values in (x, y)
    )
    both, ours, theirs = ((w * products).sum(axis=-1) for products in (x * y, x * x, y * y))
    scale = np.sqrt(ours * theirs)
    varies = scale > np.finfo(np.float64).eps * np.maximum(total[..., 0], 1.0)
    correlation = safe_divide(np.where(varies, both, np.nan), np.where(varies, scale, np.nan))
    return np.asarray(np.clip(correlation, -1.0, 1.0))
