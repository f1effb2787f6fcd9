"""Ranks of many rows at once, and the number of their pairs that are tied or out of order."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanjury.stats.arrays import FloatArray

IntArray = NDArray[np.int64]

# Rows are cut into blocks of this many items, whose pairs are compared one by one.
BLOCK = 8


class Ranks(NamedTuple):
    """The rank of each item of a row, and the number of equal items."""

    least: IntArray
    """Shape ``(..., n)``; number of smaller items in the row."""
    tied: IntArray
    """Shape ``(...)``; number of pairs of equal items."""
    distinct: IntArray
    """Shape ``(...)``; number of distinct values."""


class PairCounts(NamedTuple):
    """Numbers of pairs of items, in rows of two scores for each item; shape ``(...)`` each."""

    pairs: IntArray
    """All pairs: ``n * (n - 1) / 2``."""
    discordant: IntArray
    """Pairs in which one score ranks the first item higher, and the other score the second."""
    tied_first: IntArray
    """Pairs with equal first scores."""
    tied_second: IntArray
    tied_both: IntArray


def midranks(values: FloatArray) -> FloatArray:
    """Rank the items of every row, shape ``(..., n)``, ``n >= 1``, none NaN, from 1.

    Examples
    --------
    >>> midranks(np.array([[2.0, 1.0, 2.0]])).tolist()
    [[2.5, 1.0, 2.5]]
    """
    order = np.argsort(values, axis=-1)
    ascending = np.take_along_axis(values, order, axis=-1)
    starts = _run_starts(ascending)
    # In reverse, a run starts at its end: its position is counted from the other side.
    left = _run_starts(ascending[..., ::-1])[..., ::-1]
    middle = np.empty(values.shape)
    np.put_along_axis(middle, order, (starts - left + values.shape[-1] + 1) / 2, axis=-1)
    return middle


def weighted_midranks(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the weight below each value, plus half of that at it.

    Parameters
    ----------
    values
        Shape ``(n,)``, none NaN.
    weights
        Shape ``(..., n)``: the shape of the result.
    """
    if not values.size:
        return np.zeros_like(weights)
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    order = np.argsort(inverse, kind="stable")
    tied = np.add.reduceat(weights[..., order], np.cumsum(counts) - counts, axis=-1)
    middle: FloatArray = np.cumsum(tied, axis=-1) - tied / 2
    return middle[..., inverse]


def ranks(values: FloatArray) -> Ranks:
    """Rank the items of every row, shape ``(..., n)``, ``n >= 1``, none NaN, for `pair_counts`.

    Examples
    --------
    >>> result = ranks(np.array([[2.0, 1.0, 2.0]]))
    >>> result.least.tolist(), result.tied.tolist(), result.distinct.tolist()
    ([[1, 0, 1]], [1], [2])
    """
    order = np.argsort(values, axis=-1)
    starts = _run_starts(np.take_along_axis(values, order, axis=-1))
    least = np.empty(values.shape, dtype=np.int64)
    np.put_along_axis(least, order, starts, axis=-1)
    indices = np.arange(values.shape[-1])
    return Ranks(
        least,
        tied=np.sum(indices - starts, axis=-1),
        distinct=np.count_nonzero(starts == indices, axis=-1),
    )


def pair_counts(first: Ranks, second: Ranks) -> PairCounts:
    """Count pairs of items in O(n log n) per row, for every row at once [1]_.

    Parameters
    ----------
    first, second
        Ranks of scores whose shapes broadcast to ``(..., n)``.

    Notes
    -----
    Items are sorted by the first score. A pair is then discordant if its second score falls.
    Such pairs are counted while the second scores are sorted by merging: the sum of the ranks
    of one half among both gives Mann and Whitney's count of the pairs out of order.

    References
    ----------
    .. [1] Knight (1966), JASA 61(314):436-439, doi:10.1080/01621459.1966.10480879
    """
    items = first.least.shape[-1]
    bits = items.bit_length()
    keys = np.sort((first.least << bits) | second.least, axis=-1)
    falling = _descents(keys & ((1 << bits) - 1))
    return PairCounts(
        pairs=np.full_like(falling, items * (items - 1) // 2),
        discordant=falling,
        tied_first=np.broadcast_to(first.tied, falling.shape),
        tied_second=np.broadcast_to(second.tied, falling.shape),
        tied_both=np.sum(np.arange(items) - _run_starts(keys), axis=-1),
    )


def _run_starts(ordered: FloatArray | IntArray) -> IntArray:
    """Return, for each position, the start of the run of equal values that contains it."""
    starts = np.zeros(ordered.shape, dtype=np.int64)
    differ = ordered[..., 1:] != ordered[..., :-1]
    np.multiply(differ, np.arange(1, ordered.shape[-1]), out=starts[..., 1:])
    return np.maximum.accumulate(starts, axis=-1)


def _descents(values: IntArray) -> IntArray:
    """Return, for each row, the number of pairs whose earlier integer is greater."""
    *before, items = values.shape
    rows = int(np.prod(before))
    width = BLOCK
    while width < items:
        width *= 2
    # Values are even from here on: the lowest bit stores their half of the block.
    doubled = np.full((rows, width), 2 * items, dtype=np.int32)
    doubled[:, :items] = 2 * values.reshape(rows, items)
    total = _compared(doubled)
    half = BLOCK
    while half < width:
        blocks = width // (2 * half)
        doubled.reshape(rows, blocks, 2, half)[:, :, 1] += 1
        merged = np.sort(doubled.reshape(rows, blocks, 2 * half), axis=-1)
        later = (merged & 1).astype(np.float64)
        taken = np.sum(later @ np.arange(2 * half, dtype=np.float64), axis=-1)
        # If sorted after all of the earlier half, the later one would get the last ranks.
        last = half * (3 * half - 1) // 2
        total += (blocks * last - taken).astype(np.int64)
        doubled = merged & -2
        half *= 2
    return total.reshape(before)


def _compared(values: NDArray[np.int32]) -> IntArray:
    """Return, for each row, the number of pairs out of order inside its blocks."""
    rows, width = values.shape
    blocks = values.reshape(rows, width // BLOCK, BLOCK)
    total = np.zeros(rows, dtype=np.int64)
    for apart in range(1, BLOCK):
        falls = blocks[..., :-apart] > blocks[..., apart:]
        total += np.count_nonzero(falls, axis=(1, 2))
    return total
