"""Columns of other names: what the columns of a row are called where they have not our names."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from spanjury.judges.core import ConfigError, DataError

_NAME = re.compile(r"id|output|task|system|inputs|references?|spans|(inputs|human|meta)\..+")
_CHOICES = (
    "id, output, task, system, inputs, inputs.HEADER, references, reference, "
    "human.ASPECT, human.ASPECT.RATER, spans, meta.KEY"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnMap:
    """Columns of a file under the names of a native row.

    `names` maps a column to its name there, dotted where it lies within something, as
    ``inputs.Article``. A column that has such a name already is not read.
    """

    names: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def header(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return the header of a table in our names; empty for a column that is not read.

        Raises `DataError` if a column of the map is not there.
        """
        self._require(columns)
        named = set(self.names.values())
        return tuple(self.names.get(name, "" if name in named else name) for name in columns)

    def row(self, row: object) -> object:
        """Return an object of JSON in our names; anything else unchanged.

        Raises `DataError` if a column of the map is not there.
        """
        if not self.names or not isinstance(row, dict):
            return row
        self._require(row)
        named: dict[str, Any] = {key: row[key] for key in row if key not in self.names}
        for column, name in self.names.items():
            *outer, last = _keys(name)
            group = named
            for key in outer:
                inner = group.get(key)
                group[key] = dict(inner) if isinstance(inner, dict) else {}
                group = group[key]
            group[last] = row[column]
        return named

    def _require(self, columns: Iterable[str]) -> None:
        there = [*columns]
        for column, name in self.names.items():
            if column not in there:
                existing = ", ".join(filter(None, there))
                raise DataError(f"there is no column {column!r} for {name}, only {existing}")


AS_NAMED = ColumnMap()
"""Columns are called what we call them."""


def parse_columns(settings: Iterable[str]) -> ColumnMap:
    """Read ``NAME=COLUMN``, as ``output=summary``, ours before the equals sign.

    Raises `ConfigError` if one is not of this form or of no known name, or two are for one name or
    column.

    Examples
    --------
    >>> dict(parse_columns(["output=summary", "inputs.Article=text"]).names)
    {'summary': 'output', 'text': 'inputs.Article'}
    """
    names: dict[str, str] = {}
    for setting in settings:
        name, _, column = setting.partition("=")
        if not column or not _NAME.fullmatch(name):
            raise ConfigError(
                f"got the column {setting!r}, expected NAME=COLUMN, NAME being one of {_CHOICES}"
            )
        if column in names or name in names.values():
            raise ConfigError(f"{setting!r}: {name} or the column {column!r} was named before")
        names[column] = name
    return ColumnMap(names=MappingProxyType(names))


def _keys(name: str) -> list[str]:
    """Return the keys that lead to what `name` stands for: up to three for scores, else two."""
    return name.split(".", 2 if name.startswith("human.") else 1)
