"""Expected calibration error: the deviation of stated probabilities from observed frequencies."""

import numpy as np
from numpy.typing import ArrayLike

from spanjury.stats.arrays import FloatArray, safe_divide
from spanjury.stats.roc import by_level
from spanjury.stats.weighted import Weighted, on_sample

BINS = 10
# A level whose middle is on the border of two bins belongs to the upper one despite rounding.
_NOISE = 1e-9


def calibration_error(
    probabilities: ArrayLike, positive: ArrayLike, *, bins: int = BINS, balanced: bool = False
) -> float:
    """Return the expected calibration error over bins of equal weight.

    A bin is an interval of probabilities [1]_, [3]_, so items with the same probability share a
    bin, even if the bin then has more items than others. Sorting items and cutting them into equal
    parts, as ``numpy.array_split`` does, gives the same figure if no two probabilities are equal.
    Otherwise it cuts through ties, and its figure depends on the order of the items.

    The error of a finite sample is above 0 even if every probability is right: see
    `error_by_chance`.

    Parameters
    ----------
    probabilities
        Shape ``(items,)``; in ``[0, 1]``, or NaN for an item that is skipped.
    positive
        The same shape; 1 for an item with the property, 0 for one without, or NaN.
    bins
        Number of bins, 1 or more; the items of each have the same total weight, apart from ties.
    balanced
        Whether the items with the property have the same total weight as those without: the error
        is then that among items half of which have it, whatever their share in the sample is.

    Returns
    -------
    float
        In ``[0, 1]``; NaN without an item, and if `balanced` without items of both kinds.

    Raises
    ------
    ValueError
        If a shape or a value is not as above.

    References
    ----------
    .. [1] Naeini, Cooper, Hauskrecht (2015), AAAI 29(1), doi:10.1609/aaai.v29i1.9602
    .. [2] Nguyen, O'Connor (2015), EMNLP, doi:10.18653/v1/D15-1182 (bins of equal counts)
    .. [3] Kumar, Liang, Ma (2019), NeurIPS 32, section 2, arXiv:1909.10155

    Examples
    --------
    >>> round(calibration_error([0.1, 0.1, 0.9, 0.9], [0, 0, 1, 0], bins=2), 6)
    0.25
    >>> calibration_error([0.5, 0.5, 0.5, 0.5], [0, 0, 1, 0], balanced=True)
    0.0
    """
    effect = calibration_error_effect(probabilities, positive, bins=bins, balanced=balanced)
    return float(on_sample(effect, items=np.asarray(probabilities).size))


def calibration_error_effect(
    probabilities: ArrayLike, positive: ArrayLike, *, bins: int = BINS, balanced: bool = False
) -> Weighted:
    """Return the result of `calibration_error` as an effect for `bootstrap`, shape ``(draws,)``."""
    levels, at_levels = by_level(probabilities, positive)
    _check(levels, bins)

    def weighted(counts: FloatArray) -> FloatArray:
        has, lacks = at_levels(counts)
        if balanced:
            has, lacks = (
                safe_divide(column, column.sum(axis=1, keepdims=True)) for column in (has, lacks)
            )
        weights = has + lacks
        gaps = _by_bin(weights * levels - has, weights, bins)  # [1] eq. 2: stated minus observed
        return safe_divide(np.abs(gaps).sum(axis=0), weights.sum(axis=1))

    return weighted


def error_by_chance(probabilities: ArrayLike, positive: ArrayLike, *, bins: int = BINS) -> Weighted:
    """Return the effect "expected calibration error if every probability were right".

    The parameters are those of `calibration_error`. `positive` is used only to skip items for which
    it is NaN. The sum of a bin is assumed to be normal.
    """
    levels, at_levels = by_level(probabilities, positive)
    _check(levels, bins)

    def weighted(counts: FloatArray) -> FloatArray:
        has, lacks = at_levels(counts)
        weights = has + lacks
        variances = _by_bin(weights * levels * (1 - levels), weights, bins)
        expected = np.sqrt(2 * variances / np.pi).sum(axis=0)  # E|x| of a normal x of mean 0
        return safe_divide(expected, weights.sum(axis=1))

    return weighted


def _check(levels: FloatArray, bins: int) -> None:
    if ((levels < 0) | (levels > 1)).any():
        raise ValueError(f"expected probabilities in [0, 1], got {levels!r}")
    if bins < 1:
        raise ValueError(f"expected 1 bin or more, got {bins!r}")


def _by_bin(values: FloatArray, weights: FloatArray, bins: int) -> FloatArray:
    """Sum values, shape ``(draws, levels)``, by bin of equal weight: ``(bins, draws)``."""
    total = weights.sum(axis=1, keepdims=True)
    middle = safe_divide(np.cumsum(weights, axis=1) - weights / 2, total)
    bin_of = np.minimum(np.floor(bins * middle + _NOISE), bins - 1)
    return np.stack([np.where(bin_of == index, values, 0.0).sum(axis=1) for index in range(bins)])
