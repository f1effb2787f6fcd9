"""The bootstrap: how effects would vary with other items of the same kind.

Items are drawn with replacement, each with all its perturbations and aspects. Their dependence in
a draw is the same as in the sample, so that effects may be averaged or subtracted draw by draw, and
two judges are compared on the same items.
"""

import math
from functools import cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from spanjury.stats.arrays import FloatArray, checked_share
from spanjury.stats.weighted import BLOCK, Weighted, on_sample

# Bisections of an angle, to the precision of a float.
_HALVINGS = 52

# Smaller differences of scores are due to rounding.
NOISE = 1e-12


class Resampled(NamedTuple):
    """Effects in the sample, and in samples drawn from it.

    Row i of `draws` consists of the same items in every cell. Means over cells, differences
    between cells and their intervals result from the same operation on both arrays.
    """

    estimate: FloatArray
    """Shape ``(...)``."""
    draws: FloatArray
    """Shape ``(draws, ...)``; NaN where an effect is undefined."""
    items: int | None = None
    """The number of items that were drawn from; None if several kinds of them were."""


class Jackknifed(NamedTuple):
    """Effects in the sample, and their standard errors, of one shape."""

    estimate: FloatArray
    error: FloatArray


class Interval(NamedTuple):
    """Bounds, in the shape of the estimate."""

    low: FloatArray
    high: FloatArray


class Estimate(NamedTuple):
    """A value and the bounds of its interval; NaN if undefined."""

    value: float = np.nan
    low: float = np.nan
    high: float = np.nan


