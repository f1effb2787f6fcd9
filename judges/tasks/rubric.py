"""Rubrics: weighted criteria, stated in sentences, that are judged one by one and averaged.

A rubric is a TOML or JSON file with a list of ``criteria``. Each has a ``text`` and a ``kind``:
``yes/no``, met or not, or ``graded``, with the labels of its ``scale`` from worst to best. A
criterion with ``must = true`` is a must-have.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from spanjury.judges.core import ConfigError, Scale
from spanjury.judges.tasks.table import Table

CRITERION = "criterion:"
"""Prefix of the name of an aspect that is a demand in a sentence."""

_RUBRIC = "rubric:"
_LONGEST = 500
_MOST = 100
_LONGEST_NAME = 80
_KEYS = ("text", "weight", "must", "kind", "scale")
_YES_NO, _GRADED = "yes/no", "graded"
_Kind = Literal["yes/no", "graded"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedCriterion:
    """A criterion of a rubric file.

    Parameters
    ----------
    text
        The demand, as a sentence.
    weight
        Positive weight in the rubric's score.
    must
        Whether a text that does not meet it is faulty.
    labels
        Labels of its grades, worst first; empty for a criterion that is met or not.
    """

    text: str
    weight: float = 1.0
    must: bool = False
    labels: tuple[str, ...] = ()

    @property
    def aspect(self) -> str:
        """Name of the criterion's aspect."""
        return criterion(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    """Named list of weighted criteria.

    Examples
    --------
    >>> rubric = Rubric.of({"name": "shop", "criteria": [{"text": "Prices are in euros."}]})
    >>> rubric.aspects
    ('criterion: Prices are in euros', 'rubric: shop')
    """

    name: str
    criteria: tuple[StatedCriterion, ...]

    @classmethod
    def read(cls, path: Path) -> "Rubric":
        """Read a rubric from a TOML or JSON file, whose name is the default name of the rubric.

        Raises `ConfigError` if it cannot be read or is invalid; the message names the file, the
        criterion and the field.
        """
        return _read(Table.read(path, what="a rubric"), name=path.stem)

    @classmethod
    def of(cls, given: "Rubric | Path | str | Mapping[str, object]") -> "Rubric":
        """Return a rubric from itself, the path of its file, or the contents of a file.

        Raises `ConfigError` if it is invalid (see `read`).
        """
        if isinstance(given, Rubric):
            return given
        if isinstance(given, Mapping):
            return _read(Table(file="the rubric", values=given), name="rubric")
        return cls.read(Path(given))

    @classmethod
    def from_json(cls, text: str) -> "Rubric":
        """Read a rubric from JSON text like that of a file; raises `ConfigError` as `read` does."""
        return _read(Table.parse_json(text.encode(), file="the rubric"), name="rubric")

    @property
    def aspect(self) -> str:
        """Name of the aspect of the weighted result."""
        return f"{_RUBRIC} {self.name}"

    @property
    def aspects(self) -> tuple[str, ...]:
        """Names of all its aspects: the criteria, then the weighted result."""
        return (*(stated.aspect for stated in self.criteria), self.aspect)

    def criterion(self, aspect: str) -> StatedCriterion | None:
        """Return the criterion whose aspect is `aspect`, or None."""
        return next((stated for stated in self.criteria if stated.aspect == aspect), None)


def criterion(demand: str) -> str:
    """Return the name of the aspect for this demand, on one line.

    Raises `ConfigError` if it is empty, too long, or contains unprintable characters.
    """
    stated = " ".join(demand.split()).rstrip(".")
    if not 0 < len(stated) <= _LONGEST or not stated.isprintable():
        raise ConfigError(
            f"a criterion is a sentence of 1 to {_LONGEST} printable characters after"
            f" {CRITERION!r}, got {demand.strip()[:80]!r}"
        )
    return f"{CRITERION} {stated}"


def is_criterion(name: str) -> bool:
    """Return whether the name of an aspect states a criterion."""
    return name.strip().casefold().startswith(CRITERION)


def _read(table: Table, *, name: str) -> Rubric:
    table.only("name", "criteria")
    listed = table.items("criteria", each="criterion")
    if not 0 < len(listed) <= _MOST:
        problem = f"must list 1 to {_MOST} criteria, got {len(listed)}"
        raise table.error("criteria", problem=problem)
    criteria = tuple(map(_criterion, listed))
    first: dict[str, int] = {}
    for number, (stated, inner) in enumerate(zip(criteria, listed, strict=True), start=1):
        former = first.setdefault(stated.aspect.casefold(), number)
        if former != number:
            raise inner.error("text", problem=f"is that of criterion {former}, too")
    called = table.text("name", default=name)
    if len(called) > _LONGEST_NAME or not called.isprintable():
        problem = f"must have at most {_LONGEST_NAME} printable characters, got {called[:80]!r}"
        raise table.error("name", problem=problem)
    return Rubric(name=called, criteria=criteria)


def _criterion(table: Table) -> StatedCriterion:
    table.only(*_KEYS)
    text = table.text("text", default=None)
    try:
        criterion(text)
    except ConfigError as error:
        raise table.error("text", problem=f"cannot be a criterion: {error}") from error
    return StatedCriterion(
        text=text,
        weight=table.number("weight", default=1.0),
        must=table.flag("must"),
        labels=_labels(table),
    )


def _labels(table: Table) -> tuple[str, ...]:
    """Return the labels of a graded criterion, by default the usual ones; empty for yes/no."""
    has_scale = "scale" in table.values
    kind = table.text("kind", default=_GRADED if has_scale else _YES_NO)
    if kind not in get_args(_Kind):
        problem = f"must be one of {', '.join(get_args(_Kind))}, got {kind!r}"
        raise table.error("kind", problem=problem)
    if kind == _YES_NO:
        if has_scale:
            raise table.error("scale", problem=f"goes with the kind {_GRADED!r} alone")
        return ()
    labels = table.texts("scale", default=Scale().labels)
    if len(labels) < 3:  # noqa: PLR2004  two are met and not met
        problem = f"needs three or more labels, worst first, got {list(labels)!r}"
        raise table.error("scale", problem=problem)
    try:
        return Scale(labels=labels).labels
    except ValueError as error:
        raise table.error("scale", problem=f"cannot be one: {error}") from error
