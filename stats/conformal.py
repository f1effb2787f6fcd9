"""Thresholds whose false-alarm rate is guaranteed for new items of the same kind.

A threshold is determined from scores of items without the property, so that few new ones exceed it.
The guarantee only assumes that old and new items are exchangeable; it does not extend to items of
another kind. Items of one cluster, such as texts about one source, are not exchangeable with those
of a new one. With clusters, the guarantee is for a new item of a new cluster, and many clusters are
needed.
"""

import math
from bisect import bisect_left
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr, betaincinv

from spanjury.stats.arrays import FloatArray, checked_share, cluster_numbers, one_axis
from spanjury.stats.proportions import clustered_proportion

# Smaller differences between products of a rate and a number of items are due to rounding.
ROUNDING = 1e-9
# Bets on the share of alarms of a cluster, as fractions of the largest that cannot lose more than
# all. Half of the largest is better if clusters differ, the largest if there are few.
_BETS = (0.5, 1.0)


class ConformalThreshold(NamedTuple):
    """A threshold: an item whose score is at least this raises an alarm."""

    value: float
    """Infinite if there are too few items for the guarantee; then nothing raises an alarm."""
    items: int
    """Number of items without the property that it was determined from."""
    alarms: int
    """Number of these that raise an alarm."""
    low: float
    high: float
    """Bounds of the rate of alarms among new items, with 95 % confidence."""


def conformal_threshold(
    scores: ArrayLike,
    *,
    rate: float,
    confidence: float | None = None,
    clusters: ArrayLike | None = None,
) -> ConformalThreshold:
    """Return the lowest threshold that keeps false alarms at `rate` or below.

    Without a confidence, the guarantee is for the average over samples like this one: a new item
    without the property raises an alarm with a probability of at most `rate` [1]_. With one, it is
    for this sample: with that confidence, at most a share `rate` of all items without the property
    raise an alarm, which needs more items [2]_. With equal scores, fewer alarms are raised.

    Parameters
    ----------
    scores
        Shape ``(items,)``, finite: of items without the property, higher if it is more likely.
    rate
        In ``(0, 1)``.
    confidence
        In ``(0, 1)``, or None.
    clusters
        Label of the cluster of each item, shape ``(items,)``; if None, each is its own. If some
        share a cluster, the guarantee is for an item of a new cluster, with equal weights of the
        clusters: on average [3]_, or with a confidence by a bet on the shares of alarms in the
        clusters, which wins less than ``1 / (1 - confidence)`` unless their mean is below `rate`
        [4]_.

    Returns
    -------
    ConformalThreshold
        The upper bound of its rate is the exact one of the order statistic just below it, and
        the lower one Clopper and Pearson's; both are 0 if nothing raises an alarm. With
        clusters, they are those of `clustered_proportion`.

    Raises
    ------
    ValueError
        If a shape, a value or a range is not as above.

    References
    ----------
    .. [1] Vovk, Gammerman, Shafer (2005), Algorithmic Learning in a Random World, section 2.2
    .. [2] Vovk (2012), Conditional validity of inductive conformal predictors, Proposition 2a,
       arXiv:1209.2673
    .. [3] Lee, Barber, Willett (2023), Distribution-free inference with hierarchical data,
       arXiv:2306.06342; before it Dunn, Wasserman, Ramdas (2023), JASA 118(544):2491-2502,
       doi:10.1080/01621459.2022.2060112
    .. [4] Waudby-Smith, Ramdas (2024), JRSS B 86(1):1-27, doi:10.1093/jrsssb/qkad009, section 4;
       for thresholds Bates and others (2021), Journal of the ACM 68(6):43, doi:10.1145/3478535

    Examples
    --------
    >>> conformal_threshold(range(19), rate=0.1).alarms
    1
    >>> conformal_threshold(range(8), rate=0.1).value
    inf
    >>> conformal_threshold(range(20), rate=0.1, clusters=[0, *range(19)]).alarms
    1
    """
    values = one_axis(scores)
    if np.isnan(values).any():
        raise ValueError("expected a score of each item, got NaN")
    numbers = cluster_numbers(clusters, items=values.size)
    if np.bincount(numbers, minlength=1).max() > 1:
        return _of_clusters(values, numbers, rate=rate, confidence=confidence)
    ordered = np.sort(values)
    most = _most_alarms(ordered.size, rate=checked_share("rate", rate), confidence=confidence)
    if most < 0:
        return ConformalThreshold(math.inf, ordered.size, 0, 0.0, 0.0)
    # The first score in excess of the allowed alarms is the bound; the threshold is above it.
    value = float(np.nextafter(ordered[-most - 1], math.inf))
    alarms = int((ordered >= value).sum())
    low = float(betaincinv(alarms, ordered.size - alarms + 1, 0.025)) if alarms else 0.0
    # [2] The share above the order statistic is Beta(most + 1, items - most), even with ties.
    high = float(betaincinv(most + 1, ordered.size - most, 0.975))
    return ConformalThreshold(value, ordered.size, alarms, low, high)