def bootstrap(effect: Weighted, *, items: int, rng: Generator, draws: int = 10_000) -> Resampled:
    """Resample items.

    Parameters
    ----------
    effect
        A function of the weight of each item, from `spanjury.stats.weighted`.
    items
        Number of items, at least 1.
    rng
        Generator of the draws; the same state draws the same items for every effect.
    draws
        Number of samples of `items` items to draw, at least 1.

    Returns
    -------
    Resampled
        The draws are NaN if there is one item only, which shows nothing about others.

    Raises
    ------
    ValueError
        If there is nothing to draw.
    """
    if items < 1 or draws < 1:
        raise ValueError(f"expected items and draws, got {items!r} and {draws!r}")
    step = max(1, BLOCK // items)
    sizes = (min(step, draws - done) for done in range(0, draws, step))
    drawn = np.concatenate([effect(_counts(items, size, rng)) for size in sizes])
    if items == 1:  # every draw is the sample, which does not show that others would be like it
        drawn = np.full_like(drawn, np.nan)
    return Resampled(on_sample(effect, items=items), drawn, items)


def jackknife(effect: Weighted, *, items: int) -> Jackknifed:
    """Leave out each item in turn [1]_.

    For Student's interval of an effect that is not a mean of items, where draws vary too little.

    Parameters
    ----------
    effect
        As in `bootstrap`.
    items
        Number of items, at least 1; with one, errors are NaN.

    References
    ----------
    .. [1] Efron, Stein (1981), Annals of Statistics 9(3):586-596, doi:10.1214/aos/1176345462

    Examples
    --------
    >>> from spanjury.stats.weighted import mean_drop
    >>> [float(each) for each in jackknife(mean_drop([1.0, 2.0, 3.0]), items=3)]  # sqrt(1 / 3)
    [2.0, 0.5773502691896257]
    """
    left = effect(1 - np.eye(items))
    squares = ((left - left.mean(axis=0)) ** 2).sum(axis=0)
    error = np.sqrt(squares * (items - 1) / items) if items > 1 else np.full(squares.shape, np.nan)
    return Jackknifed(on_sample(effect, items=items), error)


def percentile_interval(resampled: Resampled, *, confidence: float = 0.95) -> Interval:
    """Return the interval between two percentiles of the draws.

    Few items are drawn with too little variation: the variance of `items` draws is that of the
    sample times ``1 - 1 / items``, and nothing allows for the error of that variance. The
    percentiles are therefore those between which the draws of normal items hold Student's interval
    of the mean, the expanded percentiles of [2]_. For 95 % they are 0.1 and 99.9 with 5 items, 0.9
    and 99.1 with 10, and 2.3 and 97.7 with 100.

    Parameters
    ----------
    resampled
        From `bootstrap`; draws whose effect is undefined are skipped.
    confidence
        In ``(0, 1)``.

    Returns
    -------
    Interval
        NaN if every draw is undefined. Of width 0 if all items are equal, which gives no
        information on unseen items: a share of up to ``3 / items`` may differ [1]_.

    Raises
    ------
    ValueError
        If the confidence is not as above.

    References
    ----------
    .. [1] Hanley, Lippman-Hand (1983), JAMA 249(13):1743-1745, for 95 % confidence
    .. [2] Hesterberg (2015), The American Statistician 69(4):371-386,
       doi:10.1080/00031305.2015.1089789
    """
    checked_share("confidence", confidence)
    tail = (1 - confidence) / 2
    if (items := resampled.items or 0) > 1:
        tail = expanded_tail(tail, items=items)
    tails = [tail, 1 - tail]
    cells = resampled.draws.reshape(len(resampled.draws), -1).T
    bounds = np.full((2, len(cells)), np.nan)
    for bound, cell in zip(bounds.T, cells, strict=True):
        defined = cell[~np.isnan(cell)]
        if defined.size:
            bound[:] = np.quantile(defined, tails)
    low, high = bounds.reshape(2, *resampled.estimate.shape)
    return Interval(low, high)


@cache
def expanded_tail(tail: float, *, items: int) -> float:
    """Return the share of draws of 2 or more normal items beyond Student's bound for `tail`.

    Without scipy, which is not among the packages that judging and viewing need.
    """
    low, high = 0.0, math.pi / 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (
            (middle, high)
            if _student_within(middle, degrees=items - 1) < 1 - 2 * tail
            else (low, middle)
        )
    return NormalDist().cdf(-math.tan(low) * math.sqrt(items))


def _student_within(angle: float, *, degrees: int) -> float:
    """Return P(|t| < sqrt(degrees) * tan(angle)).

    Abramowitz, Stegun (1964), Handbook of Mathematical Functions, eq. 26.7.3 and 26.7.4.
    """
    odd, steps = degrees % 2, np.arange(1, degrees // 2)
    ratios = (2 * steps - 1 + odd) / (2 * steps + odd) * math.cos(angle) ** 2
    series = float(1 + np.cumprod(ratios).sum()) if degrees > 1 else 0.0
    if odd:
        return (angle + math.sin(angle) * math.cos(angle) * series) * 2 / math.pi
    return math.sin(angle) * series


def two_sided_p(resampled: Resampled) -> FloatArray:
    """Return twice the share of draws on the opposite side of 0, in the shape of the estimate.

    It inverts the interval of plain percentiles, which is too narrow for few items: take the larger
    of it and the p-value of an exact test. It is never 0: one more draw is counted on that side.
    NaN if every draw is undefined.
    """
    draws = resampled.draws
    defined = np.sum(~np.isnan(draws), axis=0)
    far = np.minimum(np.sum(draws <= NOISE, axis=0), np.sum(draws >= -NOISE, axis=0))
    p: FloatArray = np.minimum(1.0, 2 * (far + 1) / (defined + 1))
    return np.where(defined > 0, p, np.nan)


def estimates(
    resampled: Resampled, *, confidence: float = 0.95, items: ArrayLike = 2
) -> list[Estimate]:
    """Return each effect with its `percentile_interval`, cell by cell.

    `items` is the number of items that each cell has data of. A cell of one item has no interval:
    every draw repeats that item, which shows nothing about others.

    Examples
    --------
    >>> drawn = Resampled(np.array([0.5, 0.5]), np.full((9, 2), 0.5))
    >>> [[*each] for each in estimates(drawn, items=[8, 1])]
    [[0.5, 0.5, 0.5], [0.5, nan, nan]]
    """
    bounds = percentile_interval(resampled, confidence=confidence)
    several = np.asarray(items) > 1
    bounded = (np.where(several, bound, np.nan) for bound in bounds)
    cells = np.stack([resampled.estimate, *bounded], axis=-1).reshape(-1, 3)
    return [Estimate(*cell) for cell in cells.tolist()]


def _counts(items: int, draws: int, rng: Generator) -> FloatArray:
    """Return how often each item was drawn, shape ``(draws, items)``."""
    drawn = rng.integers(items, size=(draws, items))
    drawn += items * np.arange(draws)[:, np.newaxis]
    counts = np.bincount(drawn.ravel(), minlength=draws * items)
    return counts.reshape(draws, items).astype(np.float64)
