"""One-to-one pairs of predicted and gold spans that overlap enough."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

from spanjury.stats.arrays import FloatArray
from spanjury.stats.spans.span_agreement import Overlap
from spanjury.stats.spans.spans import checked_spans


class Matching(NamedTuple):
    """Pairs of spans, in the order of the predicted ones."""

    pairs: NDArray[np.int64]
    """Rows of `predicted` and `gold`, shape ``(pairs, 2)``."""
    ratios: FloatArray
    """Intersection over union of each pair, shape ``(pairs,)``."""


def overlap_ratios(predicted: ArrayLike, gold: ArrayLike) -> FloatArray:
    """Return the intersection over union of each predicted with each gold span, ``(n, m)``.

    Parameters and errors are those of `matching`.
    """
    marked, true = checked_spans(predicted), checked_spans(gold)
    starts, ends = marked[:, [0]], marked[:, [1]]
    shared = np.minimum(ends, true[:, 1]) - np.maximum(starts, true[:, 0])
    shared = np.maximum(shared, 0)
    ratios: FloatArray = shared / ((ends - starts) + (true[:, 1] - true[:, 0]) - shared)
    return ratios


def matching(predicted: ArrayLike, gold: ArrayLike, *, threshold: float = 0.5) -> Matching:
    """Pair spans one to one: as many as possible, and with the largest overlap among these.

    Parameters
    ----------
    predicted, gold
        Shape ``(n, 2)`` and ``(m, 2)``: half-open offsets.
    threshold
        Minimum intersection over union of a pair, in ``(0, 1]``; 1 for identical spans.

    Raises
    ------
    ValueError
        If a shape or a value is not as above.

    Examples
    --------
    >>> matching([(0, 10), (20, 30)], [(21, 30), (40, 50)]).pairs.tolist()
    [[1, 0]]
    """
    if not 0 < threshold <= 1:
        raise ValueError(f"expected a threshold in (0, 1], got {threshold!r}")
    ratios = overlap_ratios(predicted, gold)
    enough = ratios >= threshold
    # The sum of all ratios is less than the weight of one more pair.
    weights = np.where(enough, 1 + ratios / (1 + min(ratios.shape)), 0)
    rows, columns = linear_sum_assignment(weights, maximize=True)
    kept = enough[rows, columns]
    pairs = np.stack([rows[kept], columns[kept]], axis=1)
    return Matching(pairs, ratios[pairs[:, 0], pairs[:, 1]])


def matched_overlap(predicted: ArrayLike, gold: ArrayLike, *, threshold: float = 0.5) -> Overlap:
    """Count the spans that are paired; parameters and errors are those of `matching`."""
    pairs = matching(predicted, gold, threshold=threshold).pairs
    counts = (pairs, checked_spans(predicted), checked_spans(gold))
    return Overlap(*(float(len(rows)) for rows in counts))
