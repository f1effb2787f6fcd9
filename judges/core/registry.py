"""Plugins by entry point: ours and anyone's come the same way, one line each."""

from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar, cast

from spanjury.judges.core.errors import PluginError

__all__ = ["Plugin", "Registry"]

P_co = TypeVar("P_co", covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """Where a plugin comes from."""

    group: str
    name: str
    origin: str
    version: str


@dataclass(frozen=True)  # no slots: on 3.11 `Registry[P](…)` fails with them
class Registry(Generic[P_co]):
    """The plugins of one entry-point group, each of the shape ``P_co``.

    Parameters
    ----------
    group
        Name of the entry-point group, as ``"spanjury.judges"``.
    """

    group: str

    def names(self) -> tuple[str, ...]:
        """Return the names that can be asked for, sorted."""
        return tuple(sorted({point.name for point in entry_points(group=self.group)}))

    def plugins(self) -> tuple[Plugin, ...]:
        """Say where each plugin comes from, sorted by name, without loading any."""
        found = [self._describe(point) for point in entry_points(group=self.group)]
        return tuple(sorted(found, key=lambda plugin: (plugin.name, plugin.origin)))

    def get(self, name: str) -> P_co:
        """Load the plugin called `name`.

        Raises
        ------
        PluginError
            If the name is unknown, claimed twice, or what it points to cannot be
            imported; the message lists the choices.
        """
        found = [point for point in entry_points(group=self.group) if point.name == name]
        if len(found) != 1:
            problem = "is claimed twice" if found else f"is not one of {', '.join(self.names())}"
            raise PluginError(f"{self.group} plugin {name!r} {problem}")
        try:
            loaded = found[0].load()
        except Exception as error:  # a plugin's import runs code that is not ours
            raise PluginError(
                f"{self.group} plugin {name!r} ({found[0].value}) cannot be loaded: {error!r}"
            ) from error
        return cast("P_co", loaded)  # wiring checks the shape of what it builds

    def _describe(self, point: EntryPoint) -> Plugin:
        origin = point.dist
        return Plugin(
            group=self.group,
            name=point.name,
            origin=origin.name if origin else "",
            version=origin.version if origin else "",
        )
