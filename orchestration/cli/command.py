"""A command: a function that takes groups of flags, wrapped for typer, which passes single flags.

Texts, choices, paths and numbers are converted here. typer would build a pydantic validator for
every flag of a command, used or not; importing pydantic and building them would take a fifth of a
short run.
"""

import inspect
import math
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import MISSING, dataclass, fields
from functools import wraps
from pathlib import Path
from types import GenericAlias, MappingProxyType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    Self,
    TypeGuard,
    cast,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

import typer
from typer.core import TyperCommand, TyperGroup
from typer.models import ParameterInfo

from spanjury.judges.core import PluginError, failing_as
from spanjury.judges.core.notices import noticed_by
from spanjury.orchestration.cli.exits import exits, reserved_output, say
from spanjury.orchestration.services.exams.flag import Flag as Flag  # noqa: PLC0414  commands take it from here

_PYDANTICS = "Value error, "
"""Prefix of pydantic's messages."""
_METAVARS: Mapping[object, str] = {int: "N", float: "NUMBER", str: "NAME", Path: "FILE"}
_MORE = ", more"
_HELP = "Help"
_DIGITS = re.compile(r"[0-9]{1,15}")
_EMPTY = inspect.Parameter.empty
_SHOWS_ALL = "spanjury.shows_all"


def validated_if_needed(flags: Sequence[Any]) -> list[Any]:
    """Have `flags` use typer's validators only for values that must be converted or checked."""
    for flag in flags:
        make = getattr(flag, "get_runtime_param", None)
        # Earlier versions of typer build no validators.
        if make is not None and not isinstance(make, _PlainValues):
            flag.get_runtime_param = _PlainValues(flag.type_descriptor, make)
    return list(flags)


class _PlainValues:
    """Replaces typer's validator: returns plain values, and has typer convert any other."""

    def __init__(self, descriptor: Any, make: Callable[[], Any]) -> None:  # noqa: ANN401  typer's
        self._kind = descriptor.annotation
        self._info: ParameterInfo = descriptor.parameter_info
        self._make = make

    def __call__(self) -> Self:
        """Return the object with the method `coerce`, as typer expects."""
        return self

    def coerce(self, value: object, param: Any, ctx: Any) -> object:  # noqa: ANN401  typer's
        """Return the converted `value`; raise typer's error if it is invalid."""
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        if value is param.default:  # our own default needs no check
            return value
        if value == "-" and self._kind is Path and not self._info.allow_dash:
            raise typer.BadParameter("got '-', expected a file; write './-' for a file called '-'")
        plain = _converted(value, self._kind, info=self._info)
        if plain is not None:
            return plain
        try:
            converted = self._make().coerce(value, param=param, ctx=ctx)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix(_PYDANTICS)
            raise
        # Python reads 1_000 as a number, too, which may be a slip or a name.
        if isinstance(converted, int | float) and (math.isnan(converted) or "_" in str(value)):
            raise typer.BadParameter(f"got {value!r}, expected a number")
        return converted


def _converted(value: object, kind: object, *, info: ParameterInfo) -> object:
    """Return `value` converted to `kind`, or a list of it; None if typer must convert it."""
    if get_origin(kind) is list and isinstance(value, list | tuple):
        items = [_converted(item, get_args(kind)[0], info=info) for item in value]
        return None if None in items else items
    if not isinstance(value, str):
        return None
    if kind is str or (get_origin(kind) is Literal and value in get_args(kind)):
        return value
    if kind is Path:
        path = Path(value)
        return path if not path.exists() or os.access(path, os.R_OK) else None
    if kind in {int, float} and _DIGITS.fullmatch(value):
        number = int(value) if kind is int else float(value)
        return number if _fits(number, info) else None
    return None


def _fits(number: float, info: ParameterInfo) -> bool:
    least = -math.inf if info.min is None else info.min
    return least <= number <= (math.inf if info.max is None else info.max)


def _option(flag: Flag, name: str, kind: object, *, group: "type[Flags]") -> ParameterInfo:
    env = flag.env or group.have_env
    variable = f"SPANJURY_{name.upper()}" if env is True else env or None
    also = (flag.also,) if isinstance(flag.also, str) else flag.also
    option: ParameterInfo = typer.Option(
        *(_spelled(name), *also),
        help=flag.help,
        metavar=flag.metavar or _metavar(kind),
        envvar=list(variable) if isinstance(variable, tuple) else variable,
        min=flag.min,
        max=flag.max,
        hidden=flag.hidden,
        allow_dash=flag.dash,
    )
    return option


def _spelled(name: str) -> str:
    return f"--{name.rstrip('_').replace('_', '-')}"


