"""The budget of a cascade: the most that all rows of a run may spend, and the rest of it.

The budget belongs to the run, however often the run is resumed, and covers every call in its
ledger. Rows are served in order. Before seats are asked, their average spending so far is set
aside, so that concurrent rows do not begin work that the budget cannot finish. Each call must still
fit into the budget (`Meter.reserve`).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from spanjury.judges.core import ConfigError, Segment, TokenPrice, Usage
from spanjury.orchestration.engine.metering import Meter
from spanjury.orchestration.engine.spending import Unit, in_words, spending

_AMOUNT = re.compile(
    r"\$?\s*(\d+(?:_\d+)*(?:\.\d+)?(?:[eE]\+?\d+)?)\s*(dollars?|calls?|tokens?|\$)?"
)
_CHARACTERS = 6
"""Maximum average number of characters per token: English has four to five."""
_TOLERANCE = 1e-9  # sums of dollars are not exact


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """An amount of dollars, calls or tokens; raises `ConfigError` if it is not positive."""

    amount: float
    unit: Unit

    def __post_init__(self) -> None:
        if not 0.0 < self.amount < float("inf"):
            raise ConfigError(f"a budget must be over 0, got {self.amount:g} {self.unit}")

    def __str__(self) -> str:
        """Return the budget in words."""
        return self.words(self.amount)

    def words(self, amount: float) -> str:
        """Return `amount` with the unit."""
        return in_words(amount, self.unit)

    def taken(self, usage: Usage, price: TokenPrice | None) -> float:
        """Return the part of the budget that `usage` spends."""
        return spending(usage, price).of(self.unit)

    def least(self, segment: Segment, price: TokenPrice | None) -> float:
        """Return the least that one call about `segment` spends: its texts must be read."""
        if self.unit == "calls":
            return 1.0
        length = len(segment.output) + sum(map(len, segment.inputs.values()))
        return self.taken(Usage(calls=1, prompt=length // _CHARACTERS), price)


def parse_budget(text: str) -> Budget:
    """Parse ``5`` or ``$5`` as dollars, ``300calls`` as calls, and ``2e5 tokens`` as tokens.

    Raises `ConfigError` if the text has none of these forms.
    """
    read = _AMOUNT.fullmatch(text.strip())
    if read is None:
        raise ConfigError(f"budget {text!r}: expected dollars (5), 300calls or 2e5tokens")
    word = (read[2] or "dollars").removesuffix("s")
    units: Mapping[str, Unit] = {"call": "calls", "token": "tokens"}
    return Budget(amount=float(read[1]), unit=units.get(word, "dollars"))


class Allowance:
    """The rest of a budget during a run.

    Raises `ConfigError` if the budget is in dollars and a price is unknown.

    Parameters
    ----------
    prices
        Seat -> the price of its model, for each seat that uses a model; None if the price is
        unknown. The other seats are free.
    meter
        The ledger of the run.
    """

    def __init__(
        self, budget: Budget, *, prices: Mapping[str, TokenPrice | None], meter: Meter
    ) -> None:
        self.budget = budget
        self.meter = meter
        self._prices = prices
        self._reported = 0.0
        self._seen: dict[str, tuple[int, float]] = {}
        unpriced = sorted(seat for seat, price in prices.items() if price is None)
        if unpriced and budget.unit == "dollars":
            raise ConfigError(
                f"no price is known for {', '.join(unpriced)}: give it in a panel file, or give "
                "the budget in calls or tokens"
            )

    @property
    def left(self) -> float:
        """The amount that may still be spent, less the amounts set aside for rows under way."""
        # A judge that brings its own model, or a run of an earlier version, leaves no ledger
        # entries: its reports alone say what was spent.
        spent = max(self._reported, self.meter.of_run.of(self.budget.unit))
        return max(0.0, self.budget.amount - spent - self.meter.set_aside)

    def holding(self) -> AbstractContextManager[None]:
        """Keep every call of the run within the budget while the context is open."""
        return self.meter.holding(self.budget.unit, self.budget.amount)

    def require_row(self, segment: Segment) -> None:
        """Raise `ConfigError` if the budget is too small for all seats to judge even `segment`."""
        least = sum(self.budget.least(segment, price) for price in self._prices.values())
        if least > self.budget.amount + _TOLERANCE:
            raise ConfigError(
                f"a budget of {self.budget} is too small for one row: all seats together take "
                f"{self.budget.words(least)} or more for {segment.segment_id!r}"
            )

    def expected(self, seats: Sequence[str], segment: Segment) -> float:
        """Return the expected spending of `seats`: their mean over earlier rows, or the least."""
        return sum(self._expected(seat, segment) for seat in seats if seat in self._prices)

    def allows(self, seats: Sequence[str], segment: Segment) -> bool:
        """Return whether enough is left to ask `seats` about `segment`."""
        return self.expected(seats, segment) <= self.left + _TOLERANCE

    @contextmanager
    def setting_aside(self, seats: Sequence[str], segment: Segment) -> Iterator[None]:
        """Set aside the expected spending of `seats` while the context is open."""
        with self.meter.setting_aside(self.expected(seats, segment), self.budget.unit):
            yield

    def count(self, seat: str, usage: Usage) -> None:
        """Add the spending of one report; a remembered report counts its original cost."""
        taken = self.budget.taken(usage, self._prices.get(seat))
        times, total = self._seen.get(seat, (0, 0.0))
        self._seen[seat] = times + 1, total + taken
        self._reported += taken

    def _expected(self, seat: str, segment: Segment) -> float:
        times, total = self._seen.get(seat, (0, 0.0))
        least = self.budget.least(segment, self._prices[seat])
        return total / times if times and total else least
