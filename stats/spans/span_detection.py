"""Detection: whether spans separate texts with errors from texts without."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from spanjury.stats.arrays import FloatArray
from spanjury.stats.ranks import midranks
from spanjury.stats.weighted import Weighted, on_sample, ratio

_FEWEST = 3
"""Minimum number of texts for a correlation."""


class Detection(NamedTuple):
    """Rates at which texts with errors are separated from those without; NaN if undefined."""

    precision: float
    """Share of gold errors among texts in which an error was found."""
    recall: float
    """Share of texts with gold errors in which one was found."""
    f1: float
    accuracy: float


def detection(predicted: ArrayLike, gold: ArrayLike) -> Detection:
    """Compare texts by the presence of any error in them.

    Parameters
    ----------
    predicted, gold
        Spans in each text, shape ``(texts,)``; NaN for a text that is skipped.

    Raises
    ------
    ValueError
        If the shapes are not as above, or a count is negative.

    Examples
    --------
    >>> detection([0, 2, 1], [0, 0, 3]).precision
    0.5
    """
    counts = np.asarray(predicted, dtype=np.float64)
    return Detection(*on_sample(detection_effect(predicted, gold), items=counts.size).tolist())


def detection_effect(predicted: ArrayLike, gold: ArrayLike) -> Weighted:
    """Return the four results of `detection` as an effect for `bootstrap`; texts are items."""
    ours, theirs = _checked(predicted, gold)
    out = np.isnan(ours + theirs)
    some, true = (np.where(out, np.nan, counts > 0) for counts in (ours, theirs))
    both = some * true
    above = np.stack([both, both, 2 * both, np.where(out, np.nan, some == true)])
    return ratio(above, np.stack([some, true, some + true, np.ones_like(some)]))


def count_correlation(predicted: ArrayLike, gold: ArrayLike) -> float:
    """Return Spearman's correlation of the numbers of spans.

    Parameters and errors are those of `detection`. NaN if all numbers of one side are equal, or
    fewer than three texts are left.
    """
    ours, theirs = _checked(predicted, gold)
    kept = ~np.isnan(ours + theirs)
    if kept.sum() < _FEWEST:
        return np.nan
    ranks = midranks(np.stack([ours[kept], theirs[kept]]))
    apart = ranks - ranks.mean(axis=1, keepdims=True)
    scale = float(np.prod(np.linalg.norm(apart, axis=1)))
    return float(apart[0] @ apart[1]) / scale if scale else np.nan


def hallucination_rate(hallucinated: ArrayLike, quoted: ArrayLike) -> float:
    """Return the share of quotes that are not in their text; NaN without a quote.

    Parameters
    ----------
    hallucinated, quoted
        Quotes that are not in each text, and all quotes from it, shape ``(texts,)``; NaN for a
        text that is skipped.

    Raises
    ------
    ValueError
        If the shapes are not as above, or `hallucinated` exceeds `quoted`.
    """
    counts = np.asarray(quoted, dtype=np.float64)
    return float(on_sample(hallucination_effect(hallucinated, quoted), items=counts.size))


def hallucination_effect(hallucinated: ArrayLike, quoted: ArrayLike) -> Weighted:
    """Return the result of `hallucination_rate` as an effect for `bootstrap`."""
    missing, quotes = _checked(hallucinated, quoted)
    if np.any(missing > quotes):
        raise ValueError(f"expected no more than all quotes, got {hallucinated!r} of {quoted!r}")
    return ratio(missing, quotes)


def _checked(first: ArrayLike, second: ArrayLike) -> tuple[FloatArray, FloatArray]:
    predicted, true = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    is_negative = (predicted < 0).any() or (true < 0).any()
    if predicted.ndim != 1 or predicted.shape != true.shape or is_negative:
        raise ValueError(f"expected two counts for each text, got {first!r} and {second!r}")
    return predicted, true
