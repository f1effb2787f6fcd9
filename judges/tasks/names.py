"""Names and aliases: what a word that a user writes refers to."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from spanjury.judges.core import ConfigError
from spanjury.judges.tasks.table import Table

__all__ = ["Names"]

_SEPARATORS = re.compile(r"[\s_-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """Find a name by itself or an alias, whatever its case, spaces, hyphens, underscores.

    Parameters
    ----------
    owners
        Folded name or alias -> the name that it refers to.
    """

    owners: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def get(self, name: str) -> str | None:
        """Return what `name` refers to, or None."""
        return self.owners.get(_folded(name))

    def all(self) -> tuple[str, ...]:
        """Return every name once, without aliases, in the order in which they were claimed."""
        return tuple(dict.fromkeys(self.owners.values()))

    def find(self, name: str, *, what: str) -> str:
        """Return what `name` refers to; raise `ConfigError` with the choices if nothing."""
        found = self.get(name)
        if found is None:
            choices = ", ".join(sorted(self.all()))
            raise ConfigError(f"unknown {what} {name!r}; choose from {choices}")
        return found

    def spelling(self, name: str) -> str:
        """Return the known spelling of `name`, or its own if it is no name (an alias is none)."""
        owner = self.get(name)
        return owner if owner and _folded(owner) == _folded(name) else name.strip()

    def claimed(self, tables: Mapping[str, Table]) -> "Names":
        """Return these names with those that `tables` declare, name -> its table.

        A name takes precedence over what was an alias of another; an alias must be free.

        Raises
        ------
        ConfigError
            If a name is empty, two names differ in spelling only, or an alias already refers
            to something else.
        """
        owners = dict(self.owners)
        fresh = {_folded(name): name for name in tables}
        for name, table in tables.items():
            if not _folded(name):
                raise table.error(name, problem="is no name")
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
