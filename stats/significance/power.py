"""Power: the number of items that an exam needs, and the effects that it can detect.

A discernment score of 1 or more is a one-sided p of 0.05 or less. Scores that change mostly change
by one step. Then the sizes of the changes are all tied, the exact sign-flip test of the signed-rank
statistic is the sign test, and power is a sum of binomial probabilities. If sizes differ,
`simulated_power` estimates the power from a pilot with the same sizes.
"""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.stats import binom, binomtest

from spanjury.stats.arrays import FloatArray, checked_share, one_axis
from spanjury.stats.significance.paired import PairedStatistic
from spanjury.stats.significance.sign_flip import paired_test

# First limit of the search for a number of items; doubled until it suffices.
FIRST_LIMIT = 16

# Smaller differences of shares are due to rounding.
ROUNDING = 1e-9


class ItemsNeeded(NamedTuple):
    """A number of items and the power with it."""

    items: int
    power: float


class SimulatedPower(NamedTuple):
    """The share of simulated exams that find a fall, and the bounds of its 95 % interval."""

    power: float
    low: float
    high: float


def sign_flip_power(items: int, *, drop: float, rise: float = 0.0, alpha: float = 0.05) -> float:
    """Return the probability that the exact sign-flip test finds that scores fall.

    Parameters
    ----------
    items
        At least 1.
    drop, rise
        The shares of items whose scores fall and rise, all by the same amount; the others
        do not change. In ``[0, 1]``, together at most 1.
    alpha
        The level of the test, in ``(0, 1)``.

    Raises
    ------
    ValueError
        If a range is not as above.

    Examples
    --------
    >>> round(sign_flip_power(100, drop=0.1, rise=0.03), 3)
    0.529
    """
    if items < 1:
        raise ValueError(f"expected one item or more, got {items!r}")
    _check_shares(drop, rise)
    checked_share("alpha", alpha)
    return float(_powers(np.array([items]), drop=drop, rise=rise, alpha=alpha)[0])


def items_needed(
    *, drop: float, rise: float = 0.0, power: float = 0.8, alpha: float = 0.05, most: int = 1000
) -> ItemsNeeded | None:
    """Return the number of items that the exact sign-flip test needs for a given power.

    One more item may reduce the power, since the level of the test depends on the number of items.
    The result is the smallest number such that all numbers from it to twice as many suffice.

    Parameters
    ----------
    drop, rise, alpha
        As in `sign_flip_power`.
    power
        The desired power, in ``(0, 1)``.
    most
        The largest number to consider, at least 1. Time grows with its square.

    Returns
    -------
    ItemsNeeded or None
        None if `most` items are too few.

    Raises
    ------
    ValueError
        If a range is not as above.

    Examples
    --------
    >>> items_needed(drop=0.1, rise=0.03).items
    177
    """
    _check_shares(drop, rise)
    checked_share("alpha", alpha)
    checked_share("power", power)
    if most < 1:
        raise ValueError(f"expected one item or more, got {most!r}")
    limit = min(FIRST_LIMIT, 2 * most)
    while True:
        powers = _powers(np.arange(1, limit + 1), drop=drop, rise=rise, alpha=alpha)
        too_few = np.flatnonzero(powers < power)  # index 0 is one item
        enough = int(too_few[-1]) + 2 if too_few.size else 1
        if 2 * enough <= limit:
            return ItemsNeeded(enough, float(powers[enough - 1]))
        if limit == 2 * most:
            return None
        limit = min(2 * limit, 2 * most)


def discernible_effect(
    items: int, *, rise: float = 0.0, power: float = 0.8, alpha: float = 0.05
) -> float:
    """Return the smallest net drop that the exact sign-flip test finds with a given power.

    Parameters
    ----------
    items, alpha
        As in `sign_flip_power`.
    rise
        The share of items whose scores rise, as in the control without damage.
    power
        The desired power, in ``(0, 1)``.

    Returns
    -------
    float
        P(drop) - P(rise), in ``(-1, 1]``; NaN if even a drop of all other items has less
        power.

    Raises
    ------
    ValueError
        If a range is not as above.

    Examples
    --------
    >>> round(discernible_effect(100), 3)
    0.066
    """
    checked_share("power", power)

    def surplus(drop: float) -> float:
        return sign_flip_power(items, drop=drop, rise=rise, alpha=alpha) - power

    most = 1 - rise
    if surplus(most) < 0:
        return np.nan
    return float(brentq(surplus, 0.0, most)) - rise


def simulated_power(
    pilot: ArrayLike,
    *,
    items: int,
    rng: Generator,
    test: PairedStatistic = paired_test,
    alpha: float = 0.05,
    draws: int = 400,
) -> SimulatedPower:
    """Return how often a test would find that scores fall if all items were like a pilot's.

    With a pilot of few items, the error of the effect, and so of the power, is much larger than
    the interval of the simulation.

    Parameters
    ----------
    pilot
        Drops, shape ``(n,)``, ``n >= 1``; finite, or NaN where missing.
    items
        Number of items to draw from the pilot, with replacement; at least 1.
    rng
        Generator for the draws.
    test
        The test that the exam would use.
    alpha
        The level of the test, in ``(0, 1)``.
    draws
        Number of exams to simulate, at least 1.

    Raises
    ------
    ValueError
        If a shape or a range is not as above.
    """
    differences = one_axis(pilot)
    if min(differences.size, items, draws) < 1:
        raise ValueError(f"expected items and draws, got {differences.size}, {items!r}, {draws!r}")
    checked_share("alpha", alpha)
    rejected = sum(test(rng.choice(differences, items)).p <= alpha for _ in range(draws))
    bounds = binomtest(rejected, draws).proportion_ci()
    return SimulatedPower(rejected / draws, float(bounds.low), float(bounds.high))


def _powers(items: NDArray[np.int_], *, drop: float, rise: float, alpha: float) -> FloatArray:
    """Return the power for each number of items."""
    share = min(1.0, drop + rise)
    if share < ROUNDING:
        return np.zeros(items.size)
    changed = np.arange(items.max() + 1)
    # The test rejects if there are more drops than this, given the number of changed items.
    critical = binom.isf(alpha, changed, 0.5)
    rejecting = binom.sf(critical, changed, drop / share)
    chances = binom.pmf(changed, items[:, np.newaxis], share)
    powers: FloatArray = np.dot(chances, rejecting)
    return powers


def _check_shares(drop: float, rise: float) -> None:
    if not (drop >= 0 and rise >= 0 and drop + rise <= 1 + ROUNDING):
        raise ValueError(f"expected shares that sum to 1 at most, got {drop!r} and {rise!r}")
