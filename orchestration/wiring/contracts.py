"""Check that a plugin fulfils the contract of its group, as far as this shows before its use."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NoReturn, Protocol, TypeVar

from numpy.random import Generator

from spanjury.judges.core import (
    ConfigError,
    ErrorSpan,
    Located,
    PermanentModelError,
    PerturbationError,
    PluginError,
    reason_of,
)
from spanjury.judges.core.registry import Registry
from spanjury.orchestration.wiring.checks import (
    checked_aggregation,
    checked_checker,
    checked_consolidator,
    checked_judge,
    checked_metric,
    checked_opener,
    checked_pair_judge,
    checked_source,
)
from spanjury.orchestration.wiring.exam_plugins import (
    find_attack,
    find_explanation_perturbation,
    find_perturbation,
    find_statistic,
    required_options,
)
from spanjury.orchestration.wiring.plugins import (
    AGGREGATIONS,
    ATTACKS,
    CHECKERS,
    CONSOLIDATORS,
    EXPLANATION_PERTURBATIONS,
    JUDGES,
    METRICS,
    MODELS,
    PAIR_JUDGES,
    PERTURBATIONS,
    SINKS,
    SOURCES,
    STATISTICS,
    built,
    parameters,
    takes_model,
)
from spanjury.orchestration.wiring.traffic import open_sink
from spanjury.perturbations.attacks.attack import AttackCase
from spanjury.perturbations.explanation.perturbation import ErrorList, NothingToChangeError
from spanjury.perturbations.perturbation import Case, NothingToDamageError, generator_for

_TEXT = "The bridge opened in 1932. It is 503 metres long."
_INPUTS = MappingProxyType({"Article": _TEXT})
_CASE = Case(text=_TEXT, inputs=_INPUTS, others=(_TEXT,))
_ATTACKED = AttackCase(text=_TEXT, inputs=_INPUTS)
_ERRORS = ErrorList(
    output=_TEXT,
    spans=(
        ErrorSpan(
            text="1932",
            start=21,
            end=25,
            located=Located.EXACT,
            explanation="It opened later.",
            severity=3,
        ),
    ),
)
"""Samples on which rules are tried."""
R = TypeVar("R", bound="_Ruled")


@dataclass(frozen=True, slots=True)
class _StandIn:
    """A model or panel for plugins that are built and not used."""

    signature: str = "stand-in"

    async def complete(self, *_: object) -> NoReturn:
        raise PermanentModelError("a plugin must not ask its model before it is used")

    assess = complete


class _Signed(Protocol):
    @property
    def signature(self) -> str: ...


def _built(
    registry: Registry[Callable[..., object]],
    check: Callable[[object, str], _Signed],
    *,
    hands: Collection[str] = (),
) -> Callable[[str], object]:
    """Return the check of a group whose plugins are factories of objects with a signature.

    `hands`: the parameters that receive a model or a panel.
    """

    def build_and_check(name: str) -> None:
        factory = registry.get(name)
        if hands:
            takes_model(factory, name)
        handed = parameters(factory).keys() & hands

        def made() -> _Signed:
            return check(built(factory, name, dict.fromkeys(handed, _StandIn())), name)

        first, second = made().signature, made().signature
        if first != second:
            raise PluginError(
                f"{name!r}: two objects with the same options have different signatures, so that"
                f" the memory keeps nothing: {first!r}, {second!r}"
            )

    return build_and_check


class _Ruled(Protocol):
    @property
    def rule(self) -> Callable[..., object]: ...


def _tried(
    find: Callable[[str], R], use: Callable[[R, Generator], object]
) -> Callable[[str], object]:
    """Return the check of a group whose plugins are rules, each of which is used on a sample."""

    def find_and_try(name: str) -> None:
        plugin = find(name)
        if required := required_options(plugin.rule):
            raise ConfigError(f"{name!r} needs the option {', '.join(required)}")
        try:
            use(plugin, generator_for(1, name, "sample"))
        except (NothingToDamageError, NothingToChangeError):
            return
        except PerturbationError as error:
            raise PluginError(f"{name!r}, used on a sample: {error}") from error

    return find_and_try


_CHECKS: Mapping[str, Callable[[str], object]] = MappingProxyType({
    JUDGES.group: _built(JUDGES, checked_judge, hands={"model"}),
    PAIR_JUDGES.group: _built(PAIR_JUDGES, checked_pair_judge, hands={"model", "panel"}),
    CHECKERS.group: _built(CHECKERS, checked_checker, hands={"model"}),
    CONSOLIDATORS.group: _built(CONSOLIDATORS, checked_consolidator, hands={"model"}),
    METRICS.group: _built(METRICS, checked_metric),
    MODELS.group: lambda name: checked_opener(MODELS.get(name), name),
    SOURCES.group: lambda name: checked_source(SOURCES.get(name), name),
    AGGREGATIONS.group: lambda name: checked_aggregation(AGGREGATIONS.get(name), name),
    STATISTICS.group: find_statistic,
    PERTURBATIONS.group: _tried(find_perturbation, lambda made, rng: made.damage(_CASE, rng)),
    EXPLANATION_PERTURBATIONS.group: _tried(
        find_explanation_perturbation, lambda made, rng: made.changed(_ERRORS, rng)
    ),
    ATTACKS.group: _tried(find_attack, lambda made, rng: made.on(_ATTACKED, rng)),
    SINKS.group: open_sink,
})  # fmt: skip


def check_contract(group: str, name: str) -> str:
    """Check the plugin called `name`; return the reason why it could not be checked, or "".

    `group` is that of any plugins but exams, which `find_study` checks, and cards of metrics. A
    plugin cannot be checked if it needs an option, an address or a key.

    Raise `PluginError` if it cannot be loaded or does not fulfil the contract.
    """
    try:
        _CHECKS[group](name)
    except PluginError:
        raise
    except ConfigError as error:
        return reason_of(error)
    return ""
