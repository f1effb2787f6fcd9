"""The budget of a cascade: the most that all rows of a run may take, and what is left of it.

It is of the run, however often this is resumed: a reply that is remembered counts as it cost
then. Rows are served in their order. Before seats are asked, what they took on the rows so far
is set aside, so that the budget is exceeded by no more than the calls under way miss their mean.

A run that was killed had asked about rows further on than the one that it would come to next. What
was granted is therefore kept as a sum, too, with the grants under way: a run that goes on has that
less from its beginning, and not only once it comes to these rows.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from spanjury.judges.core import ConfigError, SeatReport, Segment, TokenPrice, Usage

Unit = Literal["dollars", "calls", "tokens"]

_AMOUNT = re.compile(r"\$?\s*(\d[\d_]*(?:\.\d+)?(?:[eE]\+?\d+)?)\s*(dollars?|calls?|tokens?|\$)?")
_CHARACTERS = 6
"""Characters of a text that a token has at most, on average: English has four to five."""
_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """So many dollars, calls or tokens; raises `ConfigError` if it is not positive."""

    amount: float
    unit: Unit

    def __post_init__(self) -> None:
        if not 0.0 < self.amount < float("inf"):
            raise ConfigError(f"a budget must be over 0, got {self.amount:g} {self.unit}")

    def __str__(self) -> str:
        """Return the budget in words."""
        return self.words(self.amount)

    def words(self, amount: float) -> str:
        """Return `amount` with the unit.

        Examples
        --------
        >>> parse_budget("300calls").words(1), parse_budget("5").words(0.25)
        ('1 call', '$0.25')
        """
        if self.unit == "dollars":
            return f"${amount:.4g}"
        count = f"{amount:,.0f}" if amount == round(amount) else f"{amount:,.1f}"
        return f"{count} {self.unit[:-1] if count == '1' else self.unit}"

    def taken(self, usage: Usage, price: TokenPrice | None) -> float:
        """Return what `usage` takes of the budget."""
        if self.unit == "calls":
            return usage.calls
        if self.unit == "tokens":
            return usage.prompt + usage.completion
        return 0.0 if price is None else price.cost(usage)

    def least(self, segment: Segment, price: TokenPrice | None) -> float:
        """Return what one call about `segment` takes at the least: its texts must be read."""
        if self.unit == "calls":
            return 1.0
        length = len(segment.output) + sum(map(len, segment.inputs.values()))
        return self.taken(Usage(calls=1, prompt=length // _CHARACTERS), price)


def parse_budget(text: str) -> Budget:
    """Read ``5`` or ``$5`` as dollars, ``300calls`` and ``2e5 tokens`` as what they say.

    Raises `ConfigError` if it is none of these.
    """
    read = _AMOUNT.fullmatch(text.strip())
    if read is None:
        raise ConfigError(f"budget {text!r}: expected dollars (5), 300calls or 2e5tokens")
    word = (read[2] or "dollars").removesuffix("s")
    units: Mapping[str, Unit] = {"call": "calls", "token": "tokens"}
    return Budget(amount=float(read[1]), unit=units.get(word, "dollars"))


class Allowance:
    """The rest of a budget while a run goes on.

    Parameters
    ----------
    prices
        The price of the model of each seat that asks one, None for one that is not known. The
        other seats are free.

    Raises
    ------
    ConfigError
        If the budget is in dollars and a price is not known.
    """

    def __init__(self, budget: Budget, *, prices: Mapping[str, TokenPrice | None]) -> None:
        self.budget = budget
        self.spent = 0.0
        self._prices = prices
        self._set_aside = 0.0
        self._granted = 0.0
        self._open: dict[str, float] = {}
        self._carried: frozenset[str] = frozenset()
        self._seen: dict[str, tuple[int, float]] = {}
        unpriced = sorted(seat for seat, price in prices.items() if price is None)
        if unpriced and budget.unit == "dollars":
            raise ConfigError(
                f"no price is known for {', '.join(unpriced)}: give it in a panel file, or give "
                "the budget in calls or tokens"
            )

    @property
    def left(self) -> float:
        """The amount that may still be spent, without what is set aside for calls under way."""
        granted = self._granted + sum(self._open.values())
        return max(0.0, self.budget.amount - max(self.spent + self._set_aside, granted))

    def carry(self, kept: bytes) -> None:
        """Take up what `kept` says that an earlier process of the run was granted."""
        self._granted, self._open = json.loads(kept)
        self._carried = frozenset(self._open)

    def kept(self) -> bytes:
        """Return what was granted so far, and to whom that is under way."""
        return json.dumps([self._granted, self._open]).encode()

    def is_granted(self, name: str) -> bool:
        """Say whether an earlier process was granted what is called so, and ended meanwhile."""
        return name in self._carried

    def grant(self, name: str, seats: Sequence[str], segment: Segment) -> None:
        """Note that `seats` are asked about `segment` for the first time, under a name.

        What is granted and then given up stays granted: the call may have been paid.
        """
        self._open[name] = self.expected(seats, segment)

    def require_row(self, segment: Segment) -> None:
        """Raise `ConfigError` if not even `segment` could be judged by all seats."""
        least = sum(self.budget.least(segment, price) for price in self._prices.values())
        if least > self.budget.amount + _TOLERANCE:
            raise ConfigError(
                f"a budget of {self.budget} is too small for one row: all seats together take "
                f"{self.budget.words(least)} or more for {segment.segment_id!r}"
            )

    def expected(self, seats: Sequence[str], segment: Segment) -> float:
        """Return what asking `seats` takes: the mean of the rows so far, or the least."""
        return sum(self._expected(seat, segment) for seat in seats if seat in self._prices)

    def allows(self, seats: Sequence[str], segment: Segment) -> bool:
        """Say whether enough is left to ask `seats` about `segment`."""
        return self.expected(seats, segment) <= self.left + _TOLERANCE

    @contextmanager
    def setting_aside(self, seats: Sequence[str], segment: Segment) -> Iterator[None]:
        """Set aside what asking `seats` takes, until they were asked or that was given up."""
        amount = self.expected(seats, segment)
        self._set_aside += amount
        try:
            yield
        finally:
            self._set_aside -= amount

    def count(self, seat: str, usage: Usage) -> None:
        """Count what one report took, or took when it was made."""
        taken = self.budget.taken(usage, self._prices.get(seat))
        times, total = self._seen.get(seat, (0, 0.0))
        self._seen[seat] = times + 1, total + taken
        self.spent += taken

    def count_reports(self, name: str, reports: Sequence[SeatReport]) -> None:
        """Count what `reports` took that were granted under a name, if not by then finished."""
        before = self.spent
        for one in reports:
            self.count(one.seat, one.report.usage)
        if self._open.pop(name, None) is not None:
            self._granted += self.spent - before

    def _expected(self, seat: str, segment: Segment) -> float:
        times, total = self._seen.get(seat, (0, 0.0))
        least = self.budget.least(segment, self._prices[seat])
        return total / times if times and total else least
