"""Curve from a penalty to the share of the best score that is left; it never rises."""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Straight lines between knots, flat behind the last.

    Raises `ValueError` if the knots are not as above.

    Parameters
    ----------
    penalties
        Places of the knots: ascending from 0, two or more.
    shares
        Share of the best score that is left there, in ``[0, 1]``: 1 at the first knot, and
        never more than at the knot before.

    Examples
    --------
    >>> Curve(penalties=(0.0, 5.0), shares=(1.0, 0.0)).at(1.0)
    0.8
    """

    penalties: tuple[float, ...]
    shares: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.penalties) != len(self.shares) or len(self.penalties) < 2:  # noqa: PLR2004
            raise ValueError(f"{len(self.penalties)} penalties with {len(self.shares)} shares")
        ascends = all(before < after for before, after in pairwise(self.penalties))
        if self.penalties[0] != 0 or not ascends or not math.isfinite(self.penalties[-1]):
            raise ValueError(f"penalties must ascend from 0, got {self.penalties!r}")
        decreasing = all(before >= after for before, after in pairwise(self.shares))
        if self.shares[0] != 1 or not decreasing or not self.shares[-1] >= 0:
            raise ValueError(
                f"shares must decrease from 1 and stay at 0 or above, got {self.shares!r}"
            )

    @classmethod
    def through(cls, penalties: Sequence[float], values: Sequence[float], *, low: float) -> "Curve":
        """Return the curve through `values` that never rise, stretched to begin at 1.

        Raises `ValueError` if there is no such curve.

        Parameters
        ----------
        penalties
            Ascending, 0 or more. Below the first the curve is flat.
        values
            One for each penalty, none below `low`, the first above it.
        low
            The value of which nothing is left.
        """
        room = values[0] - low if values else 0.0
        if not room > 0:
            raise ValueError(f"the best value must be above {low!r}, got {values!r}")
        shares = [(value - low) / room for value in values]
        if penalties[0] > 0:
            penalties, shares = (0.0, *penalties), [1.0, *shares]
        if len(penalties) == 1:  # nothing was seen but texts without errors
            penalties, shares = (penalties[0], 1.0), [1.0, 1.0]
        return cls(penalties=tuple(penalties), shares=tuple(shares))

    def at(self, penalty: float) -> float:
        """Return the share that is left at `penalty`, 0 or more."""
        after = bisect_right(self.penalties, penalty)
        if after == len(self.penalties):
            return self.shares[-1]
        start, end = self.penalties[after - 1 : after + 1]
        high, low = self.shares[after - 1 : after + 1]
        # Rounding may miss the lower knot by a hair, but never the order of two penalties.
        return max(low, high - (high - low) * ((penalty - start) / (end - start)))
