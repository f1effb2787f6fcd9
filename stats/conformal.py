"""Thresholds whose false-alarm rate is promised for new items of the same kind.

A threshold is set on scores of items without the property, so that few new ones of them exceed it.
The promise needs no more than that old and new items are exchangeable; it is not that the
threshold is right for items of another kind.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr, betaincinv

from spanjury.stats.arrays import checked_share, one_axis

# Products of a rate and a number of items that differ by less than this differ by rounding.
ROUNDING = 1e-9


class ConformalThreshold(NamedTuple):
    """A threshold: an item whose score is that or more raises an alarm."""

    value: float
    """Infinite where the items are too few for the promise: nothing raises an alarm then."""
    items: int
    """Items without the property that it was set on."""
    alarms: int
    """Of these, those that raise an alarm."""
    low: float
    high: float
    """Bounds of the rate of alarms among new items, 95 % sure."""


def conformal_threshold(
    scores: ArrayLike, *, rate: float, confidence: float | None = None
) -> ConformalThreshold:
    """Return the lowest threshold that keeps false alarms at `rate` or below.

    Without a confidence the promise is on the average over samples like this one: a new item
    without the property raises an alarm with a probability of at most `rate` [1]_. With one it is
    on this sample: with that confidence no more than `rate` of all items without the property
    raise an alarm, which needs more items [2]_. Where scores are equal, fewer alarms are raised.

    Parameters
    ----------
    scores
        Shape ``(items,)``, finite: of items without the property, higher where it is likelier.
    rate
        In ``(0, 1)``.
    confidence
        In ``(0, 1)``, or None.

    Returns
    -------
    ConformalThreshold
        The upper bound of its rate is the exact one of the order statistic that it lies above,
        and the lower one Clopper and Pearson's; both are 0 where nothing raises an alarm.

    Raises
    ------
    ValueError
        If a shape, a value or a range is not as above.

    References
    ----------
    .. [1] Vovk, Gammerman, Shafer (2005), Algorithmic Learning in a Random World, section 2.2
    .. [2] Vovk (2012), Conditional validity of inductive conformal predictors, Proposition 2a,
       arXiv:1209.2673

    Examples
    --------
    >>> conformal_threshold(range(19), rate=0.1).alarms
    1
    >>> conformal_threshold(range(8), rate=0.1).value
    inf
    """
    known = np.sort(one_axis(scores))
    if np.isnan(known).any():
        raise ValueError("expected a score of each item, got NaN")
    most = _most_alarms(known.size, rate=checked_share("rate", rate), confidence=confidence)
    if most < 0:
        return ConformalThreshold(math.inf, known.size, 0, 0.0, 0.0)
    # An alarm more than may be sets the bound, which scores equal to it must not reach.
    value = float(np.nextafter(known[-most - 1], math.inf))
    alarms = int((known >= value).sum())
    low = float(betaincinv(alarms, known.size - alarms + 1, 0.025)) if alarms else 0.0
    # [2] Above the order statistic lies a share of Beta(most + 1, items - most), ties or not.
    high = float(betaincinv(most + 1, known.size - most, 0.975))
    return ConformalThreshold(value, known.size, alarms, low, high)


def items_for_rate(rate: float, *, confidence: float | None = None) -> int:
    """Return how many items without the property a threshold of that rate needs at least.

    Parameters
    ----------
    rate, confidence
        As in `conformal_threshold`.

    Raises
    ------
    ValueError
        If a range is not as above.

    Examples
    --------
    >>> items_for_rate(0.05), items_for_rate(0.05, confidence=0.9)
    (19, 45)
    """
    checked_share("rate", rate)
    if confidence is None:
        return max(1, math.ceil(1 / rate - ROUNDING) - 1)
    missed = math.log1p(-checked_share("confidence", confidence))
    return max(1, math.ceil(missed / math.log1p(-rate) - ROUNDING))


def _most_alarms(items: int, *, rate: float, confidence: float | None) -> int:
    """Return how many of the items may raise an alarm; -1 where not even none keeps the promise."""
    if confidence is None:
        return min(math.floor(rate * (items + 1) + ROUNDING), items) - 1
    missed = 1 - checked_share("confidence", confidence)
    # The true rate exceeds `rate` as often as a binomial count is no more than the alarms.
    return int((bdtr(np.arange(items), items, rate) <= missed + ROUNDING).sum()) - 1
