"""Plugins by entry point: spanjury's own and other packages' are registered the same way.

A plugin that cannot be loaded, or that claims a name in use, breaks no command: `Registry.broken`
lists it with its package and the reason.
"""

import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import Distribution, EntryPoint, distributions
from keyword import iskeyword
from typing import Generic, TypeVar, cast

from spanjury.judges.core.choices import choices_for
from spanjury.judges.core.errors import PluginError, failing_as
from spanjury.judges.core.scrubbing import reason_of

OUR_PACKAGE = "spanjury"
"""Package whose plugins keep their names if another package claims the same ones."""

P_co = TypeVar("P_co", covariant=True)


_POINTS = "entry_points.txt"
_NAME = re.compile(r"\w[\w.+-]*")
"""A name of a plugin; a colon, a comma or a blank would end it in a flag with options."""


@cache
def _declared(path: tuple[str, ...]) -> Mapping[str, list[EntryPoint]]:  # noqa: ARG001  a cache key
    """Read the entry points of our groups; of a package installed twice, the first copy counts."""
    declared: dict[str, list[EntryPoint]] = {}
    seen: set[str] = set()
    for package in distributions():
        # Parsing is slow, and of the hundreds of packages few have entry points for us.
        if OUR_PACKAGE not in (package.read_text(_POINTS) or "") or package.name in seen:
            continue
        seen.add(package.name)
        for point in package.entry_points:
            declared.setdefault(point.group, []).append(point)
    return declared


