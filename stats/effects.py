"""Effect sizes: how far scores fall, independent of the number of items."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spanjury.stats.arrays import FloatArray, one_axis
from spanjury.stats.weighted import (
    Weighted,
    mean_drop,
    net_drop,
    on_sample,
    per_headroom,
    rank_biserial,
    ratio,
)


class DifferenceEffects(NamedTuple):
    """Effects of damage on scores."""

    used: int
    """Items with a difference."""
    missing: int
    """Items without a difference."""
    drop_share: float
    """Share of the used items whose score fell."""
    rise_share: float
    """Share of the used items whose score rose."""
    net_drop: float
    """The drop share minus the rise share: P(drop) - P(rise), in ``[-1, 1]``."""
    rank_biserial: float
    """Matched-pairs rank-biserial correlation, in ``[-1, 1]``; NaN if nothing changed."""
    mean_drop: float
    """In points of the scale."""


class ScaleEffects(NamedTuple):
    """The same relative to the scale: how many scores could fall, and how many are at an end."""

    used: int
    """Items with both scores."""
    with_room: int
    """Items whose clean score is above the worst."""
    drop_per_headroom: float
    """Mean difference over mean headroom, among items with headroom; 1 if all fell to the worst."""
    clean_floor: float
    """Share of clean scores at the worst."""
    clean_ceiling: float
    """Share of clean scores at the best."""
    damaged_floor: float
    """Share of damaged scores at the worst."""
    damaged_ceiling: float
    """Share of damaged scores at the best."""


def difference_effects(differences: ArrayLike) -> DifferenceEffects:
    """Describe differences of scores.

    Parameters
    ----------
    differences
        Shape ``(items,)``; clean minus damaged score, NaN if one of them is missing.

    Returns
    -------
    DropEffects
        Shares and means are NaN if every item is missing.

    Raises
    ------
    ValueError
        If a shape or a value is not as above.

    Examples
    --------
    >>> effects = difference_effects([1, 2, 0, -1])
    >>> effects.net_drop, effects.mean_drop
    (0.25, 0.5)
    >>> round(effects.rank_biserial, 3)  # ranks 1.5, 3 against 1.5
    0.5
    """
    values = one_axis(differences)
    missing = int(np.isnan(values).sum())
    return DifferenceEffects(
        used=values.size - missing,
        missing=missing,
        drop_share=_share(values, values > 0),
        rise_share=_share(values, values < 0),
        net_drop=_value(net_drop(values), values),
        rank_biserial=_value(rank_biserial(values), values),
        mean_drop=_value(mean_drop(values), values),
    )


def scale_effects(clean: ArrayLike, damaged: ArrayLike, *, low: float, high: float) -> ScaleEffects:
    """Describe clean and damaged scores against the ends of their scale.

    Parameters
    ----------
    clean, damaged
        Scores, shape ``(items,)`` each, in ``[low, high]``; NaN where missing. Pairs with
        one score are skipped.
    low, high
        The worst and the best score of the scale.

    Returns
    -------
    ScaleEffects
        Shares are NaN without a pair, and the drop per headroom without one that has headroom.

    Raises
    ------
    ValueError
        If a shape or a range is not as above.

    Examples
    --------
    >>> effects = scale_effects([5, 4, 1], [3, 1, 1], low=1, high=5)
    >>> round(effects.drop_per_headroom, 3)  # (2 + 3) of (4 + 3)
    0.714
    """
    before, after = one_axis(clean), one_axis(damaged)
    if before.shape != after.shape:
        raise ValueError(f"expected as many clean as damaged, got {before.size}, {after.size}")
    for scores in (before, after):
        if ((scores < low) | (scores > high)).any():
            raise ValueError(f"expected scores in [{low}, {high}], got {scores!r}")
    differences = before - after
    return ScaleEffects(
        used=int(np.isfinite(differences).sum()),
        with_room=int((np.isfinite(differences) & (before > low)).sum()),
        drop_per_headroom=_value(per_headroom(before, after, low=low), differences),
        clean_floor=_share(differences, before <= low),
        clean_ceiling=_share(differences, before >= high),
        damaged_floor=_share(differences, after <= low),
        damaged_ceiling=_share(differences, after >= high),
    )


def _share(differences: FloatArray, such: NDArray[np.bool_]) -> float:
    """Return the share of `such` items among those that are not missing."""
    return _value(ratio(np.where(np.isnan(differences), np.nan, such)), differences)


def _value(effect: Weighted, differences: FloatArray) -> float:
    return float(on_sample(effect, items=differences.size))
