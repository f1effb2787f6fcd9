"""The conditions of exams: the damage of a recipe, and perturbations of error lists."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain

from spanjury.judges.core import Aspect, ConfigError, choices_for
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.studies.faithfulness.exam import Condition as ListCondition
from spanjury.orchestration.wiring.exam_plugins import (
    find_explanation_perturbation,
    find_perturbation,
)
from spanjury.orchestration.wiring.plugins import parameters
from spanjury.orchestration.wiring.specs import parse_options
from spanjury.perturbations.explanation.generated import generated_twin
from spanjury.perturbations.explanation.paper import paper_perturbations
from spanjury.perturbations.generated import generated_perturbation
from spanjury.perturbations.pairs import Condition
from spanjury.perturbations.perturbation import EVERY_ASPECT
from spanjury.perturbations.recipe import Recipe, RecipeItem, find_recipe

__all__ = [
    "conditions_of",
    "find_recipe",
    "harmful",
    "list_conditions",
    "require_aspects",
    "require_requests",
]

_SEVERITIES = {"minor": 2, "major": 4}
_SEVERITY = 3
"""Severity of damage that has only one degree."""


def conditions_of(
    recipe: Recipe,
    *,
    weights: Mapping[str, Mapping[str, float]] | None = None,
    has_generator: bool = False,
) -> tuple[Condition, ...]:
    """Return the conditions that a recipe describes.

    Raise `ConfigError` if a perturbation or one of its options is unknown, `weights` name no item
    of the recipe, or `has_generator` is set although a model would have nothing to write.
    """
    given = weights or {}
    if strange := given.keys() - {item.name for item in recipe.items}:
        raise ConfigError(f"weights for {', '.join(sorted(strange))}, which {recipe.name} has not")
    if has_generator and not any(item.written for item in recipe.items):
        raise ConfigError(f"{recipe.name} has no damage that a model is asked for")
    return tuple(_condition(item, given.get(item.name, item.weights)) for item in recipe.items)


def harmful(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """Return the conditions under which the score of some aspect should fall."""
    return tuple(
        condition for condition in conditions if "falls" in condition.perturbation.effects.values()
    )


def require_aspects(
    conditions: Iterable[Condition], *, judged: Iterable[Aspect], catalogue: Catalogue
) -> None:
    """Raise `ConfigError` if a perturbation harms or spares an aspect that no task has."""
    of_tasks = chain.from_iterable(catalogue.aspects(task.name) for task in catalogue.tasks())
    names = {aspect.name for aspect in (*judged, *of_tasks)}
    for condition in conditions:
        for name in sorted(condition.perturbation.effects.keys() - {*names, EVERY_ASPECT}):
            raise ConfigError(
                f"the perturbation of {condition.name} harms or spares {name!r}, and no task has"
                f" this aspect; {choices_for(name, sorted(names))}"
            )


def list_conditions(names: Sequence[str]) -> tuple[ListCondition, ...]:
    """Return the perturbations of error lists named by `names`; the paper's if there are none.

    A name is ``NAME`` or ``NAME:option=value,…``. Raise `ConfigError` if there is no such
    perturbation, or it has no such option.
    """
    named = []
    for text in names:
        name, options = parse_options(text, what="perturbation")
        perturbation = find_explanation_perturbation(name)
        _check_options(name, options, perturbation.rule)
        named.append(ListCondition(name=text, perturbation=perturbation, options=options))
    return tuple(named) or tuple(
        ListCondition(
            name=paper_perturbation.name,
            perturbation=paper_perturbation.perturbation,
            options=paper_perturbation.options,
        )
        for paper_perturbation in paper_perturbations()
    )


def require_requests(conditions: Sequence[ListCondition], *, aspect: Aspect) -> None:
    """Raise `ConfigError` if a model could write nothing for any perturbation of lists."""
    if not any(generated_twin(condition.perturbation, aspect=aspect) for condition in conditions):
        names = ", ".join(condition.name for condition in conditions)
        raise ConfigError(f"no model writes anything for {names}")


def _check_options(name: str, options: Mapping[str, object], rule: Callable[..., object]) -> None:
    if strange := options.keys() - parameters(rule):
        raise ConfigError(f"{name!r} has no option {', '.join(sorted(strange))}")


def _condition(item: RecipeItem, weights: Mapping[str, float]) -> Condition:
    perturbation = find_perturbation(item.perturbation)
    _check_options(item.perturbation, item.options, perturbation.rule)
    return Condition(
        name=item.name,
        perturbation=perturbation,
        level=item.level,
        options=item.options,
        generated=generated_perturbation(item.written) if item.written else None,
        severity=_SEVERITIES.get(item.degree or "", _SEVERITY),
        weights=weights,
    )