@cache
def _package(origin: Distribution | None) -> tuple[str, str]:
    """Return name and version of a package; cached, because they are read from all its metadata."""
    return (origin.name, origin.version) if origin else ("", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """A plugin as its package declares it; `origin` is the package, `target` the entry point."""

    group: str
    name: str
    origin: str
    version: str
    target: str = ""

    @property
    def is_ours(self) -> bool:
        """True if it comes with spanjury."""
        return self.origin == OUR_PACKAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenPlugin:
    """A plugin that cannot be used.

    Parameters
    ----------
    missing
        The missing module that is the reason, such as an optional library; otherwise empty, also
        if the missing module is part of the plugin itself.
    shadowed
        Whether another package's plugin uses the name.
    """

    plugin: Plugin
    reason: str
    missing: str = ""
    shadowed: bool = False

    def __str__(self) -> str:
        """Return the reason with the plugin's package."""
        origin = f"{self.plugin.origin} {self.plugin.version}".strip()
        return f"broken ({origin}): {self.reason}"


@dataclass(frozen=True)  # no slots: on 3.11 `Registry[P](…)` fails with them
class Registry(Generic[P_co]):
    """The plugins of one entry-point group, each of type ``P_co``.

    If two packages claim a name, spanjury has it if it is one of them. Otherwise neither gets it,
    because the order of installation must not decide which is loaded.

    Parameters
    ----------
    group
        The entry-point group.
    beside
        A group whose names users write in the same place, as metrics beside judges. Our names there
        are ours here, too.
    reserved
        Further names that are ours there, such as commands beside exams.
    are_functions
        Whether the plugins are functions in Python, too, with underscores for hyphens.
    """

    group: str
    beside: str = ""
    reserved: frozenset[str] = frozenset()
    are_functions: bool = False

    def names(self) -> tuple[str, ...]:
        """Return the valid names of the plugins, sorted, without those of ours beside the group."""
        names = {point.name for point in self._points()} - self._taken().keys()
        return tuple(sorted(name for name in names if not self._fault(name)))

    def plugins(self) -> tuple[Plugin, ...]:
        """Return every plugin, sorted by name and package, without loading any."""
        plugins = map(self._described, self._points())
        return tuple(sorted(plugins, key=lambda plugin: (plugin.name, plugin.origin)))

    def get(self, name: str) -> P_co:
        """Load the plugin called `name`.

        Raises `PluginError` if the name is unknown, if two packages other than ours claim it, or if
        its target cannot be imported. The message names the packages or the valid names.
        """
        point = self._chosen(name)
        what = f"{point.value}, of the package {self._described(point).origin}"
        with failing_as(
            lambda error: PluginError(
                f"{self.group} plugin {name!r} ({what}) cannot be loaded: {error!r}"
            ),
            passing=(),
        ):
            return cast("P_co", point.load())  # wiring checks the shape of what it builds

    def broken(self, plugins: Iterable[Plugin] | None = None) -> tuple[BrokenPlugin, ...]:
        """Load `plugins`, by default all, and return those that cannot be used, in their order."""
        loaded = self.plugins() if plugins is None else plugins
        return tuple(problem for plugin in loaded if (problem := self._problem(plugin)) is not None)

    def _problem(self, plugin: Plugin) -> BrokenPlugin | None:
        if fault := self._fault(plugin.name):
            return BrokenPlugin(plugin=plugin, reason=fault)
        try:
            if noun := self._taken().get(plugin.name):
                owner = f"a {noun} of {OUR_PACKAGE}"
                reason = f"the name {plugin.name!r} belongs to {owner}, which is used"
                return BrokenPlugin(plugin=plugin, reason=reason, shadowed=True)
            chosen = self._described(self._chosen(plugin.name))
            if plugin != chosen:
                reason = f"the name {plugin.name!r} belongs to {chosen.origin}, which is used"
                return BrokenPlugin(plugin=plugin, reason=reason, shadowed=True)
            self.get(plugin.name)
        except PluginError as error:
            missing = _missing(plugin, error.__cause__)
            return BrokenPlugin(plugin=plugin, reason=reason_of(error), missing=missing)
        return None

    def _fault(self, name: str) -> str:
        """Return why no plugin can have this name; empty if one can."""
        if not _NAME.fullmatch(name):
            allowed = "letters, digits and . _ + -, with a letter or a digit first"
            return f"the name {name!r} must consist of {allowed}"
        word = name.replace("-", "_")
        if self.are_functions and (iskeyword(word) or not word.isidentifier()):
            return f"the name {name!r} cannot be that of a function in Python"
        return ""

    def _chosen(self, name: str) -> EntryPoint:
        """Return the entry point that the name belongs to."""
        names = self.names()
        if name not in names:
            choices = choices_for(name, names)
            raise PluginError(f"there is no {_kind(self.group)} {name!r}; {choices}")
        claims = [point for point in self._points() if point.name == name]
        ours = [point for point in claims if self._described(point).is_ours]
        if len(candidates := ours or claims) > 1:
            origins = " and ".join(sorted(self._described(point).origin for point in claims))
            raise PluginError(
                f"{self.group} plugin {name!r} is claimed by {origins}: uninstall all but one"
            )
        return candidates[0]

    def _taken(self) -> Mapping[str, str]:
        """Return our names in the places beside this group -> the noun of each."""
        points = _declared(tuple(sys.path)).get(self.beside, ())
        ours = {point.name for point in points if self._described(point).is_ours}
        return dict.fromkeys(ours, _kind(self.beside)) | dict.fromkeys(self.reserved, "command")

    def _points(self) -> Iterator[EntryPoint]:
        return iter(_declared(tuple(sys.path)).get(self.group, ()))

    def _described(self, point: EntryPoint) -> Plugin:
        name, version = _package(point.dist)
        return Plugin(
            group=self.group, name=point.name, origin=name, version=version, target=point.value
        )


def plugins_outside(groups: Collection[str]) -> Iterator[Plugin]:
    """Yield the plugins of groups that bear our name, and are none of `groups`."""
    for group in _declared(tuple(sys.path)):
        if group.startswith(f"{OUR_PACKAGE}.") and group not in groups:
            yield from Registry[object](group).plugins()


def _missing(plugin: Plugin, cause: BaseException | None) -> str:
    """Return the module that a plugin could not import; empty if none, or one of its own."""
    name = (cause.name or "") if isinstance(cause, ModuleNotFoundError) else ""
    package, _, _ = plugin.target.partition(":")[0].partition(".")
    return "" if name.partition(".")[0] == package else name


def _kind(group: str) -> str:
    """Return the noun for a plugin of a group, such as ``judge``."""
    return group.rpartition(".")[2].removesuffix("s").replace("_", " ")
