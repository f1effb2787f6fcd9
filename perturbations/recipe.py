"""Recipes: the perturbations of an exam, their strength, and the aspects that should suffer.

A recipe is either built in, and identified by its name, or a TOML file of the user, and
identified by its path::

    task = "summarization"              # optional, as is the next line
    aspects = ["coherence", "fluency"]

    [[items]]
    name = "typos-major"
    perturbation = "typos"
    level = "character"                 # or word, or sentence
    options = { k = 50 }                # the rest is optional
    degree = "major"
    weights = { coherence = 0.1, fluency = 0.9 }

``weights`` may also be the name of a line of ``recipes/weights.toml`` for the recipe's task.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from math import isclose
from pathlib import Path
from types import MappingProxyType
from typing import Literal, cast, get_args

from spanjury.judges.core import ConfigError, choices_for
from spanjury.judges.core.errors import reason_of
from spanjury.perturbations.perturbation import Level

Degree = Literal["minor", "major"]
_WEIGHTS = "weights"
_KEYS = frozenset(("task", "aspects", "items"))
_ITEM_KEYS = frozenset(("name", "perturbation", "options", "level", "degree", "written", "weights"))


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipeItem:
    """One kind of damage that is done to every text of an exam.

    Raises `ValueError` if a weight is negative or the weights do not sum to 1.

    Its level is that in whose average it is included. The degree is None if there is one strength
    only. If there is a model, it is asked for the kind of damage that `written` names, if any; the
    option ``k`` applies to both. `weights` has the share of the harm of each aspect, if known.
    """

    name: str
    perturbation: str
    options: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    level: Level
    degree: Degree | None = None
    written: str = ""
    weights: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        weights = self.weights.values()
        if weights and not (min(weights) >= 0 and isclose(sum(weights), 1, abs_tol=1e-6)):
            raise ValueError(
                f"weights must be 0 or more and sum to 1, {self.name!r} has {dict(self.weights)}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """A set of perturbations that are compared with each other.

    Raises `ValueError` if there is no item, two have the same name, or one gives weight to another
    aspect.

    An empty task means any. Empty aspects mean those that the user names.
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
                raise ValueError(
                    f"{item.name!r} weighs {unknown[0]!r}, which is not one of {choices}"
                )


def recipe_names() -> tuple[str, ...]:
    """Return the names of the built-in recipes, sorted."""
    return tuple(sorted(_built_in()))


def find_recipe(name: str) -> Recipe:
    """Return the built-in recipe called `name`, or the one in the TOML file at this path.

    Raises `ConfigError` if there is no such recipe, with the choices, or the file is not valid.
    """
    built_in = _built_in()
    if name in built_in:
        return _read(built_in[name], name=name)
    if name.endswith(".toml"):
        return _read(Path(name), name=name)
    choices = choices_for(name, sorted(built_in))
    raise ConfigError(f"unknown recipe {name!r}; {choices} or name a .toml file")


def _built_in() -> dict[str, Traversable]:
    folder = files("spanjury.perturbations").joinpath("recipes")
    by_name = dict(_files(folder, ""))
    del by_name[_WEIGHTS]
    return by_name


def _files(folder: Traversable, before: str) -> Iterator[tuple[str, Traversable]]:
    for file in folder.iterdir():
        if file.name.endswith(".toml"):
            yield before + file.name.removesuffix(".toml"), file
        elif file.is_dir() and not file.name.startswith("_"):
            yield from _files(file, f"{before}{file.name}/")


def _read(file: Traversable, *, name: str) -> Recipe:
    try:
        table = tomllib.loads(file.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise ConfigError(f"cannot read recipe {name}: {reason_of(error)}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"recipe {name} is not a TOML file: {error}") from error
    try:
        return _recipe(table, name=name)
    except (ConfigError, ValueError) as error:
        raise ConfigError(f"recipe {name}: {error}") from error


def _recipe(table: Mapping[str, object], *, name: str) -> Recipe:
    _only(table, allowed=_KEYS)
    task = _text(table, "task", default="")
    aspects, items = table.get("aspects", []), table.get("items", [])
    if not isinstance(aspects, list) or not all(isinstance(aspect, str) for aspect in aspects):
        raise ConfigError(f"'aspects' must be a list of texts, got {aspects!r}")
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise ConfigError(f"'items' must be [[items]] tables, got {items!r}")
    made = tuple(_item(item, task=task) for item in items)
    return Recipe(name=name, task=task, aspects=tuple(aspects), items=made)


def _item(table: Mapping[str, object], *, task: str) -> RecipeItem:
    _only(table, allowed=_ITEM_KEYS)
    level, degree = _text(table, "level"), _text(table, "degree", default="")
    if level not in get_args(Level):
        raise ConfigError(f"'level' must be one of {', '.join(get_args(Level))}, got {level!r}")
    if degree not in {"", *get_args(Degree)}:
        raise ConfigError(f"'degree' must be one of {', '.join(get_args(Degree))}, got {degree!r}")
    options = table.get("options", {})
    if not isinstance(options, dict):
        raise ConfigError(f"'options' must be a table, got {options!r}")
    return RecipeItem(
        name=_text(table, "name"),
        perturbation=_text(table, "perturbation"),
        options=MappingProxyType(options),
        level=cast("Level", level),  # checked above, as is the degree
        degree=cast("Degree", degree) if degree else None,
        written=_text(table, "written", default=""),
        weights=_weights(table.get("weights", {}), task=task),
    )


def _weights(weights: object, *, task: str) -> Mapping[str, float]:
    """Return the weights in a table, or those that have this name for `task`."""
    if isinstance(weights, str):
        named = _default_weights().get(task, {})
        if weights not in named:
            choices = choices_for(weights, named)
            raise ConfigError(f"no weights of {task!r} are called {weights!r}; {choices}")
        weights = named[weights]
    if not isinstance(weights, dict):
        raise ConfigError(f"'weights' must be a name or a table, got {weights!r}")
    for aspect, weight in weights.items():
        if isinstance(weight, bool) or not isinstance(weight, int | float):
            raise ConfigError(f"the weight of {aspect!r} must be a number, got {weight!r}")
    return MappingProxyType({aspect: float(weight) for aspect, weight in weights.items()})


@cache
def _default_weights() -> Mapping[str, Mapping[str, object]]:
    file = files("spanjury.perturbations").joinpath("recipes", f"{_WEIGHTS}.toml")
    return MappingProxyType(tomllib.loads(file.read_text("utf-8")))


def _only(table: Mapping[str, object], *, allowed: frozenset[str]) -> None:
    unknown = sorted(table.keys() - allowed)
    if unknown:
        choices = choices_for(unknown[0], sorted(allowed))
        raise ConfigError(f"{unknown[0]!r} is not known here; {choices}")


def _text(table: Mapping[str, object], key: str, *, default: str | None = None) -> str:
    value = table.get(key, default)
    if not isinstance(value, str) or (default is None and not value):
        raise ConfigError(f"{key!r} must be a text, got {value!r}")
    return value