def _metavar(kind: object) -> str | None:
    """Return the placeholder for a value of `kind`, which may be optional or repeated."""
    return next((_METAVARS[part] for part in (kind, *get_args(kind)) if part in _METAVARS), None)


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Flags:
    """A group of flags; a command takes it as one parameter.

    Every group becomes a frozen dataclass. The type of each field is ``Annotated`` with a `Flag` or
    a ``typer.Argument``, or is another group. The flag has the name and the default of its field; a
    repeatable flag is a tuple. `title` heads the group in the help. With `are_rare`, only the full
    help shows the group; with `have_env`, an environment variable can stand for each of its flags.
    """

    title: ClassVar[str] = "Options"
    are_rare: ClassVar[bool] = False
    have_env: ClassVar[bool] = False

    def __init_subclass__(
        cls, *, title: str = "", are_rare: bool = False, have_env: bool = False
    ) -> None:
        super().__init_subclass__()
        dataclass(frozen=True, kw_only=True)(cls)  # first, as an exam's field may be a `title`, too
        cls.title = title or cls.title
        cls.are_rare = are_rare or cls.are_rare
        cls.have_env = have_env or cls.have_env


class SectionedCommand(TyperCommand):
    """A command whose help has sections, and shows either common flags or all flags.

    `bare` holds the flags that may be given without a value, with the values that they then have.
    """

    bare: Mapping[str, str] = MappingProxyType({})

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401  typer's
        """Parse the flags; the word after a bare flag is not its value."""
        complete = [f"{arg}={self.bare[arg]}" if arg in self.bare else arg for arg in args]
        return list(super().parse_args(ctx, complete))

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401  as above
        """Return the flags, which use validators only if necessary."""
        return validated_if_needed(super().get_params(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ANN401  as above
        """Return the parts of the usage line without the braces of typer's required arguments."""
        pieces = super().collect_usage_pieces(ctx)
        return [piece.replace("{", "").replace("}", "") for piece in pieces]

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401  as above
        """Write the flags section by section, with environment variables if all flags are shown."""
        shows_all = ctx.meta.get(_SHOWS_ALL, False)
        sections: dict[str, list[tuple[str, str]]] = {}
        for flag in sorted(self.get_params(ctx), key=_is_option):  # arguments first
            title = getattr(flag, "rich_help_panel", None) or _HELP
            row = flag.get_help_record(ctx)
            if row is None or (title.endswith(_MORE) and not shows_all):
                continue
            name, text = row
            if not _is_option(flag):  # an argument's name already shows its type
                name = name.partition(" <")[0]
            if shows_all and flag.envvar:
                variables = [flag.envvar] if isinstance(flag.envvar, str) else flag.envvar
                text = f"{text}  [{', '.join(variables)}]"
            sections.setdefault(title, []).append((name, text))
        for title, rows in sections.items():
            with formatter.section(title):
                formatter.write_dl(rows)


class CommandGroup(TyperGroup):
    """A group whose commands are imported when they are called, since most never are.

    `functions` maps the name of a command to a function that returns the command's function.
    """

    functions: ClassVar[Mapping[str, Callable[[], Callable[..., None]]]] = {}

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401  typer's, passed on
        super().__init__(**settings)
        own = {name: DeferredCommand(name, load) for name, load in self.functions.items()}
        self.commands = {**own, **self.commands}

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401  as above
        """Return the flags, which use validators only if necessary."""
        return validated_if_needed(super().get_params(ctx))


class DeferredCommand(TyperCommand):
    """The name of a command, which is imported when it is called or its summary is needed."""

    def __init__(self, name: str, load: Callable[[], Callable[..., None]]) -> None:
        super().__init__(name)
        self._load = load

    def get_short_help_str(self, limit: int = 45) -> str:
        """Return the first sentence of the command's help, or why it cannot be imported."""
        try:
            self.help = inspect.getdoc(self._load())
        except PluginError as error:
            return f"broken: {error}"[:limit]
        return str(super().get_short_help_str(limit))

    def make_context(self, *args: Any, **extra: Any) -> Any:  # noqa: ANN401  as above
        """Return the context of the command itself."""
        with exits(), reserved_output():
            expanded = self.expanded()
        return expanded.make_context(*args, **extra)

    def expanded(self) -> SectionedCommand:
        """Return the command with its flags.

        Raise `PluginError` if a plugin's exam has fields that cannot become flags.
        """
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        function = self._load()
        with failing_as(lambda error: PluginError(f"{self.name!r}: no flags can be made: {error}")):
            alone.command(self.name, cls=SectionedCommand)(command(function))
            complete = typer.main.get_command(alone)
        assert isinstance(complete, SectionedCommand)
        complete.bare = dict(_bare(get_type_hints(function, include_extras=True).items()))
        return complete


def _is_option(flag: Any) -> bool:  # noqa: ANN401  typer does not name its type of a flag
    return bool(flag.param_type_name != "argument")


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Wrap `function` for typer: one parameter per flag, and our errors as exit codes."""
    hints = get_type_hints(function, include_extras=True)
    parameters = list(inspect.signature(function).parameters.values())
    flags = [
        flag
        for parameter in parameters
        for flag in _flags(parameter, hints[parameter.name], group=Flags)
    ]
    check_names((*(flag.name for flag in flags), "help", "help_all"))
    flags.append(_help_all(hidden=not any(map(_is_in_full_help_only, flags))))

    @wraps(function)
    def run(**values: object) -> None:
        with exits(), reserved_output(), noticed_by(say):
            function(
                **{
                    parameter.name: _value(parameter.name, hints[parameter.name], values)
                    for parameter in parameters
                }
            )

    # typer reads these two attributes.
    run.__signature__ = inspect.Signature(flags)  # type: ignore[attr-defined]
    run.__annotations__ = {flag.name: flag.annotation for flag in flags}
    return run


def check_names(names: Iterable[str]) -> None:
    """Raise `PluginError` if two flags have the same name, as in a plugin's exam."""
    doubled = [name for name, count in Counter(names).items() if count > 1]
    if doubled:
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in doubled)
        raise PluginError(
            f"{flags}: every command of an exam has a flag of this name: rename the field"
        )


def _flags(
    given: inspect.Parameter, hint: object, *, group: type[Flags]
) -> Iterator[inspect.Parameter]:
    """Yield the flags of a group, or the single flag `given`, which belongs to `group`."""
    if not _is_group(hint):
        yield _flag(given, hint, group=group)
        return
    for name, (part, default) in _parts(hint).items():
        yield from _flags(given.replace(name=name, default=default), part, group=hint)


def _bare(hints: Iterable[tuple[str, object]]) -> Iterator[tuple[str, str]]:
    """Yield each flag that may be given without a value, and the value that it then has."""
    for name, hint in hints:
        if _is_group(hint):
            yield from _bare((field, part) for field, (part, _) in _parts(hint).items())
        for note in get_args(hint)[1:]:
            if isinstance(note, Flag) and note.bare is not None:
                yield _spelled(name), note.bare


def _flag(given: inspect.Parameter, hint: object, *, group: type[Flags]) -> inspect.Parameter:
    kind, note = get_args(hint)
    info = _option(note, given.name, kind, group=group) if isinstance(note, Flag) else copy(note)
    info.metavar = info.metavar or (None if isinstance(note, Flag) else given.name.upper())
    is_rare = isinstance(note, Flag) and (note.rare or group.are_rare)
    info.rich_help_panel = f"{group.title}{_MORE}" if is_rare else group.title
    info.show_envvar = False  # the command shows it
    default = given.default
    if _is_repeated(hint):  # typer expects lists, and passes None for an empty one
        kind = GenericAlias(list, get_args(kind)[:1])
        kind, default = (kind, default) if default is _EMPTY else (kind | None, None)
    return given.replace(kind=given.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info])


