"""Test whether scores that should not move have stayed where they were.

That a test finds no difference does not show that there is none. Two one-sided tests show
that a difference is smaller than a margin, or that the items are too few to tell.

Walsh averages: the means of all pairs of values, and of each value with itself.

Scores have few distinct differences, so the averages are kept with how often they occur.
"""

from bisect import bisect_left
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, stdtr, stdtrit

from spanjury.stats.arrays import FloatArray
from spanjury.stats.significance.paired import paired
from spanjury.stats.significance.sign_flip import paired_test

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


EquivalenceMethod = Literal["signed-rank", "t"]

EquivalenceVerdict = Literal["equivalent", "different", "undecided"]

# Values that differ by less than this differ by rounding.
NOISE = 1e-12


class Equivalence(NamedTuple):
    """Two one-sided tests of paired differences against a margin."""

    verdict: EquivalenceVerdict
    """`equivalent`: within the margin. `different`: not shown to be so, and not 0."""
    p_equivalent: float
    """The larger p of the two tests, whose null is "a margin away or more"."""
    p_different: float
    """P-value of the two-sided test of "0"; for `signed-rank` given the sizes of differences."""
    estimate: float
    """The mean difference for `t`; the median of the means of all pairs for `signed-rank`."""
    low: float
    """Lower bound of the interval of confidence ``1 - 2 * alpha``."""
    high: float
    """Upper bound of it. The verdict is `equivalent` where both are within the margin."""
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
) -> Equivalence:
    """Test whether differences are smaller than a margin, in both directions [1]_.

    Parameters
    ----------
    differences
        Shape ``(items,)``; clean minus damaged score, NaN where one of them is missing.
    margin
        The smallest difference or rise that would matter, in points of the scale; above 0.
    alpha
        The level of each test, in ``(0, 0.5)``.
    method
        ``"t"``: Student's test and interval, of the mean of the differences; for few items and few
        distinct differences the level is rough, .07 for .05 at 12. ``"signed-rank"``: Wilcoxon's
        [2]_, of their middle, which is 0 while fewer than one item in four falls.

    Returns
    -------
    Equivalence
        A difference that is there but smaller than the margin is `equivalent` [3]_. Where all
        differences are equal `t` is undefined, and ``"signed-rank"`` stands in for it. The bounds
        are infinite where the items are too few for any. The verdict is `undecided`, and the
        numbers are NaN, without an item.

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
    values = paired(differences).differences
    tests = METHODS[method](values, margin=margin, alpha=alpha)
    verdict: EquivalenceVerdict = "undecided"
    if tests.p_equivalent <= alpha:
        verdict = "equivalent"
    elif tests.p_different <= alpha:
        verdict = "different"
    return Equivalence(verdict, *tests, used=values.size)


def _by_t(values: FloatArray, *, margin: float, alpha: float) -> _Tests:
    if not values.size or np.ptp(values) <= NOISE:
        return _by_signed_rank(values, margin=margin, alpha=alpha)
    mean = float(values.mean())
    freedom = values.size - 1
    error = float(values.std(ddof=1) / np.sqrt(values.size))
    reach = float(stdtrit(freedom, 1 - alpha)) * error
    return _Tests(
        p_equivalent=float(stdtr(freedom, (abs(mean) - margin) / error)),
        p_different=2 * float(stdtr(freedom, -abs(mean) / error)),
        estimate=mean,
        low=mean - reach,
        high=mean + reach,
    )


def _by_signed_rank(values: FloatArray, *, margin: float, alpha: float) -> _Tests:
    if not values.size:
        return _Tests(np.nan, np.nan, np.nan, np.nan, np.nan)
    averages, mirrored = walsh_averages(values), walsh_averages(-values)
    # The statistic of differences moved by a point is the number of averages beyond it: [2] 3.1.
    # Without credit for averages at the margin, test and interval decide alike, ties or not.
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
    """The averages; one that occurs in several ways may stand here several times."""
    reached: NDArray[np.int64]
    """Number of averages up to and with each of them."""

    @property
    def total(self) -> int:
        """Number of averages: ``n * (n + 1) / 2``."""
        return int(self.reached[-1])

    @property
    def median(self) -> float:
        """The estimate of Hodges and Lehmann."""
        return (self.at((self.total + 1) // 2) + self.at(self.total // 2 + 1)) / 2

    def at(self, rank: int) -> float:
        """Return the average of a rank from 1 to `total`."""
        return float(self.values[np.searchsorted(self.reached, rank)])

    def above(self, point: float) -> int:
        """Return how many averages are above `point`."""
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
