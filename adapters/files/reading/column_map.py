"""Maps the columns of a file to the names of a native row."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from spanjury.adapters.files.reading.row_values import INPUT_HEADER
from spanjury.adapters.files.reading.shaped_rows import (
    Reading,
    described,
    read_as,
    read_trajectory,
    value_at,
    whole_conversation,
)
from spanjury.adapters.files.reading.shapes import (
    AGENT,
    NATIVE,
    Shape,
    missing_output,
    shape_named,
    shape_of,
)
from spanjury.adapters.files.reading.trajectories import is_conversation
from spanjury.judges.core import ConfigError, DataError
from spanjury.judges.core.choices import choices_for
from spanjury.judges.core.notices import notice

_NAME = re.compile(r"id|output|task|system|inputs|references?|spans|(inputs|human|meta)\..+")
_REFERENCE = re.compile(r"reference(_\d+)?")
_CHOICES = (
    *("id", "output", "task", "system", "inputs", "inputs.HEADER", "references", "reference"),
    *("human.ASPECT", "human.ASPECT.RATER", "spans", "meta.KEY"),
)

_ABSENT = object()
"""Stands for the value of a column that a row does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnMap:
    """Maps columns of a file to the names of a native row, and names the shape of its rows.

    `names` maps a column to its native name, with a dot for nested values, as in
    ``inputs.Article``. Any other column with that name is ignored. `shape` is the name of a shape
    in `spanjury.adapters.files.reading.shapes`; if empty, the columns tell it.
    """

    names: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    shape: str = ""

    def header(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return a table's header in native names; empty for an ignored column.

        Raises `DataError` if a column of the map is missing.
        """
        for column, name in self.names.items():
            if column not in columns:
                raise _no_column(column, name, columns)
        named = set(self.names.values())
        return tuple(self.names.get(name, "" if name in named else name) for name in columns)

    def row(self, row: object) -> object:
        """Return a JSON object with its keys renamed; any other value unchanged.

        Raises `DataError` if a column of the map is missing.
        """
        if not self.names or not isinstance(row, dict):
            return row
        named: dict[str, Any] = {key: row[key] for key in row if key not in self.names}
        for column, name in self.names.items():
            value = value_at(row, column, absent=_ABSENT)
            if value is _ABSENT:
                raise _no_column(column, name, row)
            # The keys of the path: up to three for scores, two for others.
            *outer, last = name.split(".", 2 if name.startswith("human.") else 1)
            group = named
            for key in outer:
                inner = group.get(key)
                group[key] = dict(inner) if isinstance(inner, dict) else {}
                group = group[key]
            group[last] = value
        return named

    def shape_of(self, columns: Collection[str]) -> Shape | None:
        """Return the shape of rows with `columns`, given in native names; None if none fits.

        If the map names inputs but no shape, no other column is read as an input.
        """
        if self.shape not in {"", AGENT}:  # some rows have no conversation
            return shape_named(self.shape, columns)
        if any(name.partition(".")[0] == "inputs" for name in self.names.values()):
            return shape_named(NATIVE)
        return shape_of(columns)

    def reader(self, *, is_named: bool = False) -> Callable[[object], object]:
        """Return a function that turns JSON objects into native rows, and returns others unchanged.

        It announces each foreign shape once. It raises `DataError` if a row lacks a column of the
        map or fits no shape. `is_named` says that a table's header has renamed the columns already.
        """
        return _Rows(self, is_named=is_named).native


class _Rows:
    """Converts the rows of one file, and remembers which shapes were announced."""

    def __init__(self, columns: ColumnMap, *, is_named: bool) -> None:
        self._columns = columns
        self._is_named = is_named
        self._announced: set[str] = set()
        self._seen: dict[Shape, frozenset[str]] = {}

    def native(self, row: object) -> object:
        row = {"messages": row} if is_conversation(row) else row
        named = row if self._is_named else self._columns.row(row)
        if not isinstance(named, dict):
            return named
        if not self._is_named:
            named = _by_table_names(named)
        shape = self._columns.shape_of(named)
        if shape is None and any("." in name for name in named):
            named = _nested(named, {name: name.split(".", 1) for name in named})
            shape = self._columns.shape_of(named)
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
        self._seen[shape] = self._seen.get(shape, frozenset[str]()).union(named)
        return self._announced_row(shape.name, read_as(shape, named), shape)

    def _shape_before(self, columns: Collection[str]) -> Shape | None:
        """Return the shape of earlier rows that had these columns and more, such as an input."""
        for shape, seen in self._seen.items():
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


def column_path(name: str) -> tuple[str, ...]:
    """Return the path in a native row of the column `name` of a table."""
    head, _, tail = name.partition(".")
    if head in {"input", "inputs"} or (head == "source" and tail):
        return ("inputs", tail or INPUT_HEADER)
    if head in {"human", "scores"} and tail:
        aspect, _, rater = tail.partition(".")
        return (head, aspect, rater)
    if head == "meta" and tail:
        return (head, tail)
    if _REFERENCE.fullmatch(name):
        return ("reference", name)
    return (name,) if name else ()


def _by_table_names(row: Mapping[str, object]) -> Mapping[str, object]:
    """Return a row in which columns that are named as in tables became objects.

    Such names are ``input.Article``, ``human.fluency`` and ``reference_2``. As in tables, null is a
    missing value.

    Raises `DataError` if two columns map to the same value.
    """
    if not any("." in name or name.startswith("reference_") for name in row):
        return row
    paths = {
        name: column_path(name) if "." in name or isinstance(value, str) else (name,)
        for name, value in row.items()
    }
    nested = _nested(row, paths)
    if isinstance(references := nested.get("reference"), dict):
        nested["reference"] = [*references.values()]
    return nested


def _nested(row: Mapping[str, object], paths: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return an object with each value of `row` at its path.

    Raises `DataError` if two columns map to the same value.
    """
    nested: dict[str, Any] = {
        name: dict(value) if isinstance(value, dict) else value
        for name, value in row.items()
        if len(paths[name]) == 1
    }
    for name, value in row.items():
        *outer, last = paths[name]
        if not outer or value is None:
            continue
        group: object = nested
        for key in outer:
            group = group.setdefault(key, {}) if isinstance(group, dict) else None
        if not isinstance(group, dict) or last in group:
            raise DataError(f"two columns map to {'.'.join(filter(None, paths[name]))}")
        group[last] = value
    return nested


def _no_column(column: str, name: str, columns: Iterable[str]) -> DataError:
    choices = choices_for(column, filter(None, columns))
    return DataError(f"there is no column {column!r} for {name}: {choices}")


AS_NAMED = ColumnMap()
"""The map without renaming: columns have our names, or those of a known shape."""


def parse_columns(settings: Iterable[str]) -> ColumnMap:
    """Parse settings ``NAME=COLUMN`` with our name first, such as ``output=summary``, or a shape.

    Raises `ConfigError` if a setting has neither form or an unknown name, if a name or a column is
    used twice, or if two shapes are named.
    """
    names: dict[str, str] = {}
    shape = ""
    for setting in settings:
        name, equals, column = setting.partition("=")
        if not equals:
            if shape:
                raise ConfigError(f"got the shapes {shape!r} and {setting!r}, expected one")
            try:
                shape = shape_named(setting).name
            except ConfigError as error:
                raise ConfigError(f"{error}. A column is NAME=COLUMN, as output=summary") from error
            continue
        if not column or not _NAME.fullmatch(name):
            raise ConfigError(
                f"got the column {setting!r}, expected NAME=COLUMN: {choices_for(name, _CHOICES)}"
            )
        if column in names or name in names.values():
            raise ConfigError(f"{setting!r}: {name} or the column {column!r} was named before")
        names[column] = name
    return ColumnMap(names=MappingProxyType(names), shape=shape)
