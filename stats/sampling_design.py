"""Samples drawn by strata, with the chance of each item, and means that make up for them."""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from spanjury.stats.arrays import (
    FloatArray,
    checked_share,
    cluster_numbers,
    one_axis,
    safe_divide,
)

# Parts of an item, or of all weight, that are rounding.
ROUNDING = 1e-9


class StratifiedSample(NamedTuple):
    """Items drawn from strata."""

    chosen: NDArray[np.intp]
    """Shape ``(size,)``, ascending: indices of items."""
    inclusion: FloatArray
    """Shape ``(items,)``: the chance that each item had, chosen or not; above 0."""


class WeightedMean(NamedTuple):
    """A mean over all items from some of them, and the bounds of its confidence interval."""

    value: float
    low: float
    high: float
    error: float
    """The standard error."""
    items: int
    """Values that count."""
    clusters: int
    """Clusters with one."""
    effective: float
    """Number of values of equal chances that would weigh as much."""


def stratified(
    strata: ArrayLike,
    *,
    size: int,
    rng: Generator,
    least: int = 1,
    weights: ArrayLike | None = None,
) -> StratifiedSample:
    """Draw items from strata, without replacement, each item of a stratum with the same chance.

    Parameters
    ----------
    strata
        Shape ``(items,)``; labels of any kind that sorts.
    size
        How many items to draw: at least `least` of each stratum, or all of it where it is
        smaller, and no more than there are.
    rng
        Draws them.
    least
        Minimum drawn from each stratum, at least 1, so that each item has a chance.
    weights
        Shape ``(items,)``, finite, at least 0: how much is to be learnt from each item. A stratum
        gets its part of their sum: in proportion to its items where None, and with the standard
        deviation that is expected of an item the one of least error [1]_.

    Raises
    ------
    ValueError
        If a shape or a range is not as above.

    References
    ----------
    .. [1] Neyman (1934), Journal of the Royal Statistical Society 97(4):558-625,
       doi:10.2307/2342192; Cochran (1977), Sampling Techniques, 3rd ed., section 5.5

    Examples
    --------
    >>> sample = stratified(["a"] * 6 + ["b"] * 2, size=4, rng=np.random.default_rng(1))
    >>> sample.inclusion.tolist()
    [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]
    """
    labels = np.asarray(strata)
    if labels.ndim != 1 or least < 1:
        raise ValueError(f"expected one axis of strata and 1 or more, got {labels.shape}, {least}")
    where = cluster_numbers(labels, items=labels.size)
    counts = np.bincount(where)
    lowest = np.minimum(least, counts)
    if not lowest.sum() <= size <= labels.size or not labels.size:
        raise ValueError(
            f"expected a size from {lowest.sum()} for {counts.size} strata to {labels.size}, "
            f"got {size!r}"
        )
    given = _checked_weights(weights, items=labels.size)
    parts = np.bincount(where, given).astype(np.float64)
    drawn = _allocated(parts, lowest, counts, size=size)
    order = rng.permutation(labels.size)
    order = order[np.argsort(where[order], kind="stable")]
    rank = np.arange(labels.size) - np.repeat(np.cumsum(counts) - counts, counts)
    chosen = order[rank < np.repeat(drawn, counts)]
    return StratifiedSample(np.sort(chosen), (drawn / counts)[where])


def weighted_mean(
    values: ArrayLike,
    inclusion: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    confidence: float = 0.95,
) -> WeightedMean:
    """Estimate the mean over all items from those that were drawn, by Hájek's ratio [1]_.

    Parameters
    ----------
    values
        Shape ``(n,)``: of the items that were drawn; finite, or NaN where missing, which is
        skipped.
    inclusion
        Shape ``(n,)``, in ``(0, 1]``: the chance that each had to be drawn.
    clusters
        Shape ``(n,)``; labels of items that are correlated, or None if each is alone.
    confidence
        Level of the interval, in ``(0, 1)``.

    Returns
    -------
    WeightedMean
        With Student's interval, of the linearised ratio's variation between clusters [2]_, for
        items like these: not narrowed by the share that was drawn, nor by what strata explain,
        so wide rather than narrow. NaN without a value, and for the bounds with fewer than two
        clusters.

    Raises
    ------
    ValueError
        If a shape, a value or a range is not as above.

    References
    ----------
    .. [1] Hájek (1971), in Foundations of Statistical Inference, p. 236
    .. [2] Särndal, Swensson, Wretman (1992), Model Assisted Survey Sampling, section 5.7

    Examples
    --------
    >>> round(weighted_mean([1.0, 2.0, 4.0], [0.5, 0.25, 0.25]).value, 6)
    2.6
    """
    numbers, chances = one_axis(values), np.asarray(inclusion, dtype=np.float64)
    checked_share("confidence", confidence)
    if chances.shape != numbers.shape or not ((chances > 0) & (chances <= 1)).all():
        raise ValueError(f"expected {numbers.size} chances in (0, 1], got {inclusion!r}")
    where = cluster_numbers(clusters, items=numbers.size)
    present = ~np.isnan(numbers)
    numbers, where = numbers[present], where[present]
    shares = 1 / chances[present]
    shares = safe_divide(shares, shares.sum())
    if not numbers.size:
        return WeightedMean(np.nan, np.nan, np.nan, np.nan, 0, 0, 0.0)
    value = float(shares @ numbers)
    moves = np.bincount(where, shares * (numbers - value))
    groups = np.unique(where).size
    error = reach = np.nan
    if groups > 1:
        error = float(np.sqrt(moves @ moves * groups / (groups - 1)))
        reach = error * float(stdtrit(groups - 1, (1 + confidence) / 2))
    effective = float(1 / (shares @ shares))
    return WeightedMean(value, value - reach, value + reach, error, numbers.size, groups, effective)


def _checked_weights(weights: ArrayLike | None, *, items: int) -> FloatArray:
    if weights is None:
        return np.ones(items)
    given = np.asarray(weights, dtype=np.float64)
    if given.shape != (items,) or not (np.isfinite(given) & (given >= 0)).all():
        raise ValueError(f"expected {items} finite weights of 0 or more, got {weights!r}")
    return given


def _allocated(
    parts: FloatArray, lowest: NDArray[np.intp], counts: NDArray[np.intp], *, size: int
) -> NDArray[np.intp]:
    """Return how many items to draw of each stratum: `size` of all, in proportion to `parts`.

    No stratum gets fewer than its lowest or more than it has; parts of an item go to those that
    lack the most.
    """
    # Where all the weight is used up, what remains is shared out by number.
    parts = parts / (float(parts.sum()) or 1.0) + ROUNDING * counts / counts.sum()
    # The sum is a line between the scales at which a stratum leaves its lowest or is used up.
    scales = np.sort(np.concatenate([lowest / parts, counts / parts]))
    sums = np.clip(scales[:, np.newaxis] * parts, lowest, counts).sum(axis=1)
    wanted = np.clip(np.interp(size, sums, scales) * parts, lowest, counts)
    drawn: NDArray[np.intp] = np.floor(wanted + ROUNDING).astype(np.intp)
    most = np.argsort(drawn - wanted, kind="stable")[: size - int(drawn.sum())]
    drawn[most] += 1
    return drawn
