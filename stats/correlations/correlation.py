"""Correlation of two scores: Pearson, Spearman and Kendall, for one row of items or many."""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spanjury.stats.arrays import FloatArray, checked_differences, one_axis, safe_divide
from spanjury.stats.ranks import IntArray, midranks, pair_counts, ranks

Method = Literal["pearson", "spearman", "tau-b", "tau-c"]

Undefined = Literal["fewer than 3 items", "constant scores"]

LEAST_ITEMS = 3

# Differences smaller than this share of the largest score are due to rounding.
NOISE = 1e-13


class Correlation(NamedTuple):
    """One correlation."""

    value: float
    """In ``[-1, 1]``, or NaN."""
    items: int
    """Items with both scores."""
    reason: Undefined | None
    """Reason why the value is NaN."""


class Correlations(NamedTuple):
    """Correlations of rows, shape ``(...)`` each."""

    value: FloatArray
    """In ``[-1, 1]``, or NaN."""
    items: IntArray
    """Items with both scores."""


def correlation(first: ArrayLike, second: ArrayLike, *, method: Method = "spearman") -> Correlation:
    """Correlate two scores of the same items.

    Parameters
    ----------
    first, second
        Shape ``(n,)`` each; finite, or NaN where a score is missing. Items without both are
        skipped.
    method
        As in `correlations`.

    Raises
    ------
    ValueError
        If a shape or a value is not as above, or the method is unknown.

    Examples
    --------
    >>> correlation([1, 2, 3, 4], [1, 3, 2, 4], method="tau-b")
    Correlation(value=0.6666666666666666, items=4, reason=None)
    >>> correlation([1, 2, 3], [5, 5, 5])
    Correlation(value=nan, items=3, reason='constant scores')
    """
    result = correlations(one_axis(first), one_axis(second), method=method)
    value, items = float(result.value), int(result.items)
    if not np.isnan(value):
        return Correlation(value, items, None)
    reason: Undefined = "constant scores" if items >= LEAST_ITEMS else "fewer than 3 items"
    return Correlation(value, items, reason)


def correlations(
    first: ArrayLike, second: ArrayLike, *, method: Method = "spearman"
) -> Correlations:
    """Correlate many rows of two scores at once.

    Parameters
    ----------
    first, second
        Shapes that broadcast to ``(..., n)``, with one length ``n``; finite, or NaN where a
        score is missing. In each row, items without both scores are skipped.
    method
        ``pearson``; ``spearman``, of midranks [1]_; ``tau-b``, Kendall's with the ties of
        either score excluded from the denominator [2]_; ``tau-c``, Stuart's [3]_: concordant
        minus discordant pairs over ``n**2 * (m - 1) / (2 * m)``, where ``m`` is the smaller
        number of distinct scores.

    Returns
    -------
    Correlations
        NaN with fewer than three items, or if all values of a score are equal.

    Raises
    ------
    ValueError
        If a shape or a value is not as above, or the method is unknown.

    References
    ----------
    .. [1] Spearman (1904), American Journal of Psychology 15(1):72-101, doi:10.2307/1412159
    .. [2] Kendall (1945), Biometrika 33(3):239-251, doi:10.1093/biomet/33.3.239
    .. [3] Stuart (1953), Biometrika 40(1-2):105-110, doi:10.1093/biomet/40.1-2.105
    """
    if method not in METHODS:
        raise ValueError(f"expected one of {sorted(METHODS)}, got {method!r}")
    left, right = checked_differences(first), checked_differences(second)
    if left.shape[-1] != right.shape[-1]:
        raise ValueError(f"expected as many items in both, got {left.shape} and {right.shape}")
    shape = np.broadcast_shapes(left.shape, right.shape)
    present = np.ones(shape[-1], dtype=np.bool_)
    for score in (left, right):
        missing = np.isnan(score)
        if missing.any():  # otherwise a row is ranked only once for all comparisons
            present = present & ~missing
    items = np.broadcast_to(np.count_nonzero(present, axis=-1), shape[:-1]).astype(np.int64)
    if shape[-1] < LEAST_ITEMS:
        return Correlations(np.full(shape[:-1], np.nan), items)
    values = METHODS[method](left, right, present)
    return Correlations(np.where(items >= LEAST_ITEMS, values, np.nan), items)


def _pearson(first: FloatArray, second: FloatArray, present: NDArray[np.bool_]) -> FloatArray:
    left, right = _centred(first, present), _centred(second, present)
    squares = np.vecdot(left, left) * np.vecdot(right, right)
    return np.clip(safe_divide(np.vecdot(left, right), np.sqrt(squares)), -1, 1)


def _spearman(first: FloatArray, second: FloatArray, present: NDArray[np.bool_]) -> FloatArray:
    # Missing scores are ranked after all the others, and then skipped.
    left, right = (midranks(np.where(present, score, np.inf)) for score in (first, second))
    return _pearson(left, right, present)


def _tau_b(first: FloatArray, second: FloatArray, present: NDArray[np.bool_]) -> FloatArray:
    counts = _Counts.of(first, second, present)
    untied = np.sqrt(counts.untied_first * counts.untied_second)
    return np.clip(safe_divide(counts.surplus, untied), -1, 1)


def _tau_c(first: FloatArray, second: FloatArray, present: NDArray[np.bool_]) -> FloatArray:
    counts = _Counts.of(first, second, present)
    items = np.count_nonzero(present, axis=-1)
    most = items**2 * (counts.distinct - 1) / 2
    return safe_divide(counts.surplus * counts.distinct, most)


class _Counts(NamedTuple):
    surplus: FloatArray
    untied_first: FloatArray
    untied_second: FloatArray
    distinct: FloatArray

    @classmethod
    def of(cls, first: FloatArray, second: FloatArray, present: NDArray[np.bool_]) -> "_Counts":
        """Count pairs of present items: concordant minus discordant ones, and untied ones."""
        left, right = (ranks(np.where(present, score, np.inf)) for score in (first, second))
        counts = pair_counts(left, right)
        # Missing items are last in both scores: never discordant, and tied among themselves.
        missing = np.count_nonzero(~present, axis=-1)
        untied = counts.pairs - counts.tied_first, counts.pairs - counts.tied_second
        among = np.count_nonzero(present, axis=-1)
        absent = counts.pairs - among * (among - 1) // 2 - missing * (missing - 1) // 2
        surplus = untied[0] - counts.tied_second + counts.tied_both - 2 * counts.discordant
        distinct = np.minimum(left.distinct, right.distinct) - (missing > 0)
        parts = (surplus - absent, untied[0] - absent, untied[1] - absent, distinct)
        return cls(*(part.astype(np.float64) for part in parts))


METHODS = {"pearson": _pearson, "spearman": _spearman, "tau-b": _tau_b, "tau-c": _tau_c}


def _centred(scores: FloatArray, present: NDArray[np.bool_]) -> FloatArray:
    """Return scores minus their mean, scaled so that squares neither vanish nor overflow."""
    filled = np.where(present, scores, 0.0)
    largest = np.max(np.abs(filled), axis=-1, keepdims=True)
    scaled = filled / np.where(largest > 0, largest, 1.0)
    count = np.maximum(np.count_nonzero(present, axis=-1, keepdims=True), 1)
    centred = np.where(present, scaled - scaled.sum(axis=-1, keepdims=True) / count, 0.0)
    spread = np.max(np.abs(centred), axis=-1, keepdims=True)
    constant = spread <= NOISE
    return np.where(constant, 0.0, centred / np.where(constant, 1.0, spread))
