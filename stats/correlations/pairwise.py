"""Pairwise agreement: whether a metric orders two outputs like people do.

Scores are tables of systems and inputs, finite, or NaN where missing. The pairs are the outputs of
two systems for one input. For pairs of arbitrary outputs, reshape the tables to one column.

Differences are compared up to rounding, a share `ROUNDING` of the greatest absolute score in the
table: 0.1 + 0.2 and 0.3 are the same score, and a difference of 0.3 - 0.2 is one of 0.1.
"""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spanjury.stats.arrays import FloatArray
from spanjury.stats.correlations.score_tables import paired_tables
from spanjury.stats.significance.permutation import ROUNDING

NoPairs = Literal["no pairs"]


class Darr(NamedTuple):
    """The Kendall-like correlation over relative ranks derived from direct assessments."""

    value: float
    """In ``[-1, 1]``, or NaN."""
    concordant: int
    discordant: int
    reason: NoPairs | None
    """Reason why the value is NaN."""


class PairwiseAccuracy(NamedTuple):
    """The share of pairs on which a metric agrees with people."""

    value: float
    """In ``[0, 1]``, or NaN."""
    epsilon: float
    """Two scores of the metric that differ by at most this count as tied."""
    pairs: int
    reason: NoPairs | None
    """Reason why the value is NaN."""


class _Pairs(NamedTuple):
    human: FloatArray
    metric: FloatArray
    """Differences; exactly 0 if they are 0 up to rounding."""
    weights: FloatArray
    noise: float
    """Maximum difference by rounding between two equal differences of the metric."""


def darr(human: ArrayLike, metric: ArrayLike, *, threshold: float = 25.0) -> Darr:
    """Compare a metric with relative ranks from direct assessments, like WMT [1]_.

    Parameters
    ----------
    human, metric
        Shape ``(systems, inputs)``. WMT's assessments are in points from 0 to 100.
    threshold
        Minimum difference between people's scores of two outputs, above 0, in points of their
        scale.

    Returns
    -------
    Darr
        ``(concordant - discordant) / (concordant + discordant)``; pairs with equal scores of
        the metric are discordant.

    Raises
    ------
    ValueError
        If a shape, a value or a range is not as above.

    References
    ----------
    .. [1] Ma, Bojar, Graham (2018), Results of the WMT18 Metrics Shared Task,
       doi:10.18653/v1/W18-6450

    Examples
    --------
    >>> darr([[90], [60], [50]], [[0.9], [0.9], [0.2]])  # the last two are not far apart
    Darr(value=0.0, concordant=1, discordant=1, reason=None)
    """
    if not 0 < threshold < np.inf:
        raise ValueError(f"expected a threshold above 0, got {threshold!r}")
    pairs = _pairs(human, metric)
    apart = np.abs(pairs.human) >= threshold * (1 - ROUNDING)
    agree = int(np.count_nonzero(apart & _same_order(pairs)))
    total = int(np.count_nonzero(apart))
    if total == 0:
        return Darr(np.nan, 0, 0, "no pairs")
    return Darr((2 * agree - total) / total, agree, total - agree, None)


def pairwise_accuracy(
    human: ArrayLike, metric: ArrayLike, *, epsilon: float = 0.0
) -> PairwiseAccuracy:
    """Return how often a metric orders or ties two outputs like people [1]_.

    Parameters
    ----------
    human, metric
        Shape ``(systems, inputs)``.
    epsilon
        Maximum difference, up to rounding, of two scores of the metric that count as tied, at
        least 0: such as the one that `tie_calibrated_accuracy` found on other data.

    Returns
    -------
    PairwiseAccuracy
        The mean over inputs of the share of pairs that agree.

    Raises
    ------
    ValueError
        If a shape, a value or a range is not as above.

    References
    ----------
    .. [1] Deutsch, Foster, Freitag (2023), Ties Matter, EMNLP, arXiv:2305.14324
    """
    if not 0 <= epsilon < np.inf:
        raise ValueError(f"expected an epsilon of 0 or more, got {epsilon!r}")
    pairs = _pairs(human, metric)
    tied = np.abs(pairs.metric) <= epsilon + pairs.noise
    agree = np.where(tied, pairs.human == 0, _same_order(pairs))
    return _accuracy(float(pairs.weights @ agree), pairs, epsilon=epsilon)


def tie_calibrated_accuracy(human: ArrayLike, metric: ArrayLike) -> PairwiseAccuracy:
    """Return the accuracy with the best tie threshold for the metric [1]_.

    Parameters
    ----------
    human, metric
        Shape ``(systems, inputs)``.

    Returns
    -------
    PairwiseAccuracy
        The result of `pairwise_accuracy` with the smallest of the best thresholds among 0 and all
        differences of the metric. The threshold is chosen on the same data.

    Raises
    ------
    ValueError
        If a shape or a value is not as above.

    References
    ----------
    .. [1] Deutsch, Foster, Freitag (2023), Ties Matter, EMNLP, arXiv:2305.14324

    Examples
    --------
    >>> tie_calibrated_accuracy([[1], [1], [3]], [[0.25], [0.5], [1.0]])
    PairwiseAccuracy(value=1.0, epsilon=0.25, pairs=3, reason=None)
    """
    pairs = _pairs(human, metric)
    gaps = np.abs(pairs.metric)
    order = np.argsort(gaps, kind="stable")
    agree = _same_order(pairs).astype(np.float64)
    # As the threshold increases, one pair after the other changes from ordered to tied.
    turns = (pairs.weights * ((pairs.human == 0) - agree))[order]
    thresholds = np.concatenate([[0.0], gaps[order]])
    shares = pairs.weights @ agree + np.concatenate([[0.0], np.cumsum(turns)])
    turned = np.append(np.diff(thresholds) > pairs.noise, [True])  # all pairs with this gap changed
    thresholds, shares = thresholds[turned], shares[turned]
    best = int(np.argmax(shares >= shares.max() - ROUNDING))
    return _accuracy(float(shares[best]), pairs, epsilon=float(thresholds[best]))


def _pairs(human: ArrayLike, metric: ArrayLike) -> _Pairs:
    """Return the differences of all pairs; weights sum to 1, and are equal for every input."""
    both = paired_tables(human, metric)
    rows, columns = np.triu_indices(len(both.human), k=1)
    rounding = [ROUNDING * _greatest(table) for table in both]
    people, scores = (
        np.where(np.abs(gaps := (table[rows] - table[columns]).T) <= noise, 0.0, gaps)
        for table, noise in zip(both, rounding, strict=True)
    )
    present = ~np.isnan(people)
    counts = np.count_nonzero(present, axis=1, keepdims=True)
    shares = 1 / (np.maximum(counts, 1) * max(np.count_nonzero(counts), 1))
    weights = np.broadcast_to(shares, present.shape)
    return _Pairs(people[present], scores[present], weights[present], rounding[1])


def _greatest(table: FloatArray) -> float:
    """Return the greatest absolute score; 0 without any."""
    return float(np.max(np.abs(table), where=~np.isnan(table), initial=0.0))


def _same_order(pairs: _Pairs) -> NDArray[np.bool_]:
    return np.sign(pairs.human) * np.sign(pairs.metric) > 0


def _accuracy(share: float, pairs: _Pairs, *, epsilon: float) -> PairwiseAccuracy:
    count = pairs.weights.size
    if count == 0:
        return PairwiseAccuracy(np.nan, epsilon, 0, "no pairs")
    return PairwiseAccuracy(min(max(share, 0.0), 1.0), epsilon, count, None)
