"""Equivalence tests of scores that should not change.

A test that finds no difference does not show that there is none. Two one-sided tests show that a
difference is smaller than a margin, or that there are too few items to decide. They use Walsh
averages: the means of all pairs of values, and of each value with itself. Since scores have few
distinct differences, the averages are stored with their frequencies.
"""

from bisect import bisect_left
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, stdtr, stdtrit

from spanjury.stats.arrays import FloatArray, cluster_numbers, one_axis
from spanjury.stats.sampling_design import weighted_mean
from spanjury.stats.significance.sign_flip import paired_test

RankTail = Callable[[int], float]
"""``tail(t)`` -> the probability that the sum of the chosen ranks is `t` or more."""

# Above this, the normal tail is wrong by less than 0.001, and the exact one takes long.
EXACT_UP_TO = 100


def rank_tail(items: int) -> RankTail:
    """Return the upper tail of the sum of ranks from 1 to `items`, each chosen by a fair coin.

    Parameters
    ----------
    items
        At least 1.

    Returns
    -------
    RankTail
        Exact up to 100 items, then a normal approximation with continuity correction.

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


EquivalenceMethod = Literal["signed-rank", "t"]

EquivalenceVerdict = Literal["equivalent", "different", "undecided"]

# Smaller differences are due to rounding.
NOISE = 1e-12


class Equivalence(NamedTuple):
    """Two one-sided tests of paired differences against a margin."""

    verdict: EquivalenceVerdict
    """`equivalent`: shown to be within the margin. `different`: only shown not to be 0."""
    p_equivalent: float
    """The larger p of the two tests, whose null is "a difference of the margin or more"."""
    p_different: float
    """P-value of the two-sided test of 0; for `signed-rank` given the sizes of differences."""
    estimate: float
    """The mean difference for `t`; the median of the means of all pairs for `signed-rank`."""
    low: float
    """Lower bound of the interval of confidence ``1 - 2 * alpha``."""
    high: float
    """Upper bound of the interval. The verdict is `equivalent` if both are within the margin."""
    used: int
    """Items with a difference."""


class _Tests(NamedTuple):
    p_equivalent: float
    p_different: float
    estimate: float
    low: float
    high: float


def equivalence(
    differences: ArrayLike,
    *,
    margin: float,
    alpha: float = 0.05,
    method: EquivalenceMethod = "t",
    clusters: ArrayLike | None = None,
) -> Equivalence:
    """Test whether differences are smaller than a margin, in both directions [1]_.

    Parameters
    ----------
    differences
        Shape ``(items,)``; clean minus damaged score, NaN if one of them is missing.
    margin
        The smallest difference or rise that would matter, in points of the scale; above 0.
    alpha
        The level of each test, in ``(0, 0.5)``.
    method
        ``"t"``: Student's test and interval for the mean of the differences. For few items and few
        distinct differences the level is approximate: 0.07 instead of 0.05 with 12 items.
        ``"signed-rank"``: Wilcoxon's test [2]_ for their centre, which is 0 if fewer than one
        item in four falls.
    clusters
        Shape ``(items,)``; labels of groups of correlated items; None if all are independent.
        ``"signed-rank"`` tests the means of the clusters, so that each cluster counts alike.

    Returns
    -------
    Equivalence
        A real difference that is smaller than the margin is `equivalent` [3]_. If all
        differences are equal, `t` is undefined, and ``"signed-rank"`` is used instead. The bounds
        are infinite if there are too few items for an interval. Without an item, the verdict is
        `undecided`, and the numbers are NaN.

    Raises
    ------
    ValueError
        If a shape or a range is not as above, or the method is unknown.

    References
    ----------
    .. [1] Schuirmann (1987), J. Pharmacokinetics and Biopharmaceutics 15(6):657-680
    .. [2] Hollander, Wolfe, Chicken (2014), Nonparametric Statistical Methods, 3.1-3.3
    .. [3] Lakens (2017), Social Psychological and Personality Science 8(4):355-362

    Examples
    --------
    >>> equivalence([0, 0, 0, 0, 0, 0, 0, 0, 1, -1], margin=0.5).verdict
    'equivalent'
    """
    if not 0 < margin < np.inf:
        raise ValueError(f"expected a margin above 0, got {margin!r}")
    if not 0 < alpha < 0.5:  # noqa: PLR2004
        raise ValueError(f"expected an alpha in (0, 0.5), got {alpha!r}")
    if method not in METHODS:
        raise ValueError(f"expected one of {sorted(METHODS)}, got {method!r}")
    values = one_axis(differences)
    numbers = cluster_numbers(clusters, items=values.size)
    present = ~np.isnan(values)
    values, numbers = values[present], numbers[present]
    tests = METHODS[method](values, numbers, margin=margin, alpha=alpha)
    verdict: EquivalenceVerdict = "undecided"
    if tests.p_equivalent <= alpha:
        verdict = "equivalent"
    elif tests.p_different <= alpha:
        verdict = "different"
    return Equivalence(verdict, *tests, used=values.size)


def _by_t(values: FloatArray, numbers: NDArray[np.intp], *, margin: float, alpha: float) -> _Tests:
    mean, _, _, error, _, clusters, _ = weighted_mean(
        values, np.ones(values.size), clusters=numbers
    )
    if not error > NOISE:
        return _by_signed_rank(values, numbers, margin=margin, alpha=alpha)
    freedom = clusters - 1
    reach = float(stdtrit(freedom, 1 - alpha)) * error
    return _Tests(
        p_equivalent=float(stdtr(freedom, (abs(mean) - margin) / error)),
        p_different=2 * float(stdtr(freedom, -abs(mean) / error)),
        estimate=mean,
        low=mean - reach,
        high=mean + reach,
    )


def _by_signed_rank(
    values: FloatArray, numbers: NDArray[np.intp], *, margin: float, alpha: float
) -> _Tests:
    if not values.size:
        return _Tests(np.nan, np.nan, np.nan, np.nan, np.nan)
    numbers = cluster_numbers(numbers, items=values.size)  # without clusters whose items are NaN
    values = np.bincount(numbers, values) / np.bincount(numbers)
    averages, mirrored = walsh_averages(values), walsh_averages(-values)
    # For differences shifted by a point, the statistic is the number of averages above it: [2]
    # 3.1. As averages at the margin do not count, test and interval agree even with ties.
    tail = rank_tail(values.size)
    least = bisect_left(range(averages.total + 1), True, key=lambda t: tail(t) <= alpha)  # noqa: FBT003
    bounded = least <= averages.total
    return _Tests(
        p_equivalent=max(tail(averages.above(-margin)), tail(mirrored.above(-margin))),
        p_different=min(1.0, 2 * min(paired_test(values).p, paired_test(-values).p)),
        estimate=averages.median,
        low=averages.at(averages.total + 1 - least) if bounded else -np.inf,
        high=averages.at(least) if bounded else np.inf,
    )


METHODS = {"signed-rank": _by_signed_rank, "t": _by_t}


class WalshAverages(NamedTuple):
    """Averages in ascending order."""

    values: FloatArray
    """The averages; one that arises in several ways may occur here several times."""
    reached: NDArray[np.int64]
    """Number of averages up to and including each of them."""

    @property
    def total(self) -> int:
        """Number of averages: ``n * (n + 1) / 2``."""
        return int(self.reached[-1])

    @property
    def median(self) -> float:
        """The Hodges-Lehmann estimate."""
        return (self.at((self.total + 1) // 2) + self.at(self.total // 2 + 1)) / 2

    def at(self, rank: int) -> float:
        """Return the average of the given rank, from 1 to `total`."""
        return float(self.values[np.searchsorted(self.reached, rank)])

    def above(self, point: float) -> int:
        """Return the number of averages above `point`."""
        below = int(np.searchsorted(self.values, point + NOISE, side="right"))
        return self.total - (int(self.reached[below - 1]) if below else 0)


def walsh_averages(values: FloatArray) -> WalshAverages:
    """Average every pair of `values`, shape ``(n,)``, ``n >= 1``, finite.

    Examples
    --------
    >>> averages = walsh_averages(np.array([0.0, 0.0, 3.0]))
    >>> averages.total, averages.above(0), averages.median  # 0 three times, 1.5 twice, 3
    (6, 3, 0.75)
    """
    distinct, counts = np.unique(values, return_counts=True)
    rows, columns = np.triu_indices(distinct.size)
    same = counts[rows] * (counts[rows] + 1) // 2
    times = np.where(rows == columns, same, counts[rows] * counts[columns])
    averages = (distinct[rows] + distinct[columns]) / 2
    order = np.argsort(averages, kind="stable")
    return WalshAverages(averages[order], np.cumsum(times[order]))
