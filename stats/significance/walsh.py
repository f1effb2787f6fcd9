"""Walsh averages: the means of all pairs of values, and of each value with itself.

Scores have few distinct differences, so the averages are kept with how often they occur.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanjury.stats.arrays import FloatArray

# Averages nearer to a point than this differ from it by rounding.
NOISE = 1e-12


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
    one, other = np.triu_indices(distinct.size)
    same = counts[one] * (counts[one] + 1) // 2
    times = np.where(one == other, same, counts[one] * counts[other])
    averages = (distinct[one] + distinct[other]) / 2
    order = np.argsort(averages, kind="stable")
    return WalshAverages(averages[order], np.cumsum(times[order]))
