"""Values of flags: those that need no conversion are taken as they are.

typer makes a validator of pydantic for every flag of a command, given or not. To load pydantic
and to make these would be a fifth of a short run, most of it for flags that are not given.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal, Self, get_args, get_origin

import typer

_PYDANTICS = "Value error, "
"""Words that pydantic puts before each message."""


def plainly_taken(flags: Sequence[Any]) -> list[Any]:
    """Have `flags` ask typer's validators only for values that must be converted or checked."""
    for flag in flags:
        make = getattr(flag, "get_runtime_param", None)
        # Earlier versions of typer make no validators.
        if make is not None and not isinstance(make, _PlainValues):
            flag.get_runtime_param = _PlainValues(flag.type_descriptor.annotation, make)
    return list(flags)


class _PlainValues:
    """Returns a plain value, and has others converted; it stands for typer's own validator."""

    def __init__(self, kind: object, make: Callable[[], Any]) -> None:
        self._kind = kind
        self._make = make

    def __call__(self) -> Self:
        """Return what has the method `coerce`, as typer asks for it."""
        return self

    def coerce(self, value: object, param: Any, ctx: Any) -> object:  # noqa: ANN401  typer's
        """Return `value` as the command takes it; raise as typer does if it does not fit."""
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        # The default is our own, so that there is nothing to check.
        if _is_plain(value, self._kind) or value is param.default:
            return value
        try:
            return self._make().coerce(value, param=param, ctx=ctx)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix(_PYDANTICS)
            raise


def _is_plain(value: object, kind: object) -> bool:
    """Say whether `value` is one of `kind` already, a text or a choice, or a list of these."""
    if get_origin(kind) is list and isinstance(value, list | tuple):
        return all(_is_plain(item, get_args(kind)[0]) for item in value)
    if get_origin(kind) is Literal:
        return isinstance(value, str) and value in get_args(kind)
    return kind is str and type(value) is str
