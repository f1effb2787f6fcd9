"""The catalogue of open checkers: names, options, licences and published figures.

It is declared in ``models.toml``; the docs, `doctor`, lists and the choice of the best model are
made from it.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

_FILE = "models.toml"
_NON_COMMERCIAL = "BY-NC"
_NOTHING: Mapping[str, object] = MappingProxyType({})
_HERE = "checker"


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureSet:
    """A benchmark and the measure of its figures."""

    title: str
    measure: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Options that a prefix sets, as in ``checker:nli:FOLDER``."""

    about: str
    options: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckerModel:
    """An open checker as it is published.

    Parameters
    ----------
    name
        Its name in ``checker:NAME``.
    repository
        Owner and name on the Hugging Face hub; empty if it is not published there in a form that
        can be read.
    judge
        ``"checker"``, or for a chat model the judge that queries it through a server.
    recipe
        Name of the recipe whose options are applied first; empty if there is none.
    options
        Options of the judge and of the checker.
    needs
        Options that a user must give.
    parameters
        Number of parameters as published, such as ``"0.4B"``.
    licence
        Licence of the weights, by their card.
    figures
        Published figures by the name of their set.
    note
        A remark for tables; empty if there is none.
    """

    name: str
    title: str
    parameters: str
    licence: str
    languages: str
    repository: str = ""
    judge: str = _HERE
    recipe: str = ""
    options: Mapping[str, object] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    figures: Mapping[str, float] = field(default_factory=dict)
    note: str = ""

    @property
    def is_chat(self) -> bool:
        """True for a chat model, which needs a server."""
        return self.judge != _HERE

    @property
    def can_be_fetched(self) -> bool:
        """True if it can be downloaded and then used by its name alone."""
        return bool(self.repository) and not self.is_chat and not self.needs

    @property
    def is_non_commercial(self) -> bool:
        """True if the licence of the weights forbids commercial use."""
        return _NON_COMMERCIAL in self.licence


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """Contents of ``models.toml``, by name and in the order of the file.

    Parameters
    ----------
    sets
        Sets of figures; models are ranked by the first.
    compared
        Figures of large language models on the same sets.
    """

    sets: Mapping[str, FigureSet]
    compared: Mapping[str, Mapping[str, float]]
    recipes: Mapping[str, Recipe]
    models: Mapping[str, CheckerModel]

    @property
    def comparison(self) -> str:
        """Figures of large language models on the set that ranks the models, as a phrase."""
        first = next(iter(self.sets))
        figures = [f"{name} {_written(row[first])}" for name, row in self.compared.items()]
        return f"{', '.join(figures)} on {self.sets[first].title}"

    def of_repository(self, repository: str) -> CheckerModel | None:
        """Return the model published as `repository`, ignoring case, or None."""
        folded = repository.casefold()
        models = (model for model in self.models.values() if model.repository)
        return next((model for model in models if model.repository.casefold() == folded), None)

    def of_model_name(self, name: str) -> CheckerModel | None:
        """Return the model behind a server's name for it; None if no repository matches.

        A server's name ends with the repository's own, as in ``hosted_vllm/OWNER/NAME``.
        """
        last = name.rpartition("/")[2].casefold()
        models = (model for model in self.models.values() if model.repository)
        return next(
            (model for model in models if model.repository.rpartition("/")[2].casefold() == last),
            None,
        )

    def options_of(self, model: CheckerModel) -> dict[str, object]:
        """Return a model's options: those of its recipe, overridden by its own."""
        recipe = self.recipes[model.recipe].options if model.recipe else _NOTHING
        return {**recipe, **model.options}

    def rank(self, model: CheckerModel) -> tuple[float, ...]:
        """Return a sort key that orders models by their figures, the best one last.

        Earlier sets take precedence over later ones; a missing figure counts as 0.
        """
        return tuple(model.figures.get(name, 0.0) for name in self.sets)

    def published(self, model: CheckerModel) -> str:
        """Return a model's figures and note as a phrase; empty if it has neither."""
        figures = [
            f"{_written(model.figures[name])} on {figure_set.title}"
            for name, figure_set in self.sets.items()
            if name in model.figures
        ]
        return ", ".join(filter(None, (*figures, model.note)))


@cache
def read_catalogue() -> Catalogue:
    """Read the catalogue that comes with the package."""
    text = files(__package__).joinpath(_FILE).read_text(encoding="utf-8")
    tables: dict[str, Any] = tomllib.loads(text)  # checked by a test: the file is ours
    return Catalogue(
        sets={name: FigureSet(**table) for name, table in tables["sets"].items()},
        compared=tables["compared"],
        recipes={name: Recipe(**table) for name, table in tables["recipes"].items()},
        models={
            name: CheckerModel(**{"name": name, **table, "needs": tuple(table.get("needs", ()))})
            for name, table in tables["models"].items()
        },
    )


def _written(figure: float) -> str:
    return f"{figure:.1f}" if figure > 1 else f"{figure:g}"
