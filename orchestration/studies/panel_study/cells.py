"""Estimates, names and prices of seats as the reports of a study show them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from spanjury.orchestration.report import Block, Cell, Paragraph, figure
from spanjury.orchestration.studies.panel_study.agreement import Estimate
from spanjury.orchestration.studies.panel_study.costs import SeatPrice, SeatPrices

VALUE = ".3f"
GAIN = "+.3f"
_DIGITS = 9


def estimate_cell(estimate: Estimate, spec: str = VALUE) -> Cell:
    """Return an estimate with its interval."""
    # Rounding errors would be shown as a negative nothing.
    value, low, high = (round(number, _DIGITS) + 0.0 for number in estimate)
    return Cell(value, spec, interval=(low, high))


def short_names(seats: Sequence[str]) -> Mapping[str, str]:
    """Return what each seat is called in tables: its model's own name, if that is one seat's only.

    Examples
    --------
    >>> short_names(["reader", "annotator:ollama/gemma2:27b"])
    {'reader': 'reader', 'annotator:ollama/gemma2:27b': 'gemma2:27b'}
    """
    short = {seat: seat.rpartition("/")[2] for seat in seats}
    seen = Counter([*short.values(), *(seat for seat in seats if short[seat] != seat)])
    return {seat: name if name and seen[name] == 1 else seat for seat, name in short.items()}


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
