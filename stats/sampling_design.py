"""Stratified samples with the inclusion probability of each item, and means weighted by it."""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from spanjury.stats.arrays import FloatArray, checked_share, cluster_numbers, one_axis, safe_divide

# Fractions of an item, or of the total weight, that are due to rounding.
ROUNDING = 1e-9


class StratifiedSample(NamedTuple):
    """Items drawn from strata."""

    chosen: NDArray[np.intp]
    """Shape ``(size,)``, ascending: indices of items."""
    inclusion: FloatArray
    """Shape ``(items,)``: inclusion probability of each item, chosen or not; above 0."""


class WeightedMean(NamedTuple):
    """A mean over all items estimated from some of them, and its confidence interval."""

    value: float
    low: float
    high: float
    error: float
    """The standard error."""
    items: int
    """Number of values used."""
    clusters: int
    """Number of clusters with a value."""
    effective: float
    """Number of equally probable values with the same weight."""


def stratified(
    strata: ArrayLike,
    *,
    size: int,
    rng: Generator,
    least: int = 1,
    weights: ArrayLike | None = None,
) -> StratifiedSample:
    """Draw items from strata without replacement, with equal probability within a stratum.

    Parameters
    ----------
    strata
        Shape ``(items,)``; labels of any kind that sorts.
    size
        Number of items to draw: at least `least` from each stratum, or all of it if it is
        smaller, and at most all items.
    rng
        Generator of the draws.
    least
        Minimum number from each stratum, at least 1, so that each item can be drawn.
    weights
        Shape ``(items,)``, finite, at least 0: the expected information of each item. The size of
        a stratum is proportional to the sum of its weights. If None, it is proportional to the
        number of items. With the expected standard deviation of each item, the error is
        minimal [1]_.

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
    """Estimate the mean over all items from the drawn ones by Hájek's ratio [1]_.

    Parameters
    ----------
    values
        Shape ``(n,)``: of the drawn items; finite, or NaN where missing, which is skipped.
    inclusion
        Shape ``(n,)``, in ``(0, 1]``: inclusion probability of each.
    clusters
        Shape ``(n,)``; labels of groups of correlated items; None if all are independent.
    confidence
        Level of the interval, in ``(0, 1)``.

    Returns
    -------
    WeightedMean
        With Student's interval, from the variation of the linearized ratio between clusters
        [2]_, for items like these. It takes neither the sampled share nor the strata into account,
        and so is conservative. NaN without a value, and for the bounds with fewer than two
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
    """Return the number of items to draw from each stratum: `size` in all, proportional to `parts`.

    No stratum gets fewer than its minimum or more than it has; remainders go to the strata that
    lack the most.
    """
    # If all the weight is used up, the rest is allocated by number of items.
    parts = parts / (float(parts.sum()) or 1.0) + ROUNDING * counts / counts.sum()
    # The sum is linear between the scales at which a stratum leaves its minimum or is used up.
    scales = np.sort(np.concatenate([lowest / parts, counts / parts]))
    sums = np.clip(scales[:, np.newaxis] * parts, lowest, counts).sum(axis=1)
    wanted = np.clip(np.interp(size, sums, scales) * parts, lowest, counts)
    drawn: NDArray[np.intp] = np.floor(wanted + ROUNDING).astype(np.intp)
    most = np.argsort(drawn - wanted, kind="stable")[: size - int(drawn.sum())]
    drawn[most] += 1
    return drawn