def _value(name: str, hint: object, values: Mapping[str, object]) -> object:
    if not _is_group(hint):
        value = values[name]
        return tuple(cast("list[object]", value or ())) if _is_repeated(hint) else value
    build = cast("Callable[..., Flags]", hint)
    return build(
        **{field: _value(field, part, values) for field, (part, _) in _parts(hint).items()}
    )


def _parts(group: type[Flags]) -> Mapping[str, tuple[object, object]]:
    hints = get_type_hints(group, include_extras=True)
    return {
        field.name: (hints[field.name], _EMPTY if field.default is MISSING else field.default)
        for field in fields(group)  # type: ignore[arg-type]  # a group is a dataclass
    }


def _is_group(hint: object) -> TypeGuard[type[Flags]]:
    return isinstance(hint, type) and issubclass(hint, Flags)


def _is_repeated(hint: object) -> bool:
    kind, *_ = get_args(hint)
    return get_origin(kind) is tuple


def _is_in_full_help_only(flag: inspect.Parameter) -> bool:
    """Return whether only ``--help-all`` shows the flag, or its environment variable."""
    _, info = get_args(flag.annotation)
    return str(info.rich_help_panel).endswith(_MORE) or bool(info.envvar)


def _show_all(ctx: typer.Context, wanted: bool) -> None:  # noqa: FBT001  typer calls it so
    if wanted:
        ctx.meta[_SHOWS_ALL] = True
        typer.echo(ctx.get_help())
        raise typer.Exit


def _help_all(*, hidden: bool) -> inspect.Parameter:
    """Return the flag ``--help-all``, hidden if the help already shows everything."""
    option: ParameterInfo = typer.Option(
        "--help-all",
        help="Show all flags and their environment variables.",
        callback=_show_all,
        is_eager=True,
        hidden=hidden,
        rich_help_panel=_HELP,
    )
    return inspect.Parameter(
        "help_all",
        inspect.Parameter.KEYWORD_ONLY,
        default=False,
        annotation=Annotated[bool, option],
    )
