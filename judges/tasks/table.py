"""Tables of TOML or JSON that name file and path in their error messages, and a set of names."""

import json
import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from spanjury.judges.core import ConfigError, DataError, choices_for
from spanjury.judges.core.errors import reason_of
from spanjury.judges.core.json_text import unique_keys

_SEPARATORS = re.compile(r"[\s_-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Typed access to one table of a TOML or JSON file; all methods raise `ConfigError`.

    Parameters
    ----------
    file
        Path or description of the file for error messages.
    path
        The keys that lead to the table; empty for the whole file.
    """

    file: str
    path: tuple[str, ...] = ()
    values: Mapping[str, object]

    @classmethod
    def parse(cls, data: bytes, *, file: str) -> "Table":
        """Parse the bytes of a TOML `file`."""
        try:
            values = tomllib.loads(data.decode("utf-8-sig"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ConfigError(f"{file} is not a TOML file: {error}") from error
        return cls(file=file, values=values)

    @classmethod
    def parse_json(cls, data: bytes, *, file: str) -> "Table":
        """Parse the bytes of a JSON `file` that contains an object."""
        try:
            values = json.loads(data.decode("utf-8-sig"), object_pairs_hook=unique_keys)
        except (ValueError, RecursionError, DataError) as error:
            raise ConfigError(f"{file} is not a JSON file: {error}") from error
        if not isinstance(values, dict):
            raise ConfigError(f"{file} must hold a JSON object, got a {type(values).__name__}")
        return cls(file=file, values=values)

    @classmethod
    def read(cls, path: Path, *, what: str = "tasks") -> "Table":
        """Read the file at `path`, JSON if so named, else TOML; error messages call it `what`."""
        try:
            data = path.read_bytes()
        except OSError as error:
            raise ConfigError(f"cannot read {what} from {path}: {reason_of(error)}") from error
        parse = cls.parse_json if path.suffix.casefold() == ".json" else cls.parse
        return parse(data, file=str(path))

    @property
    def name(self) -> str:
        """The last key of the path."""
        return self.path[-1]

    def error(self, key: str, *, problem: str) -> ConfigError:
        """Return an error that says what is wrong with `key`."""
        where = f"[{'.'.join(self.path)}]: " if self.path else ""
        return ConfigError(f"{self.file}: {where}{key!r} {problem}")

    def only(self, *allowed: str) -> None:
        """Refuse keys other than the `allowed` ones."""
        for key in self.values:
            if key not in allowed:
                raise self.error(key, problem=f"is not known here; {choices_for(key, allowed)}")

    def text(self, key: str, *, default: str | None) -> str:
        """Return the string at `key` with single spaces; required if `default` is None."""
        value = self.values.get(key, default)
        if value is None:
            raise self.error(key, problem="is missing; expected a text")
        if not isinstance(value, str) or not value.strip():
            raise self.error(key, problem=f"must be a text that is not empty, got {value!r}")
        return " ".join(value.split())

    def texts(self, key: str, *, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        """Return the list of strings at `key`, each with single spaces."""
        value = self.values.get(key, default)
        items = value if isinstance(value, list | tuple) else [None]
        texts = [" ".join(item.split()) for item in items if isinstance(item, str)]
        if len(texts) != len(items) or not all(texts):
            raise self.error(key, problem=f"must be a list of texts, none empty, got {value!r}")
        return tuple(texts)

    def number(self, key: str, *, default: float) -> float:
        """Return the positive number at `key`."""
        value = self.values.get(key, default)
        number = float(value) if type(value) in {int, float} else 0.0  # type: ignore[arg-type]  # it is one
        if not (math.isfinite(number) and number > 0):
            raise self.error(key, problem=f"must be a number above 0, got {value!r}")
        return number

    def flag(self, key: str) -> bool:
        """Return whether `key` is true; False if it is missing."""
        value = self.values.get(key, False)
        if not isinstance(value, bool):
            raise self.error(key, problem=f"must be true or false, got {value!r}")
        return value

    def items(self, key: str, *, each: str) -> tuple["Table", ...]:
        """Return the tables of the list at `key`; error messages number them as "`each` 1"."""
        values = self.values.get(key, [])
        if not isinstance(values, list | tuple):
            raise self.error(key, problem=f"must be a list of tables, got {values!r}")
        tables = []
        for number, value in enumerate(values, start=1):
            where = f"{each} {number}"
            if not isinstance(value, Mapping):
                raise self.error(key, problem=f"must hold tables; {where} is {value!r}")
            tables.append(replace(self, path=(*self.path, where), values=value))
        return tuple(tables)

    def tables(self, key: str) -> tuple["Table", ...]:
        """Return the tables inside the table at `key`, in the order of the file."""
        inner = self.table(key)
        return tuple(inner.table(name) for name in inner.values)

    def table(self, key: str) -> "Table":
        """Return the table at `key`, or an empty one if there is none."""
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            raise self.error(key, problem=f"must be a table, got {value!r}")
        return replace(self, path=(*self.path, key), values=value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """Names and aliases, looked up regardless of case, spaces, hyphens and underscores.

    `owners` maps a folded name or alias to the name that it refers to.
    """

    owners: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def get(self, name: str) -> str | None:
        """Return the name that `name` refers to, or None."""
        return self.owners.get(_folded(name))

    def all(self) -> tuple[str, ...]:
        """Return every name once, without aliases, in the order of declaration."""
        return tuple(dict.fromkeys(self.owners.values()))

    def find(self, name: str, *, what: str) -> str:
        """Return the name that `name` refers to; raise `ConfigError` with the choices if none."""
        value = self.get(name)
        if value is None:
            choices = choices_for(name, sorted(self.all()))
            raise ConfigError(f"unknown {what} {name!r}; {choices}")
        return value

    def spelling(self, name: str) -> str:
        """Return the existing spelling of `name`; `name` itself if it is new or an alias."""
        owner = self.get(name)
        return owner if owner and _folded(owner) == _folded(name) else name.strip()

    def claimed(self, tables: Mapping[str, Table]) -> "Names":
        """Return these names together with those that `tables` declare, name -> its table.

        A name takes precedence over another's alias; an alias must be free. Raises `ConfigError`
        if a name is empty, if two names differ only in spelling, or if an alias already refers to
        something else.
        """
        owners = dict(self.owners)
        fresh = {_folded(name): name for name in tables}
        for name, table in tables.items():
            if not _folded(name):
                raise table.error(name, problem="is not a name")
            if fresh[_folded(name)] != name:
                raise table.error(name, problem=f"is the same name as {fresh[_folded(name)]!r}")
        owners.update(fresh)
        for name, table in tables.items():
            for alias in table.texts("aliases"):
                owner = owners.setdefault(_folded(alias), name)
                if owner != name:
                    problem = f"has {alias!r}, which already refers to {owner!r}"
                    raise table.error("aliases", problem=problem)
        return Names(owners=MappingProxyType(owners))


def _folded(name: str) -> str:
    return _SEPARATORS.sub("", name).casefold()
