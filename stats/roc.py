"""The ROC curve: how well a score separates items with a property from items without it.

A higher score means that the item is more likely to have it. An item is NaN and skipped if it has
no score, or if its property is unknown. Items with the same score pass a threshold together.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spanjury.stats.arrays import FloatArray, one_axis, safe_divide
from spanjury.stats.weighted import Weighted, on_sample

# Shares computed from counts may differ from a bound by this much because of rounding.
NOISE = 1e-12
ByLevel = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
"""Counts, shape ``(draws, items)`` -> items with and without the property at each level."""


def auroc(scores: ArrayLike, positive: ArrayLike) -> float:
    """Return the area under the curve: P(a positive item scores higher), ties counting half.

    Parameters
    ----------
    scores
        Shape ``(items,)``; finite, or NaN for an item that is skipped.
    positive
        The same shape; 1 for an item with the property, 0 for one without, or NaN.

    Returns
    -------
    float
        In ``[0, 1]``; NaN unless there are items of both kinds.

    Raises
    ------
    ValueError
        If a shape or a value is not as above.

    References
    ----------
    .. [1] Hanley, McNeil (1982), Radiology 143(1):29-36, doi:10.1148/radiology.143.1.7063747

    Examples
    --------
    >>> auroc([3, 2, 2, 1], [1, 1, 0, 0])
    0.875
    """
    return _on_items(auroc_effect, scores, positive)


def auroc_effect(scores: ArrayLike, positive: ArrayLike) -> Weighted:
    """Return the result of `auroc` as an effect for `bootstrap`, shape ``(draws,)``."""
    _, at_levels = by_level(scores, positive)

    def weighted(counts: FloatArray) -> FloatArray:
        has, lacks = at_levels(counts)
        lower = np.cumsum(lacks, axis=1) - lacks / 2
        pairs = has.sum(axis=1) * lacks.sum(axis=1)
        return safe_divide(np.sum(has * lower, axis=1), pairs)

    return weighted


def caught_share(scores: ArrayLike, positive: ArrayLike, *, false_alarms: float) -> float:
    """Return the share of positive items above the best threshold with few false alarms.

    The threshold is optimal for the items given, so that the share is optimistic for others.
    A threshold above all scores catches none, and is always allowed.

    Parameters
    ----------
    scores, positive
        As in `auroc`.
    false_alarms
        Maximum share of the other items that may be above the threshold, in ``[0, 1]``.

    Returns
    -------
    float
        In ``[0, 1]``; NaN unless there are items of both kinds.

    Raises
    ------
    ValueError
        If a shape or a value is not as above.

    Examples
    --------
    >>> caught_share([4, 3, 2, 1], [1, 0, 1, 0], false_alarms=0.2)
    0.5
    """
    return _on_items(
        lambda *items: caught_effect(*items, false_alarms=false_alarms), scores, positive
    )


def caught_effect(scores: ArrayLike, positive: ArrayLike, *, false_alarms: float) -> Weighted:
    """Return the result of `caught_share` as an effect for `bootstrap`, shape ``(draws,)``.

    Every draw has its own threshold.
    """
    if not 0 <= false_alarms <= 1:
        raise ValueError(f"expected a share in [0, 1], got {false_alarms!r}")
    _, at_levels = by_level(scores, positive)

    def weighted(counts: FloatArray) -> FloatArray:
        # Thresholds from the highest score down.
        caught, alarms = (np.cumsum(part[:, ::-1], axis=1) for part in at_levels(counts))
        has, lacks = (part.max(axis=1, initial=0.0) for part in (caught, alarms))
        allowed = alarms <= (false_alarms + NOISE) * lacks[:, np.newaxis]
        best = np.max(np.where(allowed, caught, 0.0), axis=1, initial=0.0)
        return safe_divide(best, np.where(lacks > 0, has, 0.0))

    return weighted


def by_level(scores: ArrayLike, positive: ArrayLike) -> tuple[FloatArray, ByLevel]:
    """Return the distinct scores, ascending, and a function counting both kinds of items at each.

    Raises `ValueError` under the conditions of `auroc`.
    """
    values, has = one_axis(scores), one_axis(positive)
    if values.shape != has.shape or not np.isin(has[~np.isnan(has)], (0, 1)).all():
        raise ValueError(f"expected 0 or 1 for each score, got {positive!r} for {scores!r}")
    kept: NDArray[np.intp] = np.flatnonzero(~np.isnan(values + has))
    kept = kept[np.argsort(values[kept], kind="stable")]
    levels, starts = np.unique(values[kept], return_index=True)

    def counted(counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        if not kept.size:  # there is no level to sum over
            return np.zeros((len(counts), 0)), np.zeros((len(counts), 0))
        drawn, sort = counts[:, kept], has[kept]
        having, lacking = (
            np.add.reduceat(drawn * kind, starts, axis=1) for kind in (sort, 1 - sort)
        )
        return having, lacking

    return levels, counted


def _on_items(
    effect: Callable[[ArrayLike, ArrayLike], Weighted], scores: ArrayLike, positive: ArrayLike
) -> float:
    return float(on_sample(effect(scores, positive), items=np.asarray(scores).size))
