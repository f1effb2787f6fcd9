"""Recipes: which perturbations an exam makes, in what dose, and which aspects should suffer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isclose
from types import MappingProxyType
from typing import Literal

from spanjury.perturbations.perturbation import Level

__all__ = ["Degree", "Recipe", "RecipeItem"]

Degree = Literal["minor", "major"]


def _nothing() -> Mapping[str, object]:
    return MappingProxyType({})


def _no_weights() -> Mapping[str, float]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipeItem:
    """One damage, as all the texts of an exam get it.

    Parameters
    ----------
    name
        What the damage is called in this recipe.
    perturbation
        Name of the rule, a plugin of the group ``spanjury.perturbations``.
    options
        The rule's options by name.
    level
        The level whose average it counts towards.
    degree
        Minor or major, or None where there is one dose only.
    written
        What to ask a model for instead where there is one; empty for the rule in any case.
        The option ``k`` holds for both.
    weights
        Aspect -> how much it should suffer, relative to the others, summing to 1; empty
        where nothing is known.

    Raises
    ------
    ValueError
        If a weight is negative or the weights do not sum to 1.
    """

    name: str
    perturbation: str
    options: Mapping[str, object] = field(default_factory=_nothing)
    level: Level
    degree: Degree | None = None
    written: str = ""
    weights: Mapping[str, float] = field(default_factory=_no_weights)

    def __post_init__(self) -> None:
        weights = self.weights.values()
        if weights and not (min(weights) >= 0 and isclose(sum(weights), 1, abs_tol=1e-6)):
            told = dict(self.weights)
            raise ValueError(f"weights must be 0 or more and sum to 1, {self.name!r} has {told}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """A set of damages that are compared with each other.

    Parameters
    ----------
    name
        As it is asked for.
    task
        The task that its texts are written for; empty for any.
    aspects
        The aspects that are judged; empty for those that the user names.
    items
        One or more, of different names.

    Raises
    ------
    ValueError
        If there is no item, two have one name, or one gives weight to another aspect.
    """

    name: str
    task: str = ""
    aspects: tuple[str, ...] = ()
    items: tuple[RecipeItem, ...]

    def __post_init__(self) -> None:
        names = [item.name for item in self.items]
        if not names:
            raise ValueError("a recipe needs at least one item")
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two items are called {name!r}")
        for item in self.items:
            unknown = [aspect for aspect in item.weights if aspect not in self.aspects]
            if unknown and self.aspects:
                choices = ", ".join(self.aspects)
                raise ValueError(f"{item.name!r} weighs {unknown[0]!r}, which is none of {choices}")
