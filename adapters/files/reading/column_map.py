"""Columns of other names: what the columns of a row are called where they have not our names."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from spanjury.adapters.files.reading.shapes import (
    AGENT,
    NATIVE,
    Reading,
    Shape,
    described,
    missing_output,
    read_as,
    read_trajectory,
    shape_named,
    shape_of,
    value_at,
    whole_conversation,
)
from spanjury.adapters.files.reading.trajectories import is_conversation
from spanjury.judges.core import ConfigError, DataError
from spanjury.judges.core.choices import choices_for
from spanjury.judges.core.notices import notice

_NAME = re.compile(r"id|output|task|system|inputs|references?|spans|(inputs|human|meta)\..+")
_CHOICES = (
    *("id", "output", "task", "system", "inputs", "inputs.HEADER", "references", "reference"),
    *("human.ASPECT", "human.ASPECT.RATER", "spans", "meta.KEY"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnMap:
    """Columns of a file under the names of a native row, and the shape of its rows.

    `names` maps a column to its name there, dotted where it lies within something, as
    ``inputs.Article``. A column that has such a name already is not read. `shape` is the name of
    one of `spanjury.adapters.files.reading.shapes`; empty to take that of the columns.
    """

    names: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    shape: str = ""

    def header(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return the header of a table in our names; empty for a column that is not read.

        Raises `DataError` if a column of the map is not there.
        """
        for column, name in self.names.items():
            if column not in columns:
                raise _no_column(column, name, columns)
        named = set(self.names.values())
        return tuple(self.names.get(name, "" if name in named else name) for name in columns)

    def row(self, row: object) -> object:
        """Return an object of JSON in our names; anything else unchanged.

        Raises `DataError` if a column of the map is not there.
        """
        if not self.names or not isinstance(row, dict):
            return row
        named: dict[str, Any] = {key: row[key] for key in row if key not in self.names}
        for column, name in self.names.items():
            value = value_at(row, column)
            if value is None and column not in row:
                raise _no_column(column, name, row)
            *outer, last = _keys(name)
            group = named
            for key in outer:
                inner = group.get(key)
                group[key] = dict(inner) if isinstance(inner, dict) else {}
                group = group[key]
            group[last] = value
        return named

    def shape_of(self, columns: Collection[str]) -> Shape | None:
        """Return the shape of rows with `columns`, in our names; None if they fit none.

        If the map names inputs, and no shape, nothing is taken for an input besides.
        """
        if self.shape not in {"", AGENT}:  # rows without a conversation are as usual among agents'
            return shape_named(self.shape, columns)
        if any(name.partition(".")[0] == "inputs" for name in self.names.values()):
            return shape_named(NATIVE)
        return shape_of(columns)

    def reader(self, *, is_named: bool = False) -> Callable[[object], object]:
        """Return what makes native rows of objects of JSON; anything else stays as it is.

        It says once which shape the rows have, if it is not ours. It raises `DataError` for a row
        without a column of the map, or of no shape. Rows of a table `is_named` by their header.
        """
        return _Rows(self, is_named=is_named).native


class _Rows:
    """The rows of one file, and the shapes that were announced."""

    def __init__(self, columns: ColumnMap, *, is_named: bool) -> None:
        self._columns = columns
        self._is_named = is_named
        self._announced: set[str] = set()
        self._seen: dict[str, tuple[Shape, frozenset[str]]] = {}

    def native(self, row: object) -> object:
        row = {"messages": row} if is_conversation(row) else row
        named = row if self._is_named else self._columns.row(row)
        if not isinstance(named, dict):
            return named
        shape = self._columns.shape_of(named)
        if shape is None and (nested := _nested(named)):
            named, shape = nested, self._columns.shape_of(nested)
        conversation = None
        if self._columns.shape in {"", AGENT}:
            is_asked = self._columns.shape == AGENT
            conversation = whole_conversation(named, shape=shape, is_asked=is_asked)
        if conversation is not None:
            reading = read_trajectory(named, conversation, shape=shape)
            return self._announced_row(AGENT, reading, shape)
        shape = shape or self._shape_before(named)
        if shape is None:
            raise DataError(missing_output(named))
        self._see(shape, named)
        return self._announced_row(shape.name, read_as(shape, named), shape)

    def _see(self, shape: Shape, columns: Collection[str]) -> None:
        _, seen = self._seen.get(shape.name, (shape, frozenset[str]()))
        if not seen.issuperset(columns):
            self._seen[shape.name] = shape, seen.union(columns)

    def _shape_before(self, columns: Collection[str]) -> Shape | None:
        """Return the shape of earlier rows that had these columns and more, such as an input."""
        for shape, seen in self._seen.values():
            if seen.issuperset(columns) and any(name in columns for name in shape.output):
                return shape
        return None

    def _announced_row(
        self, name: str, reading: Reading, shape: Shape | None
    ) -> Mapping[str, object]:
        if reading.taken and name not in self._announced:
            self._announced.add(name)
            notice(described(shape or shape_named(AGENT), reading.taken))
        return reading.row


def _nested(row: Mapping[str, object]) -> dict[str, Any] | None:
    """Return a row whose dotted keys are objects, as tables write them; None if it has none."""
    if not any("." in key for key in row):
        return None
    nested: dict[str, Any] = {}
    for key, value in row.items():
        head, dot, rest = key.partition(".")
        if not dot:
            nested[key] = value
        elif isinstance(group := nested.setdefault(head, {}), dict):
            group[rest] = value
    return nested


def _no_column(column: str, name: str, columns: Iterable[str]) -> DataError:
    choices = choices_for(column, filter(None, columns))
    return DataError(f"there is no column {column!r} for {name}: {choices}")


AS_NAMED = ColumnMap()
"""Columns are called what we, or programs of a known shape, call them."""


def parse_columns(settings: Iterable[str]) -> ColumnMap:
    """Read ``NAME=COLUMN``, as ``output=summary``, ours before the equals sign; or a shape.

    Raises `ConfigError` if one is of neither form or of an unknown name, two are for one name or
    column, or two shapes are named.

    Examples
    --------
    >>> dict(parse_columns(["output=summary", "inputs.Article=text"]).names)
    {'summary': 'output', 'text': 'inputs.Article'}
    >>> parse_columns(["ragas"]).shape
    'ragas'
    """
    names: dict[str, str] = {}
    shape = ""
    for setting in settings:
        name, equals, column = setting.partition("=")
        if not equals:
            if shape:
                raise ConfigError(f"got the shapes {shape!r} and {setting!r}, expected one")
            shape = _shape(setting)
            continue
        if not column or not _NAME.fullmatch(name):
            raise ConfigError(
                f"got the column {setting!r}, expected NAME=COLUMN: {choices_for(name, _CHOICES)}"
            )
        if column in names or name in names.values():
            raise ConfigError(f"{setting!r}: {name} or the column {column!r} was named before")
        names[column] = name
    return ColumnMap(names=MappingProxyType(names), shape=shape)


def _shape(name: str) -> str:
    try:
        return shape_named(name).name
    except ConfigError as error:
        raise ConfigError(f"{error}. A column is NAME=COLUMN, as output=summary") from error


def _keys(name: str) -> list[str]:
    """Return the keys that lead to what `name` stands for: up to three for scores, else two."""
    return name.split(".", 2 if name.startswith("human.") else 1)
