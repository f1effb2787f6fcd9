"""Spearman's correlations within inputs for many samples or swaps at once, without sorting.

Let ``s[j, k]`` be the sign of the score of system ``j`` minus that of system ``k``. Its sum over
``k`` is twice the midrank of ``j``, minus ``n + 1``. The sum is linear in how often each system was
drawn, so one matrix product ranks all samples. All sums are integers that single precision
represents exactly.
"""

import numpy as np
from numpy.typing import NDArray

from spanjury.stats.arrays import FloatArray, safe_divide
from spanjury.stats.correlations.correlation import LEAST_ITEMS, Method
from spanjury.stats.correlations.grouping import Level
from spanjury.stats.ranks import IntArray

_Signs = NDArray[np.float32]
_MOST_SYSTEMS = 64
"""With more systems, sorting is faster than pairwise comparison."""


def counts_signs(systems: int, *, level: Level, method: Method) -> bool:
    """Return whether this module computes this correlation for tables of so many systems."""
    return level == "by-input" and method == "spearman" and systems <= _MOST_SYSTEMS


def drawn_correlations(human: FloatArray, metrics: FloatArray, systems: IntArray) -> FloatArray:
    """Correlate metrics with people in samples of the systems, input by input.

    Parameters
    ----------
    human
        Shape ``(systems, inputs)``; NaN where a score is missing.
    metrics
        Shape ``(..., systems, inputs)``; finite.
    systems
        Shape ``(draws, systems)``: the systems of each sample.

    Returns
    -------
    numpy.ndarray
        Shape ``(draws, ..., inputs)``; NaN with fewer than three items, or if all scores are
        equal.
    """
    present = ~np.isnan(human.T)
    times: _Signs = np.zeros((human.shape[0], len(systems)), dtype=np.float32)
    np.add.at(times, (systems.T, np.arange(len(systems))), 1)
    people = _signs(human.T, human.T, present) @ times
    weighted = people * times
    squares = _summed(weighted, people)
    enough = present.astype(np.float32) @ times >= LEAST_ITEMS
    values = []
    for metric in metrics.reshape(-1, *human.shape):
        ranks = _signs(metric.T, metric.T, present) @ times
        both = squares * _summed(ranks * times, ranks)
        values.append(_quotient(_summed(weighted, ranks), both, enough))
    return np.stack(values, axis=1).reshape(len(systems), *metrics.shape[:-2], human.shape[1])


def swapped_correlations(
    human: FloatArray, metrics: FloatArray, swap: NDArray[np.bool_]
) -> FloatArray:
    """Correlate two metrics with people after swapping some scores, input by input.

    Parameters
    ----------
    human
        Shape ``(systems, inputs)``; NaN where a score is missing.
    metrics
        Shape ``(2, systems, inputs)``; finite.
    swap
        Shape ``(draws, systems, inputs)``; True where the two scores are swapped.

    Returns
    -------
    numpy.ndarray
        Shape ``(2, draws, inputs)``; NaN as in `drawn_correlations`.
    """
    present = ~np.isnan(human.T)
    own, other = metrics.swapaxes(-1, -2)
    swapped = np.ascontiguousarray(swap.T)
    chosen = swapped.astype(np.float32)
    people = _signs(human.T, human.T, present).sum(axis=-1)[:, :, np.newaxis]
    squares = _summed(people, people)
    enough = np.count_nonzero(present, axis=-1)[:, np.newaxis] >= LEAST_ITEMS
    ranks = []
    # Ranks of each system's own score, and of the other metric's, in both after the swap.
    for score in (own, other):
        to_own, to_other = (_signs(score, scores, present) for scores in (own, other))
        change = (to_other - to_own) @ chosen
        first = to_own.sum(axis=-1)[:, :, np.newaxis] + change
        second = to_other.sum(axis=-1)[:, :, np.newaxis] - change
        ranks.append((first, second))
    (own_first, own_second), (other_first, other_second) = ranks
    mixed = np.where(swapped, other_first, own_first), np.where(swapped, own_second, other_second)
    products = (people.swapaxes(-1, -2) @ each for each in mixed)
    return np.stack(
        [
            _quotient(product[:, 0], squares * _summed(each, each), enough)
            for product, each in zip(products, mixed, strict=True)
        ]
    )


def _signs(first: FloatArray, second: FloatArray, present: NDArray[np.bool_]) -> _Signs:
    """Return the signs of differences, shape ``(inputs, n, n)``; 0 where a score is missing."""
    left, right = first[:, :, np.newaxis], second[:, np.newaxis, :]
    both = present[:, :, np.newaxis] & present[:, np.newaxis, :]
    signs = np.where(both, (left > right).astype(np.float32) - (left < right), 0)
    return signs.astype(np.float32)


def _summed(first: _Signs, second: _Signs) -> FloatArray:
    """Return the sums of products over systems, ``(inputs, n, draws)`` to ``(inputs, draws)``."""
    total: _Signs = np.sum(first * second, axis=1)
    return total.astype(np.float64)


def _quotient(
    products: FloatArray | _Signs, squares: FloatArray, enough: NDArray[np.bool_]
) -> FloatArray:
    """Return the correlations, ``(draws, inputs)``."""
    divisor = np.sqrt(np.where(enough, squares, 0.0))
    return np.clip(safe_divide(products, divisor), -1, 1).T
