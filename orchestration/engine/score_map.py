"""A map from one score to another, fitted by calibrations and cascades."""

import math
from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreMap:
    """A non-decreasing map: linear between knots, constant outside of them.

    Raises `ValueError` if there is no knot, knots do not ascend, values fall, or a number is not
    finite.

    Examples
    --------
    >>> ScoreMap(knots=(1.0, 3.0), values=(2.0, 4.0)).at(2.0)
    3.0
    """

    knots: tuple[float, ...]
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.knots or len(self.knots) != len(self.values):
            raise ValueError(f"{len(self.knots)} knots with {len(self.values)} values")
        if not all(map(math.isfinite, (*self.knots, *self.values))):
            raise ValueError(f"expected finite knots and values, got {self.knots!r}, {self.values}")
        if any(after <= before for before, after in pairwise(self.knots)):
            raise ValueError(f"knots must ascend, got {self.knots!r}")
        if any(after < before for before, after in pairwise(self.values)):
            raise ValueError(f"values must not fall, got {self.values!r}")

    def at(self, score: float) -> float:
        """Return the value at `score`."""
        after = bisect_right(self.knots, score)
        if after == 0:
            return self.values[0]
        if after == len(self.knots):
            return self.values[-1]
        start, end = self.knots[after - 1 : after + 1]
        low, high = self.values[after - 1 : after + 1]
        # Rounding may miss the upper knot slightly, but must never reverse the order of two scores.
        return min(high, low + (high - low) * ((score - start) / (end - start)))
