"""Effects as functions of the weight of each item.

The sample itself counts each item once; a bootstrap sample counts some of them twice and others
never. An effect that is written as a function of these counts is resampled for every
perturbation and aspect at once, by a matrix product.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spanjury.stats.arrays import FloatArray, checked_differences, safe_divide

# Counts in memory at a time; 10,000 draws of 400 items, or 32 MB.
BLOCK = 4_000_000

Weighted = Callable[[FloatArray], FloatArray]
"""Counts, shape ``(draws, items)`` -> the effect in each draw, shape ``(draws, ...)``."""


def by_owner(effect: Weighted, owner: NDArray[np.intp]) -> Weighted:
    """Return an effect of items as one of their owners: an owner is drawn with all its items.

    Parameters
    ----------
    effect
        An effect of items.
    owner
        Shape ``(items,)``: number of the owner of each item, from 0.

    Returns
    -------
    Weighted
        A function of the counts of owners, which makes those of items in blocks of draws.
    """
    step = max(1, BLOCK // max(1, owner.size))

    def weighted(counts: FloatArray) -> FloatArray:
        starts = range(0, len(counts), step)
        return np.concatenate([effect(counts[each : each + step, owner]) for each in starts])

    return weighted


def ratio(numerators: ArrayLike, denominators: ArrayLike = 1.0) -> Weighted:
    """Return the effect "sum of `numerators` over sum of `denominators`".

    Raise `ValueError` if a shape or a value is not as described.

    Parameters
    ----------
    numerators
        Shape ``(..., items)``; finite or NaN.
    denominators
        The same, or a shape that broadcasts to it. An item that is NaN in one of the two is
        skipped in both sums.

    Returns
    -------
    Weighted
        NaN if the denominators sum to 0.
    """
    above, below = np.broadcast_arrays(
        checked_differences(numerators), np.asarray(denominators, dtype=np.float64)
    )
    checked_differences(below)
    present = ~np.isnan(above + below)
    above, below = np.where(present, above, 0.0), np.where(present, below, 0.0)
    cells = above.shape[:-1]

    def weighted(counts: FloatArray) -> FloatArray:
        sums, totals = (counts @ _flat(part).T for part in (above, below))
        return safe_divide(sums, totals).reshape(-1, *cells)

    return weighted


def mean_drop(differences: ArrayLike) -> Weighted:
    """Return the effect "mean of `differences`", shape ``(..., items)``; raises like `ratio`."""
    return ratio(differences)


def net_drop(differences: ArrayLike) -> Weighted:
    """Return the effect P(drop) - P(rise), in ``[-1, 1]``; raises like `ratio`.

    It does not depend on the size of changes, so judges with scales of 1-5 and 0-100 can be
    compared.
    """
    return ratio(np.sign(checked_differences(differences)))


def per_headroom(clean: ArrayLike, damaged: ArrayLike, *, low: float) -> Weighted:
    """Return the effect "mean difference in units of the headroom of the scores".

    Raise like `ratio`.

    Parameters
    ----------
    clean, damaged
        Scores, shape ``(..., items)``; finite or NaN.
    low
        The worst score of the scale. Items with this clean score are skipped.
    """
    before = checked_differences(clean)
    room = np.where(before > low, before - low, np.nan)
    return ratio(before - checked_differences(damaged), room)


def rank_biserial(differences: ArrayLike) -> Weighted:
    """Return the effect "matched-pairs rank-biserial correlation", in ``[-1, 1]``.

    Raise like `ratio`.

    Parameters
    ----------
    differences
        Shape ``(..., items)``; finite or NaN. For repeated scores pass integer sums: rounding
        errors of means break ties.

    Returns
    -------
    Weighted
        ``(R+ - R-) / (R+ + R-)`` of Wilcoxon's rank sums without the zeros [1]_; NaN if
        all differences are 0. One drop among a hundred zeros gives 1, so also see the net drop.

    References
    ----------
    .. [1] Kerby (2014), Comprehensive Psychology 3:11.IT.3.1, doi:10.2466/11.IT.3.1
    """
    values = checked_differences(differences)
    cells = _flat(values)

    def weighted(counts: FloatArray) -> FloatArray:
        effects = np.empty((len(counts), len(cells)))
        for cell, column in zip(cells, effects.T, strict=True):
            column[:] = _rank_biserial(cell, counts)
        return effects.reshape(-1, *values.shape[:-1])

    return weighted


def _rank_biserial(differences: FloatArray, counts: FloatArray) -> FloatArray:
    """Return the correlation of one cell in each draw, computed from the distinct sizes."""
    changed = np.flatnonzero(np.abs(differences) > 0)  # neither 0 nor missing
    sizes, which = np.unique(np.abs(differences[changed]), return_inverse=True)
    signed = np.zeros((changed.size, sizes.size))
    signed[np.arange(changed.size), which] = np.sign(differences[changed])
    moved = counts[:, changed]
    tied = moved @ np.abs(signed)
    # The midrank of a size: the number of smaller ones, plus the middle of those tied with it.
    midranks = np.cumsum(tied, axis=1) - (tied - 1) / 2
    surplus = np.sum(midranks * (moved @ signed), axis=1)
    total = np.sum(midranks * tied, axis=1)
    return safe_divide(surplus, total)


def of_items(values: ArrayLike, function: Callable[[FloatArray], ArrayLike]) -> Weighted:
    """Return an effect that is computed draw by draw: slow, but for any function.

    Raise like `ratio`.

    Parameters
    ----------
    values
        Shape ``(..., items)``; finite or NaN.
    function
        ``function(sample)`` -> effects, where `sample` contains the drawn items, with
        repetitions, in the shape ``(..., items)``.
    """
    array = checked_differences(values)
    items = np.arange(array.shape[-1])

    def weighted(counts: FloatArray) -> FloatArray:
        times = counts.astype(np.intp)
        samples = (array[..., np.repeat(items, row)] for row in times)
        return np.asarray([function(sample) for sample in samples], dtype=np.float64)

    return weighted


def on_sample(effect: Weighted, *, items: int) -> FloatArray:
    """Return `effect` in the sample itself, in which each of `items` counts once."""
    value: FloatArray = effect(np.ones((1, items)))[0]
    return value


def _flat(cells: FloatArray) -> FloatArray:
    """Return an array of the shape ``(cells, items)``, even without items."""
    *before, items = cells.shape
    return cells.reshape(math.prod(before), items)
