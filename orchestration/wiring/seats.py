"""The seats of a panel by name, with the models that they use, before any is opened."""

from collections.abc import Collection, Iterator, Mapping
from typing import Literal, NamedTuple

from spanjury.judges.core import ConfigError, TokenPrice, signature
from spanjury.orchestration.engine.families import FamilyWatch
from spanjury.orchestration.wiring.checking import asks_model
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig, SeatConfig
from spanjury.orchestration.wiring.models import listed_price, runs_here
from spanjury.orchestration.wiring.plugins import JUDGES, METRICS


class NamedSeat(NamedTuple):
    """A seat with its name in the panel, and the model that it uses, if any."""

    name: str
    seat: SeatConfig
    model: ModelConfig | None


class ModelPrice(NamedTuple):
    """The price of the tokens of a seat's model, and its source.

    The source is the panel's configuration, LiteLLM's list of models, or that the model runs here.
    """

    price: TokenPrice
    model: str
    source: Literal["panel", "list", "here"]


def named_seats(config: PanelConfig) -> tuple[NamedSeat, ...]:
    """Return the seats with distinct names, one for each model if a judge uses several.

    Raise `ConfigError` if a judge is unknown, lacks a model, or has a model that it does not use.
    """
    named = [named_seat for seat in config.seats_or_default for named_seat in _named(seat, config)]
    taken: dict[str, int] = {}
    distinct = []
    for entry in named:
        taken[entry.name] = count = taken.get(entry.name, 0) + 1
        distinct.append(entry if count == 1 else entry._replace(name=f"{entry.name}#{count}"))
    return tuple(distinct)


def asked_models(config: PanelConfig) -> Mapping[str, ModelConfig]:
    """Return the models that the panel uses, including the consolidator's, by name.

    Raise the `ConfigError` of `named_seats`.
    """
    models = [seat.model for seat in named_seats(config) if seat.model is not None]
    named = config.consolidate_model or next(iter(config.models), None)
    if named is not None:
        models.append(config.configured(named))
    return {model.name: model for model in reversed(models)}


def seat_prices(config: PanelConfig, names: Collection[str]) -> Mapping[str, ModelPrice]:
    """Return the prices of those `names` that are seats of the panel and use a model.

    A price comes from the configuration, or else from LiteLLM's list, which is read from the
    installed library and not from the network. Seats without a known price are left out. Raise the
    `ConfigError` of `named_seats`.
    """
    prices = {}
    for name, _, model in named_seats(config):
        if model is None or name not in names:
            continue
        if model.price is not None:
            prices[name] = ModelPrice(model.price, model.name, "panel")
        elif (price := listed_price(model)) is not None:
            prices[name] = ModelPrice(price, model.name, "here" if runs_here(model) else "list")
    return prices


def warn_of_one_family(config: PanelConfig) -> None:
    """Warn if seats of a panel that is opened elsewhere use models of one family.

    Raise the `ConfigError` of `named_seats`.
    """
    signatures = {
        name: signature(name, model=model.name)
        for name, _, model in named_seats(config)
        if model is not None
    }
    FamilyWatch(signatures, config.families).check_seats()


def is_metric(name: str) -> bool:
    """Return whether the judge of this name is a metric."""
    return name in METRICS.names() and name not in JUDGES.names()


def _named(seat: SeatConfig, config: PanelConfig) -> Iterator[NamedSeat]:
    if not isinstance(seat.judge, str):
        kind = seat.judge if isinstance(seat.judge, type) else type(seat.judge)
        yield NamedSeat(seat.name or kind.__name__, seat, None)
        return
    if is_metric(seat.judge):
        yield NamedSeat(seat.name or seat.judge, seat, None)
        return
    if not asks_model(seat.judge, seat.options):
        if seat.model is not None:
            raise ConfigError(
                f"judge {seat.judge!r} asks no model: leave out its model {seat.model!r}"
            )
        yield NamedSeat(seat.name or seat.judge, seat, None)
        return
    models = (seat.model,) if seat.model is not None else config.models
    if not models:
        raise ConfigError(f"judge {seat.judge!r} asks a model: name one with --model")
    for model in map(config.configured, models):
        yield NamedSeat(seat.name or f"{seat.judge}:{model.name}", seat, model)
