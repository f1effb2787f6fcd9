"""Plugins of exams by name, each validated before use: perturbations, attacks, statistics."""

import math
from collections.abc import Callable, Mapping, Sequence
from inspect import unwrap

import numpy as np

from spanjury.judges.core import ConfigError, PluginError, choices_for, is_number, is_whole
from spanjury.orchestration.wiring.checks import call_plugin, check_plain
from spanjury.orchestration.wiring.plugins import (
    ATTACKS,
    EXPLANATION_PERTURBATIONS,
    PERTURBATIONS,
    STATISTICS,
    parameters,
)
from spanjury.perturbations.attacks.attack import Attack
from spanjury.perturbations.attacks.standard import STANDARD_ATTACKS
from spanjury.perturbations.explanation.perturbation import ExplanationPerturbation
from spanjury.perturbations.perturbation import Perturbation
from spanjury.stats.significance.paired import PairedStatistic, PairedTest

_DROPS = (1.0, 0.0, -1.0, math.nan)
"""Sample drops that every statistic must be able to test."""


def find_statistic(name: str) -> PairedStatistic:
    """Return the statistic called `name`, wrapped so that every result is validated.

    Raise `PluginError` if there is none. Also raise it, here for sample drops or in any call, if
    the statistic fails or does not return a `PairedTest` with the logarithm of a p-value and
    counts.
    """
    plugin = STATISTICS.get(name)
    if not callable(plugin):
        raise PluginError(f"statistic {name!r} is not a function of drops: {plugin!r}")
    what = f"statistic {name!r}"

    def statistic(differences: object, /) -> PairedTest:
        answer = call_plugin(plugin, differences, what=what)
        if not isinstance(answer, PairedTest):
            raise PluginError(f"{what} must return a PairedTest, and returned {answer!r}")
        if problem := _unfit(answer):
            raise PluginError(f"{what} returned {answer!r}: {problem}")
        return answer

    statistic(np.array(_DROPS))  # before anything is paid for
    return statistic


def find_perturbation(name: str) -> Perturbation:
    """Return the perturbation of texts called `name`; raise `PluginError` if there is none."""
    what, plugin = f"perturbation {name!r}", PERTURBATIONS.get(name)
    if not isinstance(plugin, Perturbation):
        raise PluginError(
            f"{what} must be a Perturbation, as the decorator text_perturbation makes it, and is"
            f" {plugin!r}"
        )
    _check_rule(plugin.rule, what, arguments=("text", "rng"))
    return plugin


def find_attack(name: str) -> Attack:
    """Return the attack called `name`; raise `PluginError` if there is none."""
    what, plugin = f"attack {name!r}", ATTACKS.get(name)
    if not isinstance(plugin, Attack):
        raise PluginError(f"{what} must be an Attack, and is {plugin!r}")
    _check_rule(plugin.rule, what, arguments=("case", "rng"))
    return plugin


def find_attacks(names: Sequence[str]) -> Mapping[str, Attack]:
    """Return attacks by their names or their families' names; the standard ones without names.

    Raise `ConfigError` if a name is neither an attack's nor a family's.
    """
    usual = {name: find_attack(name) for name in STANDARD_ATTACKS}
    if not names:
        return usual
    chosen: dict[str, Attack] = {}
    for name in names:
        family = {attack: plugin for attack, plugin in usual.items() if plugin.family == name}
        if not family and name not in ATTACKS.names():
            families = dict.fromkeys(plugin.family for plugin in usual.values())
            choices = choices_for(name, [*families, *ATTACKS.names()])
            raise ConfigError(f"no attack is called {name!r}; {choices}")
        chosen |= family or {name: find_attack(name)}
    return chosen


def find_explanation_perturbation(name: str) -> ExplanationPerturbation:
    """Return the perturbation of error lists called `name`; raise `PluginError` without one."""
    what, plugin = f"explanation perturbation {name!r}", EXPLANATION_PERTURBATIONS.get(name)
    if not isinstance(plugin, ExplanationPerturbation):
        raise PluginError(f"{what} must be an ExplanationPerturbation, and is {plugin!r}")
    _check_rule(plugin.rule, what, arguments=("errors", "rng"))
    return plugin


def required_options(rule: Callable[..., object]) -> tuple[str, ...]:
    """Return the options of a perturbation's rule that have no default."""
    return tuple(
        name
        for name, option in parameters(rule).items()
        if option.kind is option.KEYWORD_ONLY and option.default is option.empty
    )


def _check_rule(rule: Callable[..., object], what: str, *, arguments: Sequence[str]) -> None:
    """Raise `PluginError` if a rule does not accept `arguments` before its options, or is async."""
    own = unwrap(rule)  # the decorators wrap the author's function
    check_plain(own, f"{what}: its rule", arguments=arguments, named=required_options(own))


def _unfit(answer: PairedTest) -> str:
    """Return the problem of a test's numbers; empty if there is none."""
    counts = (answer.used, answer.zeros, answer.missing)
    if not (is_number(answer.log_p) and is_number(answer.statistic)):
        return "log_p and statistic must be numbers"
    if not all(is_whole(count) and count >= 0 for count in counts):
        return "used, zeros and missing must be counts"
    if answer.log_p == -math.inf:
        return "p is 0, which scores cannot show: return the logarithm of a bound for it"
    return "log_p is above 0, so p above 1" if answer.log_p > 0 else ""
