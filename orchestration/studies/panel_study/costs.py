"""Costs of seats, in the unit that says most, and the order in which they are asked by it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from spanjury.judges.core import TokenPrice
from spanjury.orchestration.report import Block, Paragraph, figure

Unit = Literal["dollars", "tokens", "calls", "seconds"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatPrice:
    """The price of the tokens of a seat's model, and where it is from, in words."""

    price: TokenPrice
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatCost:
    """The cost of one seat for one text, on average."""

    calls: float = 0.0
    tokens: float = 0.0
    seconds: float = 0.0
    dollars: float | None = None
    """None where the price of its model is not known."""
    price: SeatPrice | None = None
    """By which they are counted."""

    @property
    def is_unpriced(self) -> bool:
        """True if a model is asked whose price is not known."""
        return self.dollars is None and bool(self.calls or self.tokens)

    def counted_in(self, unit: Unit) -> float:
        """Return the cost in a unit; NaN for a price that is not known."""
        match unit:
            case "tokens":
                return self.tokens
            case "calls":
                return self.calls
            case "seconds":
                return self.seconds
            case "dollars" if self.dollars is not None:
                return self.dollars
            case "dollars":
                return np.nan if self.is_unpriced else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatPrices:
    """The prices by which dollars are counted, and the seats that lack one."""

    of_seats: Mapping[str, SeatPrice]
    lacking: tuple[str, ...]

    @classmethod
    def of(cls, names: Iterable[str], costs: Iterable[SeatCost]) -> "SeatPrices":
        """Return the prices that seats have, and the seats without one."""
        both = list(zip(names, costs, strict=True))
        return cls(
            of_seats={name: cost.price for name, cost in both if cost.price is not None},
            lacking=tuple(name for name, cost in both if cost.is_unpriced),
        )


def amount_words(amount: float, unit: Unit) -> str:
    """Return so much of a unit in words.

    Examples
    --------
    >>> amount_words(0.05, "dollars"), amount_words(1, "calls"), amount_words(2e5, "tokens")
    ('$0.05', '1 call', '200,000 tokens')
    """
    digits = f"{amount:,.10g}"
    if unit == "dollars":
        return f"${digits}"
    return f"{digits} {unit.removesuffix('s') if amount == 1 else unit}"


def usual_unit(costs: Iterable[SeatCost]) -> Unit:
    """Return the unit that says most: a seat that calls no model costs no dollars."""
    asked = list(costs)
    calling = [cost for cost in asked if cost.calls or cost.tokens]
    if calling and all(cost.dollars is not None for cost in calling):
        return "dollars"
    if any(cost.tokens for cost in asked):
        return "tokens"
    return "calls" if calling else "seconds"


def usual_stages(costs: Sequence[SeatCost], *, unit: Unit) -> tuple[tuple[int, ...], ...]:
    """Return the seats that cost nothing together, then each other, the cheapest first.

    Examples
    --------
    >>> model, small, rules = SeatCost(calls=1, tokens=9), SeatCost(calls=1, tokens=5), SeatCost()
    >>> usual_stages([model, small, rules], unit="calls")
    ((2,), (1,), (0,))
    """
    counted = [cost.counted_in(unit) for cost in costs]
    # Nearly all models take one call a text: their tokens say which is the cheaper.
    prices = [cost.tokens for cost in costs] if unit == "calls" else counted
    free = tuple(number for number, cost in enumerate(counted) if cost == 0)
    paid = sorted(set(range(len(costs))) - {*free}, key=lambda number: (prices[number], number))
    return (*((free,) if free else ()), *((number,) for number in paid))


_MILLION = 1_000_000


def price_lines(prices: SeatPrices, *, unit: str) -> Iterator[Block]:
    """Yield what a reader of costs must know of the prices behind them.

    A seat without a price is named only where some have one, or cost is counted in dollars.
    """
    if prices.of_seats:
        words = "; ".join(f"{seat} {_words(of_seat)}" for seat, of_seat in prices.of_seats.items())
        yield Paragraph(f"Prices in dollars, for a million tokens read / written: {words}.")
    if prices.lacking and (prices.of_seats or unit == "dollars"):
        left_out = " A panel with such a seat has no cost here." if unit == "dollars" else ""
        yield Paragraph(
            f"No price is known of {', '.join(prices.lacking)}: name it by --price"
            f" SEAT=PROMPT/COMPLETION, or as the price of a model in a --panel file.{left_out}",
            tone="caution",
        )


def _words(price: SeatPrice) -> str:
    read, written = (
        figure(each * _MILLION, ".4g") for each in (price.price.prompt, price.price.completion)
    )
    cached = price.price.cached
    besides = "" if cached is None else f", cached {figure(cached * _MILLION, '.4g')}"
    return f"{read} / {written}{besides} ({price.source})"
