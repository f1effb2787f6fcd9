"""Prices of seats' tokens: by flags, by a panel file, or by LiteLLM's list of models."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from spanjury.judges.core import ConfigError, TokenPrice
from spanjury.orchestration.engine.families import model_of
from spanjury.orchestration.services.people.panel_seats import Seats
from spanjury.orchestration.studies.panel_study.costs import SeatPrice
from spanjury.orchestration.wiring.panel_files import read_panel_file
from spanjury.orchestration.wiring.seats import ModelPrice, seat_prices

_MILLION = 1_000_000
_FLAG = "--price"
_SOURCES = {"list": "LiteLLM's list", "here": "it runs here"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pricing:
    """The sources of the prices of seats' tokens.

    Parameters
    ----------
    named
        Seat -> price; these go first.
    panel
        A panel file: for seats of the same names, the prices of its models, or else those of
        LiteLLM's list. None to look for no more.
    """

    named: Mapping[str, TokenPrice] = field(default_factory=dict)
    panel: Path | None = None


NO_PRICES = Pricing()


class Prices(NamedTuple):
    """The price of each seat that has one, and notes on where they may not fit."""

    by_seat: Mapping[str, SeatPrice]
    notes: Sequence[str]


def parse_prices(texts: Iterable[str]) -> dict[str, TokenPrice]:
    """Read prices, each as `parse_price` does."""
    return dict(map(parse_price, texts))


def parse_price(text: str) -> tuple[str, TokenPrice]:
    """Read the price of a seat's tokens: ``SEAT=PROMPT/COMPLETION``, dollars for a million.

    Raise `ConfigError` if it is of another form.

    Examples
    --------
    >>> parse_price("gemma=0.27/0.5")
    ('gemma', TokenPrice(prompt=2.7e-07, completion=5e-07, cached=None))
    """
    seat, _, price = text.rpartition("=")
    prompt, _, completion = price.partition("/")
    try:
        dollars = float(prompt), float(completion)
    except ValueError:
        dollars = -1.0, -1.0
    if not seat or min(dollars) < 0 or not all(map(math.isfinite, dollars)):
        raise ConfigError(
            f"the price {text!r}: expected SEAT=PROMPT/COMPLETION, dollars for a million tokens"
        )
    return seat, TokenPrice(prompt=dollars[0] / _MILLION, completion=dollars[1] / _MILLION)


def find_prices(rows: Sequence[Seats], pricing: Pricing) -> Prices:
    """Return the prices of the seats that judged `rows`.

    Raise `ConfigError` if a price is of no seat, or the panel file is not as it must be.
    """
    flags, panel = pricing.named, pricing.panel
    models = {name: model_of(seat.signature) for seats in rows for name, seat in seats.items()}
    if strange := [name for name in flags if name not in models]:
        raise ConfigError(
            f"--price of no seat: {', '.join(strange)}; there are {', '.join(models)}"
        )
    by_seat = {name: SeatPrice(price=price, source=_FLAG) for name, price in flags.items()}
    if panel is None:
        return Prices(by_seat, ())
    wanted = {name for name in _calling(rows) if name not in flags}
    in_file = seat_prices(read_panel_file(panel), wanted)
    for name, price in in_file.items():
        by_seat[name] = SeatPrice(price=price.price, source=_SOURCES.get(price.source, panel.name))
    return Prices(by_seat, list(_other_models(in_file, models)))


def _calling(rows: Sequence[Seats]) -> Iterator[str]:
    for seats in rows:
        for name, seat in seats.items():
            if seat.usage.calls or seat.usage.prompt or seat.usage.completion:
                yield name


def _other_models(in_file: Mapping[str, ModelPrice], models: Mapping[str, str]) -> Iterator[str]:
    """Yield where a price is of another model than the one that was asked."""
    for name, price in in_file.items():
        ran = models[name]
        if ran and price.source != "here" and _last(ran) != _last(price.model):
            yield f"{name} asked {ran}, and its price is that of {price.model}"


def _last(model: str) -> str:
    return model.rpartition("/")[2]
