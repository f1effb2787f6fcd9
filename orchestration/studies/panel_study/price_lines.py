"""Prices of seats' tokens in a report: which they are, whence, and who lacks one."""

from collections.abc import Iterator

from spanjury.orchestration.report import Block, Paragraph, figure
from spanjury.orchestration.studies.panel_study.costs import SeatPrice, SeatPrices

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
