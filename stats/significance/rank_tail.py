"""The null distribution of Wilcoxon's signed-rank statistic without ties."""

from collections.abc import Callable

import numpy as np
from scipy.special import ndtr

__all__ = ["RankTail", "rank_tail"]

RankTail = Callable[[int], float]
"""``tail(t)`` -> the probability that the sum of the ranks that count is `t` or more."""

# Beyond, the normal tail is wrong by less than .001, and the exact one takes time.
EXACT_UP_TO = 100


def rank_tail(items: int) -> RankTail:
    """Return the upper tail of the sum of those ranks from 1 to `items` that a coin chooses.

    Parameters
    ----------
    items
        At least 1.

    Returns
    -------
    RankTail
        Exact up to 100 items, normal with correction for continuity beyond.

    Examples
    --------
    >>> rank_tail(3)(5)  # 5 or 6, two of eight
    0.25
    """
    if items > EXACT_UP_TO:
        return _normal_tail(items)
    masses = np.ones(1)
    for rank in range(1, items + 1):
        aside = np.zeros(rank)
        masses = np.concatenate([masses, aside]) / 2 + np.concatenate([aside, masses]) / 2
    upper = np.append(np.minimum(1.0, np.cumsum(masses[::-1])[::-1]), 0.0)

    def tail(total: int) -> float:
        return float(upper[total])

    return tail


def _normal_tail(items: int) -> RankTail:
    middle = items * (items + 1) / 4
    spread = np.sqrt(middle * (2 * items + 1) / 6)

    def tail(total: int) -> float:
        return float(ndtr((middle - total + 0.5) / spread))

    return tail