def items_for_rate(rate: float, *, confidence: float | None = None, clustered: bool = False) -> int:
    """Return the minimum number of items without the property for a threshold of this rate.

    Parameters
    ----------
    rate, confidence
        As in `conformal_threshold`.
    clustered
        Whether some items share a cluster; the number is then that of the clusters.

    Raises
    ------
    ValueError
        If a range is not as above.

    Examples
    --------
    >>> items_for_rate(0.05), items_for_rate(0.05, confidence=0.9)
    (19, 45)
    >>> items_for_rate(0.05, confidence=0.9, clustered=True)
    54
    """
    checked_share("rate", rate)
    if confidence is None:
        return max(1, math.ceil(1 / rate - ROUNDING) - 1)
    missed = math.log1p(-checked_share("confidence", confidence))
    if clustered:
        wins = np.log(_capitals(np.zeros(1), rate))  # of one cluster without an alarm
        least = -missed - ROUNDING
        return bisect_left(range(2**31), least, lo=1, key=lambda n: _mean_log(n * wins))
    return max(1, math.ceil(missed / math.log1p(-rate) - ROUNDING))


def _of_clusters(
    values: FloatArray, numbers: NDArray[np.intp], *, rate: float, confidence: float | None
) -> ConformalThreshold:
    sizes = np.bincount(numbers)

    def shares(level: float) -> FloatArray:
        return np.bincount(numbers, weights=values >= level, minlength=sizes.size) / sizes

    def keeps(level: float) -> bool:
        """Return whether the guarantee holds with alarms from `level`; then also above it."""
        if confidence is None:  # [3] a new cluster is added, all of whose items raise an alarm
            return bool((shares(level).sum() + 1) / (sizes.size + 1) <= rate + ROUNDING)
        won = _mean_log(np.log(_capitals(shares(level), rate)).sum(axis=1))
        return won >= -math.log1p(-confidence) - ROUNDING

    checked_share("rate", rate)
    if confidence is not None:
        checked_share("confidence", confidence)
    if not keeps(math.inf):
        return ConformalThreshold(math.inf, values.size, 0, 0.0, 0.0)
    levels = np.unique(values).tolist()
    # If all items raise an alarm, the guarantee does not hold, so at least one level is too low.
    bound = levels[bisect_left(levels, 1, key=keeps) - 1]
    value = float(np.nextafter(bound, math.inf))
    raised = np.bincount(numbers, weights=values >= value, minlength=sizes.size)
    if not raised.any():
        return ConformalThreshold(value, values.size, 0, 0.0, 0.0)
    share = clustered_proportion(raised, sizes)
    return ConformalThreshold(value, values.size, int(raised.sum()), share.low, share.high)


def _capitals(shares: FloatArray, rate: float) -> FloatArray:
    """Return the capital after each bet of 1 on each cluster, shape ``(bets, clusters)`` [4]."""
    bets = np.array(_BETS)[:, np.newaxis] / (1 - rate)
    return np.asarray(np.maximum(1 + bets * (rate - shares), np.finfo(float).tiny))


def _mean_log(logs: FloatArray) -> float:
    """Return the logarithm of the mean of capitals, given their logarithms."""
    return float(np.logaddexp.reduce(logs.ravel()) - math.log(logs.size))


def _most_alarms(items: int, *, rate: float, confidence: float | None) -> int:
    """Return the maximum number of items that may raise an alarm; -1 if even 0 is too many."""
    if confidence is None:
        return min(math.floor(rate * (items + 1) + ROUNDING), items) - 1
    missed = 1 - checked_share("confidence", confidence)
    # P(true rate > `rate`) is the probability that a binomial count is at most the alarms.
    return int((bdtr(np.arange(items), items, rate) <= missed + ROUNDING).sum()) - 1
