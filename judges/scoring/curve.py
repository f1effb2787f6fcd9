"""From what errors cost to the share of the best score that is left: a line that only falls."""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

__all__ = ["Curve"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Straight lines between knots, flat behind the last.

    Parameters
    ----------
    losses
        Where the knots are: ascending from 0, two or more.
    shares
        How much of the best score is left there, in ``[0, 1]``: 1 at the first knot, and
        never more than at the knot before.

    Raises
    ------
    ValueError
        If the knots are not as above.

    Examples
    --------
    >>> Curve(losses=(0.0, 5.0), shares=(1.0, 0.0)).at(1.0)
    0.8
    """

    losses: tuple[float, ...]
    shares: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.losses) != len(self.shares) or len(self.losses) < 2:  # noqa: PLR2004
            raise ValueError(f"{len(self.losses)} losses with {len(self.shares)} shares")
        ascends = all(before < after for before, after in pairwise(self.losses))
        if self.losses[0] != 0 or not ascends or not math.isfinite(self.losses[-1]):
            raise ValueError(f"losses must ascend from 0, got {self.losses!r}")
        falls = all(before >= after for before, after in pairwise(self.shares))
        if self.shares[0] != 1 or not falls or not self.shares[-1] >= 0:
            raise ValueError(f"shares must fall from 1 and stay above 0, got {self.shares!r}")

    @classmethod
    def through(cls, losses: Sequence[float], values: Sequence[float], *, low: float) -> "Curve":
        """Return the curve through `values` that never rise, stretched to begin at 1.

        Parameters
        ----------
        losses
            Ascending, 0 or more. Below the first the curve is flat.
        values
            One for each loss, none below `low`, the first above it.
        low
            The value of which nothing is left.

        Raises
        ------
        ValueError
            If that is no curve.
        """
        room = values[0] - low if values else 0.0
        if not room > 0:
            raise ValueError(f"the best value must be above {low!r}, got {values!r}")
        shares = [(value - low) / room for value in values]
        if losses[0] > 0:
            losses, shares = (0.0, *losses), [1.0, *shares]
        if len(losses) == 1:  # nothing was seen but texts without errors
            losses, shares = (losses[0], 1.0), [1.0, 1.0]
        return cls(losses=tuple(losses), shares=tuple(shares))

    def at(self, loss: float) -> float:
        """Return the share that is left at `loss`, 0 or more."""
        after = bisect_right(self.losses, loss)
        if after == len(self.losses):
            return self.shares[-1]
        start, end = self.losses[after - 1 : after + 1]
        high, low = self.shares[after - 1 : after + 1]
        # Rounding may miss the lower knot by a hair, but never the order of two losses.
        return max(low, high - (high - low) * ((loss - start) / (end - start)))
