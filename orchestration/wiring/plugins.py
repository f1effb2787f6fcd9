"""Plugins by name: their groups, and building objects from them.

A plugin's options are the parameters of the factory that its entry point names.
"""

import inspect
import math
from collections.abc import Callable, Mapping
from contextlib import suppress

from spanjury.judges.core import (
    Aggregation,
    ConfigError,
    EvaluationError,
    ModelOpener,
    PluginError,
    Source,
    choices_for,
    failing_as,
    is_whole,
)
from spanjury.judges.core.lazy import lazily
from spanjury.judges.core.registry import Registry

with lazily():
    import pydantic

JUDGES: Registry[Callable[..., object]] = Registry("spanjury.judges", beside="spanjury.metrics")
PAIR_JUDGES: Registry[Callable[..., object]] = Registry("spanjury.pair_judges")
CHECKERS: Registry[Callable[..., object]] = Registry("spanjury.checkers")
MODELS: Registry[ModelOpener] = Registry("spanjury.models")
AGGREGATIONS: Registry[Aggregation] = Registry("spanjury.aggregations")
CONSOLIDATORS: Registry[Callable[..., object]] = Registry("spanjury.consolidators")
PERTURBATIONS: Registry[object] = Registry("spanjury.perturbations")
ATTACKS: Registry[object] = Registry("spanjury.attacks")
EXAMS: Registry[object] = Registry(
    "spanjury.exams",
    # Other commands of `spanjury exam`, and other functions of `spanjury.exams`.
    reserved=frozenset(
        (
            *("calibrate", "card", "compare", "compare-exams", "meta", "pairs", "panel-cascade"),
            *("panel-study", "perturb", "rank", "span-bench"),
        )
    ),
    are_functions=True,
)
EXPLANATION_PERTURBATIONS: Registry[object] = Registry("spanjury.explanation_perturbations")
METRICS: Registry[Callable[..., object]] = Registry("spanjury.metrics")
METRIC_CARDS: Registry[object] = Registry("spanjury.metric_cards")
SINKS: Registry[Callable[..., object]] = Registry("spanjury.sinks")
SOURCES: Registry[Source] = Registry("spanjury.sources")
STATISTICS: Registry[Callable[..., object]] = Registry("spanjury.statistics")
GROUPS = (
    JUDGES,
    PAIR_JUDGES,
    CHECKERS,
    MODELS,
    AGGREGATIONS,
    CONSOLIDATORS,
    PERTURBATIONS,
    ATTACKS,
    EXAMS,
    EXPLANATION_PERTURBATIONS,
    METRICS,
    METRIC_CARDS,
    SINKS,
    SOURCES,
    STATISTICS,
)
_HANDED = frozenset({"checker", "encoder", "model", "panel", "tuning"})
"""Parameters that are not options: wiring supplies them."""


_LIVING = frozenset({"checker", "encoder", "model", "panel"})
"""Parameters whose values are objects that need no validation."""
_COLLECTING = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)


def built(factory: Callable[..., object], name: str, options: Mapping[str, object]) -> object:
    """Call a plugin's factory with its options, each validated against its annotation.

    Raise `ConfigError` if it has no such option, or a value does not fit; the message names the
    plugin and the choices. Raise `PluginError` if it cannot be called, or fails otherwise.
    """
    accepted = parameters(factory)
    for option in options:
        if option not in accepted and not takes_any(factory):
            choices = choices_for(option, sorted(accepted.keys() - _HANDED))
            raise ConfigError(f"{name!r} has no option {option!r}; {choices}")
    try:
        with failing_as(
            lambda error: PluginError(f"{name!r} cannot be made: {error!r}"),
            passing=(TypeError, ValueError, EvaluationError),
        ):
            plugin = factory(**_validated(factory, name, options))
    except (TypeError, ValueError) as error:
        given = ", ".join(
            f"{option}={value}" for option, value in options.items() if option not in _HANDED
        )
        how = f"made with {given}" if given else "made"
        raise ConfigError(f"{name!r} cannot be {how}: {error}") from error
    return not_awaitable(plugin, f"the factory of {name!r}")


def not_awaitable(made: object, what: str) -> object:
    """Return what a plugin's function returned; raise `PluginError` if the function is async."""
    if inspect.iscoroutine(made):
        made.close()  # it will never be awaited
        raise PluginError(f"{what} must not be async: write `def`")
    return made


def _validated(
    factory: Callable[..., object], name: str, options: Mapping[str, object]
) -> dict[str, object]:
    accepted = parameters(factory)
    checked = dict(options)
    for option in (checked.keys() & accepted) - _LIVING:
        if isinstance(accepted[option].annotation, str):
            continue  # a type that only type checkers import
        if type(checked[option]) is accepted[option].annotation:
            continue  # importing pydantic would take longer than a short run
        try:
            adapter: pydantic.TypeAdapter[object] = pydantic.TypeAdapter(
                accepted[option].annotation
            )
            checked[option] = _fitting(adapter, checked[option])
        except pydantic.PydanticSchemaGenerationError:
            continue  # the plugin's own type: the plugin checks it
        except pydantic.ValidationError as error:
            problem = error.errors(include_url=False)[0]
            quoted = f'; in a flag, write {option}="…" for a text that looks like another value'
            hint = quoted if problem["type"] == "string_type" else ""
            raise ConfigError(
                f"option {option!r} of {name!r}: {problem['msg']}, got {checked[option]!r}{hint}"
            ) from error
    for option, value in checked.items():
        if isinstance(value, float) and math.isnan(value):
            raise ConfigError(f"option {option!r} of {name!r} must be a number, got nan")
    return checked


def _fitting(adapter: "pydantic.TypeAdapter[object]", value: object) -> object:
    """Return a value that fits; digits, which a flag turns into a number, also fit as a text."""
    try:
        return adapter.validate_python(value)
    except pydantic.ValidationError:
        if not is_whole(value):
            raise
        with suppress(pydantic.ValidationError):
            return adapter.validate_python(str(value))
        raise


def parameters(factory: Callable[..., object]) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of a plugin's factory, by name.

    Raise `PluginError` if it is not a factory, or its annotations cannot be evaluated.
    """
    every = _signature(factory).parameters
    return {name: each for name, each in every.items() if each.kind not in _COLLECTING}


def takes_any(factory: Callable[..., object]) -> bool:
    """Return whether a factory collects further options, as by ``**options``."""
    kinds = (each.kind for each in _signature(factory).parameters.values())
    return inspect.Parameter.VAR_KEYWORD in kinds


def _signature(factory: Callable[..., object]) -> inspect.Signature:
    try:
        try:
            return inspect.signature(factory, eval_str=True)
        except NameError:  # a type that the plugin imports for type checkers only
            return inspect.signature(factory)
    except (TypeError, ValueError, AttributeError, SyntaxError) as error:
        raise PluginError(f"{factory!r} is not a function or class to call: {error}") from error


def takes_model(factory: Callable[..., object], name: str) -> bool:
    """Return whether a plugin's factory has a parameter ``model``, which receives a chat model.

    Raise `PluginError` if the parameter is declared as a text.
    """
    parameter = parameters(factory).get("model")
    if parameter is not None and parameter.annotation is str:
        raise PluginError(
            f"{name!r}: a parameter called 'model' receives a chat model, and is declared as str:"
            " call it by another name"
        )
    return parameter is not None
