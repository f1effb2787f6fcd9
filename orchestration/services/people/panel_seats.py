"""The seats of a run's texts as a study of a panel takes them: words, costs, prices, names."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from spanjury.judges.core import ConfigError, Outcome, Report, Scale, TokenPrice, Usage, choices_for
from spanjury.orchestration.engine.cascade import estimate_of, place_on
from spanjury.orchestration.engine.families import model_of
from spanjury.orchestration.services.people.marked_texts import JudgedText
from spanjury.orchestration.studies.panel_study.costs import SeatCost, SeatPrice
from spanjury.orchestration.studies.panel_study.seats import SeatWord, StudyText
from spanjury.orchestration.wiring.panel_files import read_panel_file
from spanjury.orchestration.wiring.read_results import ReportedSeat
from spanjury.orchestration.wiring.seats import ModelPrice, seat_prices

Seats = Mapping[str, ReportedSeat]
"""Seat -> its report on one text."""

_SILENT = {Outcome.SCORED, Outcome.ABSTAINED}
"""Ends with which a seat without a score has not failed."""
_MILLION = 1_000_000
_FLAG = "--price"
_SOURCES = {"list": "LiteLLM's list", "here": "it runs here"}


def study_text(text: JudgedText, seats: Seats, *, human: float | None, within: str) -> StudyText:
    """Return a text with the words of `seats` and people's score of it, where there is one.

    Raise `ConfigError` if its meta has no key `within`, where one is named.
    """
    return StudyText(
        system=text.row.system,
        source=text.source,
        group=_group(text, within),
        human=np.nan if human is None else human,
        seats={name: _word(seat, text.scale) for name, seat in seats.items()},
    )


def require_seats(asked: Iterable[str], rows: Iterable[Seats], *, aspect: str) -> None:
    """Raise `ConfigError` if one of those that are asked for judged none of the rows."""
    names = dict.fromkeys(name for seats in rows for name in seats)
    if strange := [name for name in asked if name not in names]:
        raise ConfigError(f"no seat {strange[0]} judged {aspect}; {choices_for(strange[0], names)}")


def seat_costs(rows: Iterable[Seats], prices: Mapping[str, SeatPrice]) -> dict[str, SeatCost]:
    """Return what each seat takes for one of the rows that it judged."""
    seats_of: defaultdict[str, list[ReportedSeat]] = defaultdict(list)
    for row in rows:
        for name, seat in row.items():
            seats_of[name].append(seat)
    return {name: _cost(seats, prices.get(name)) for name, seats in seats_of.items()}


def _cost(seats: Sequence[ReportedSeat], price: SeatPrice | None) -> SeatCost:
    usage = sum((seat.usage for seat in seats), Usage())
    count = len(seats)
    return SeatCost(
        calls=usage.calls / count,
        tokens=(usage.prompt + usage.completion) / count,
        seconds=sum(seat.seconds for seat in seats) / count,
        dollars=None if price is None else price.price.cost(usage) / count,
        price=price,
    )


def _word(seat: ReportedSeat, scale: Scale) -> SeatWord:
    if seat.score is None:
        return SeatWord(np.nan, np.nan, np.nan, has_failed=seat.outcome not in _SILENT)
    report = Report(score=seat.score, error_probability=seat.error_probability)
    estimate = estimate_of(report, scale)
    assert estimate is not None  # a report with a score has one
    return SeatWord(seat.score, place_on(scale, seat.score), estimate, has_failed=False)


def _group(text: JudgedText, within: str) -> str:
    if not within:
        return ""
    value = text.segment.meta.get(within) if text.segment else None
    if value is None:
        raise ConfigError(f"--within {within}: the row {text.row.id!r} has no such key in its meta")
    return str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pricing:
    """The sources of the prices of seats' tokens.

    Prices named by seat come first. The panel file gives other seats of the same names the prices
    of its models, or else those of LiteLLM's list.
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
        raise ConfigError(f"--price of no seat: {strange[0]}; {choices_for(strange[0], models)}")
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
