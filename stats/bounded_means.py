"""Means of values between 0 and 1: their intervals, and evidence that a mean has risen."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from spanjury.stats.arrays import FloatArray, checked_share

_LARGEST = 0.95
"""The largest share of the wealth that a bet may lose on one value."""
_BETS = (_LARGEST, 0.5, 0.25, 0.125, 0.0625, 0.03125)
"""Such shares; the evidence is averaged over them."""
_STEPS = 40
"""Number of bisections in the search for a bound."""


class BoundedMean(NamedTuple):
    """A mean, and the bounds of its confidence interval, all in ``[0, 1]``."""

    value: float
    low: float
    high: float


def bounded_mean(values: ArrayLike, *, confidence: float = 0.95) -> BoundedMean:
    """Estimate the mean of independent values between 0 and 1, whatever their distribution.

    The interval contains all means against which bets on the values would not have won much. It is
    valid for any number of values, and narrow if they vary little. Bets depend on the variance of
    the preceding values, so that the order of the values has a small influence [1]_.

    Parameters
    ----------
    values
        Shape ``(n,)``, ``n >= 1``; in ``[0, 1]``. Shares are means of zeros and ones.
    confidence
        Level of the interval, in ``(0, 1)``; half of the error probability is on each side.

    Raises
    ------
    ValueError
        If a shape or a range is not as above.

    References
    ----------
    .. [1] Waudby-Smith and Ramdas (2024), JRSS B 86(1):1-27, eq. 26 to 29, bets of at most 0.95

    Examples
    --------
    >>> estimate = bounded_mean([0.0] * 90 + [1.0] * 10)
    >>> round(estimate.value, 2), round(estimate.low, 2), round(estimate.high, 2)
    (0.1, 0.03, 0.22)
    """
    sample = np.asarray(values, dtype=np.float64)
    if sample.ndim != 1 or not sample.size or not ((sample >= 0) & (sample <= 1)).all():
        raise ValueError(f"expected one or more values in [0, 1], got {values!r}")
    checked_share("confidence", confidence)
    limit = float(np.log(2 / (1 - confidence)))
    mean = float(sample.mean())
    high = _upper_bound(sample, mean=mean, limit=limit)
    low = 1 - _upper_bound(1 - sample, mean=1 - mean, limit=limit)
    return BoundedMean(mean, min(low, mean), max(high, mean))


def _upper_bound(sample: FloatArray, *, mean: float, limit: float) -> float:
    """Return the smallest mean against which bets that it is lower have won ``exp(limit)``."""
    count = np.arange(1, sample.size + 1)
    means = (0.5 + np.cumsum(sample)) / (count + 1)
    variances = (0.25 + np.cumsum((sample - means) ** 2)) / (count + 1)
    before = np.concatenate(([0.25], variances[:-1]))
    bets = np.minimum(_LARGEST, np.sqrt(2 * limit / (sample.size * before)))
    low, high = mean, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        # The wealth increases with the mean that is bet against.
        if np.log1p(bets * (middle - sample)).sum() < limit:
            low = middle
        else:
            high = middle
    return high


@dataclass(slots=True)
class _Bet:
    """Evidence by one bet: summed over all starting points, and that of the best one."""

    total: float = 0.0
    best: float = 1.0
    count: int = 0
    values: float = 0.0


@dataclass(slots=True)
class RisingMean:
    """Sequential evidence that the mean of values in ``[0, 1]`` exceeds a bound.

    It may be inspected after every value. If the mean never exceeds the bound, the evidence
    reaches a number ``N`` after ``N`` values on average, or later [1]_: an alarm at ``N`` causes at
    most one false alarm in ``N`` values. The evidence is that of the Shiryaev-Roberts e-detector
    of betting [2]_, averaged over several bets.

    Parameters
    ----------
    bound
        In ``(0, 1)``.

    Raises
    ------
    ValueError
        If the bound, or a value, is not as above.

    References
    ----------
    .. [1] Shin, Ramdas, Rinaldo (2024), New England Journal of Statistics in Data Science
       2(2):229-260, section 2
    .. [2] Waudby-Smith and Ramdas (2024), JRSS B 86(1):1-27

    Examples
    --------
    >>> rising = RisingMean(0.1)
    >>> for value in [0.0, 1.0, 1.0, 1.0]:
    ...     rising.add(value)
    >>> rising.evidence > 100, rising.since
    (True, (3, 1.0))
    """

    bound: float
    bets: list[_Bet] = field(default_factory=lambda: [_Bet() for _ in _BETS])

    def __post_init__(self) -> None:
        if not 0 < self.bound < 1:
            raise ValueError(f"expected a bound in (0, 1), got {self.bound!r}")

    def add(self, value: float) -> None:
        """Update the evidence with one more value."""
        if not 0 <= value <= 1:
            raise ValueError(f"expected a value in [0, 1], got {value!r}")
        for share, bet in zip(_BETS, self.bets, strict=True):
            factor = 1 + share / self.bound * (value - self.bound)
            # [1] eq. 2.7: a new bet starts with each value, in addition to those in progress.
            bet.total = factor * (bet.total + 1)
            if bet.best * factor <= 1:
                bet.best, bet.count, bet.values = 1.0, 0, 0.0
            else:
                bet.best *= factor
                bet.count += 1
                bet.values += value

    @property
    def evidence(self) -> float:
        """The evidence so far, at least 0."""
        return sum(bet.total for bet in self.bets) / len(self.bets)

    @property
    def since(self) -> tuple[int, float]:
        """Number and mean of the values since the most likely start of a rise; (0, 0) if none.

        The values are selected, so their mean is biased upwards.
        """
        best = max(self.bets, key=lambda bet: bet.best)
        return best.count, best.values / best.count if best.count else 0.0
