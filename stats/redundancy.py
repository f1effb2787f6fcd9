"""Redundancy: the agreement of raters with each other beyond what both share with people."""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from spanjury.stats.arrays import (
    FloatArray,
    checked_differences,
    cluster_numbers,
    mean_of_defined,
    one_axis,
    safe_divide,
)
from spanjury.stats.ranks import weighted_midranks
from spanjury.stats.resampling import bootstrap, percentile_interval
from spanjury.stats.weighted import Weighted

IntArray = NDArray[np.int64]

# Minimum number of items; with fewer, a partial correlation is 1, -1 or undefined.
LEAST_ITEMS = 4

# Squares of ranks between 0 and 1 that are due to rounding.
NOISE = 1e-12


class Redundancy(NamedTuple):
    """Partial correlations of raters given people, and the resulting effective number."""

    partial: FloatArray
    """Shape ``(raters, raters)``, in ``[-1, 1]``; 1 on the diagonal, NaN if undefined."""
    low: FloatArray
    high: FloatArray
    """Their bounds."""
    items: IntArray
    """Shape ``(raters, raters)``: number of items that people and both raters have scored."""
    effective: float
    """The number of independent raters whose joint error would be as small; above the number of
    raters if their errors are opposite."""
    effective_low: float
    effective_high: float


def rater_redundancy(
    people: ArrayLike,
    raters: ArrayLike,
    *,
    rng: Generator,
    clusters: ArrayLike | None = None,
    draws: int = 1000,
    confidence: float = 0.95,
) -> Redundancy:
    """Return the agreement of raters that people's scores do not explain.

    For each pair it is the partial rank correlation given people's scores: Spearman's of the
    three, combined by the formula for a partial correlation [1]_. The number of independent raters
    is ``k / (1 + (k - 1) * mean)`` with the mean partial correlation [2]_.

    Parameters
    ----------
    people
        Shape ``(items,)``; finite, or NaN where missing.
    raters
        Shape ``(raters, items)``, at least two raters; finite, or NaN. Each pair is compared on
        the items that people and both of them have scored.
    rng
        Generator to draw clusters, with replacement; ranks are computed in each draw.
    clusters
        Shape ``(items,)``; labels of groups of correlated items; None if all are independent.
    draws, confidence
        As in `bootstrap` and `percentile_interval`.

    Returns
    -------
    Redundancy
        NaN with fewer than four items, or with scores that are all equal or completely explained
        by people's scores. The number of raters is NaN without a pair, or if they contradict each
        other so strongly that it would be infinite.

    Raises
    ------
    ValueError
        If a shape, a value or a range is not as above.

    Notes
    -----
    People's scores are noisy themselves: quality that two raters perceive and people missed
    counts as their redundancy. It is an upper bound, which is looser if people agree less.

    References
    ----------
    .. [1] Kendall (1942), Partial rank correlation, Biometrika 32(3-4):277-283; the formula is
       that of Yule (1907), Proceedings of the Royal Society A 79:182-193
    .. [2] Clemen, Winkler (1985), Operations Research 33(2):427-442, doi:10.1287/opre.33.2.427

    Examples
    --------
    >>> people = np.arange(8)
    >>> twins = people + [1, -2, 2, -1, 1, -2, 2, -1]
    >>> found = rater_redundancy(people, [twins, twins], rng=np.random.default_rng(1), draws=100)
    >>> found.partial[0, 1].round(6), round(found.effective, 6)
    (np.float64(1.0), 1.0)
    """
    marks, scores = one_axis(people), checked_differences(raters)
    if scores.ndim != 2 or len(scores) < 2 or scores.shape[1] != marks.size:  # noqa: PLR2004
        raise ValueError(f"expected two raters or more of {marks.size} items, got {scores.shape}")
    where = cluster_numbers(clusters, items=marks.size)
    first, second = np.triu_indices(len(scores), k=1)
    complete = ~np.isnan(marks + scores[first] + scores[second])
    effects = [
        _partial(np.stack([marks, scores[left], scores[right]])[:, both], where[both])
        for left, right, both in zip(first, second, complete, strict=True)
    ]

    def every_pair(counts: FloatArray) -> FloatArray:
        return np.stack([effect(counts) for effect in effects], axis=-1)

    size = int(where.max()) + 1 if where.size else 1
    drawn = bootstrap(every_pair, items=size, rng=rng, draws=draws)
    number = drawn._replace(
        estimate=_effective(drawn.estimate, len(scores)),
        draws=_effective(drawn.draws, len(scores)),
    )
    bounds = percentile_interval(drawn, confidence=confidence)
    ends = percentile_interval(number, confidence=confidence)
    items = (~np.isnan(marks + scores)).astype(np.int64)
    return Redundancy(
        _table(drawn.estimate, raters=len(scores)),
        _table(bounds.low, raters=len(scores)),
        _table(bounds.high, raters=len(scores)),
        items @ items.T,
        float(number.estimate),
        float(ends.low),
        float(ends.high),
    )


def _effective(partial: FloatArray, raters: int) -> FloatArray:
    """Return the number of independent raters from pairs in the last axis, [2] eq. 5."""
    size = 1 + (raters - 1) * mean_of_defined(partial)
    return safe_divide(raters, np.where(size > NOISE, size, np.nan))


def _table(pairs: FloatArray, *, raters: int) -> FloatArray:
    table = np.eye(raters)
    upper = np.triu_indices(raters, k=1)
    table[upper] = pairs
    table.T[upper] = pairs
    return table


def _partial(scores: FloatArray, where: NDArray[np.intp]) -> Weighted:
    """Return the partial correlation of two raters given people, who are the first of three."""
    if scores.shape[1] < LEAST_ITEMS:
        return lambda counts: np.full(len(counts), np.nan)

    def weighted(counts: FloatArray) -> FloatArray:
        drawn = counts[:, where]
        total = drawn.sum(axis=1, keepdims=True)
        ranks = [weighted_midranks(row, drawn) / np.maximum(total, 1.0) for row in scores]
        parts = [
            part - safe_divide((drawn * part).sum(axis=1, keepdims=True), total) for part in ranks
        ]
        by_one, by_other = (_correlation(parts[0], part, drawn) for part in parts[1:])
        together = _correlation(parts[1], parts[2], drawn)
        left = (1 - by_one**2) * (1 - by_other**2)
        left = np.where(left > NOISE, left, np.nan)
        return np.clip((together - by_one * by_other) / np.sqrt(left), -1, 1)

    return weighted


def _correlation(first: FloatArray, second: FloatArray, counts: FloatArray) -> FloatArray:
    """Return Pearson's correlation of centred rows weighted by `counts`; NaN if one is constant."""
    left_squares, right_squares, both = (
        (counts * left * right).sum(axis=1)
        for left, right in ((first, first), (second, second), (first, second))
    )
    squares = left_squares * right_squares
    return safe_divide(both, np.sqrt(np.where(squares > NOISE**2, squares, np.nan)))
