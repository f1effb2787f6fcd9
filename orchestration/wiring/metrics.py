"""A name becomes a metric with its card, which is read from the TOML files of a package."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from typing import cast, get_args

from spanjury.judges.core import (
    ConfigError,
    Metric,
    MetricCard,
    PluginError,
    SegmentMetric,
    choices_for,
    first_problem,
)
from spanjury.judges.core.lazy import Once, lazily
from spanjury.judges.metrics.judge import MetricJudge
from spanjury.judges.metrics.named import NamedMetric, Over
from spanjury.orchestration.wiring.checks import checked_metric
from spanjury.orchestration.wiring.plugins import METRIC_CARDS, METRICS, built
from spanjury.orchestration.wiring.specs import parse_options

with lazily():
    import pydantic


_ENDING = ".toml"
_ENDS = ("low", "high")
_CARD = Once(lambda: pydantic.TypeAdapter(MetricCard))


def metric_cards() -> Mapping[str, MetricCard]:
    """Return the card of every available metric, sorted by name.

    A metric with an unusable card is left out; `broken_cards` says why.
    """
    return _all_cards().cards


def broken_cards() -> tuple[str, ...]:
    """Return a line for each unusable card, with the reason, and for each metric without a card."""
    cards = _all_cards()
    without = (name for name in METRICS.names() if name not in {**cards.cards, **cards.broken})
    return (*cards.broken.values(), *cards.problems, *map(_no_card, without))


def find_card(name: str) -> MetricCard:
    """Return the card of a metric.

    Raise `ConfigError` if there is no such metric; the message lists the choices. Raise
    `PluginError` if a package has the metric but no usable card for it.
    """
    cards = _all_cards()
    if name in cards.cards:
        return cards.cards[name]
    if name in cards.broken:
        raise PluginError(cards.broken[name])
    if name in METRICS.names():
        raise PluginError("; ".join([_no_card(name), *cards.problems]))
    raise ConfigError(f"there is no metric {name!r}; {choices_for(name, cards.cards)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cards:
    """The cards of all metrics, and the problem of each card that is broken, by name.

    `problems` are those of packages of cards, and of cards whose names are taken.
    """

    cards: Mapping[str, MetricCard]
    broken: Mapping[str, str]
    problems: tuple[str, ...]


def _all_cards() -> _Cards:
    """Read the cards of every package, ours first, so that others cannot take their names."""
    cards: dict[str, MetricCard] = {}
    origins: dict[str, str] = {}
    broken: dict[str, str] = {}
    problems: list[str] = []
    for plugin in sorted(METRIC_CARDS.plugins(), key=lambda plugin: not plugin.is_ours):
        try:
            package = getattr(METRIC_CARDS.get(plugin.name), "__name__", plugin.name)
            files_of_cards = _card_files(package)
        except PluginError as error:
            problems.append(str(error))
            continue
        for file in files_of_cards:
            try:
                card = _card(file)
            except PluginError as error:
                name = file.name.removesuffix(_ENDING)
                broken[name] = f"metric {name!r} of {plugin.origin} has no usable card: {error}"
                continue
            if origins.setdefault(card.name, plugin.origin) == plugin.origin:
                cards[card.name] = card
            else:
                problems.append(
                    f"the card {card.name!r} of {plugin.origin} is not used: {origins[card.name]}"
                    " has one"
                )
    return _Cards(
        cards={name: cards[name] for name in sorted(cards)},
        broken=broken,
        problems=tuple(dict.fromkeys(problems)),
    )


def _no_card(name: str) -> str:
    origins = sorted({plugin.origin for plugin in METRICS.plugins() if plugin.name == name})
    return (
        f"metric {name!r} of {' and '.join(origins)} has no card: it needs {name}.toml in a package"
        f" that the group {METRIC_CARDS.group} names"
    )


def open_metric(spec: str) -> NamedMetric:
    """Build the metric that ``NAME`` or ``NAME:option=value,…`` describes.

    In addition to the metric's own options there are ``name``, the name of its scores, and
    ``over_refs``, which selects among the scores against several references.

    Raise `ConfigError` if there is no such metric or option, or a requirement is missing.
    """
    name, given = parse_options(spec, what="metric")
    options = dict(given)
    called = str(options.pop("name", spec))
    over = options.pop("over_refs", "best")
    if over not in get_args(Over):
        raise ConfigError(f"metric {spec!r}: over_refs is one of {', '.join(get_args(Over))}")
    return NamedMetric(
        name=called,
        metric=_made(name, options),
        card=find_card(name),
        over_refs=cast("Over", over),
    )


def open_metric_judge(name: str, options: Mapping[str, object]) -> MetricJudge:
    """Build the judge that reports a metric's score.

    In addition to the metric's own options there are ``low`` and ``high``, the metric's values at
    the ends of the aspect's scale.

    Raise the `ConfigError` of `open_metric`, and `ConfigError` if the metric cannot be a judge.
    """
    rest = {key: value for key, value in options.items() if key not in _ENDS}
    metric, card = _made(name, rest), find_card(name)
    if not isinstance(metric, SegmentMetric):
        raise ConfigError(f"metric {name!r} scores a corpus, not a text: it cannot be a judge")
    ends = {key: options[key] for key in _ENDS if key in options}
    judge = built(MetricJudge, name, {"metric": metric, "card": card, **ends})
    return cast("MetricJudge", judge)  # `built` has just called it


def availability(card: MetricCard) -> str:
    """Return the reason, without its name, why a metric cannot run here; empty if it can."""
    missing = _missing(card)
    if missing:
        return missing
    if card.weights:
        return "needs a model"
    try:
        _made(card.name, {})
    except ConfigError as error:
        return str(error).removeprefix(f"{card.name} ")
    return ""


def _made(name: str, options: Mapping[str, object]) -> Metric:
    missing = _missing(find_card(name))
    if missing:
        raise ConfigError(f"metric {name!r} {missing}")
    return checked_metric(built(METRICS.get(name), name, options), name)


def _missing(card: MetricCard) -> str:
    absent = [module for module in card.requires if find_spec(module) is None]
    if not absent:
        return ""
    hint = f": pip install 'spanjury[{card.extra}]'" if card.extra else ""
    return f"needs {', '.join(absent)}{hint}"


def _card_files(package: str) -> list[Traversable]:
    """Return every ``NAME.toml`` of `package`; raise `PluginError` if there is no such package."""
    try:
        tables = [file for file in files(package).iterdir() if file.name.endswith(_ENDING)]
    except ModuleNotFoundError as error:
        raise PluginError(f"there is no package of cards {package!r}") from error
    return sorted(tables, key=lambda file: file.name)


def _card(file: Traversable) -> MetricCard:
    """Read ``NAME.toml`` as the card of the metric NAME.

    A card has the keys of `MetricCard`; ``name``, and by default ``family``, is the file's name.
    Raise `PluginError` if the file is not a card; the message names the file and the key.
    """
    try:
        return _parsed(file.name, file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise PluginError(f"{file.name} cannot be read: {error}") from error


@cache
def _parsed(file: str, text: str) -> MetricCard:
    name = file.removesuffix(_ENDING)
    try:
        values = tomllib.loads(text)
        return _CARD.get().validate_python({"name": name, "family": name, **values})
    except tomllib.TOMLDecodeError as error:
        raise PluginError(f"{file} is not a TOML file: {error}") from error
    except pydantic.ValidationError as error:
        raise PluginError(f"{file}: {first_problem(error)}") from error
