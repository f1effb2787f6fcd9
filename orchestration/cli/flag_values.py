"""Values of flags: those that need no conversion are taken as they are.

typer makes a validator of pydantic for every flag of a command, given or not. To load pydantic
and to make these would be a fifth of a short run, most of it for flags that nobody gave.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, get_args, get_origin


def take_plainly(flag: Any) -> None:  # noqa: ANN401  typer does not name its type of a flag
    """Have `flag` ask typer's validator only for a value that must be converted or checked."""
    make = getattr(flag, "get_runtime_param", None)
    if make is not None:  # earlier versions of typer make no validators
        flag.get_runtime_param = partial(_PlainValues, flag.type_descriptor.annotation, make)


class _PlainValues:
    """Returns a plain value, and has others converted; it stands for typer's own validator."""

    def __init__(self, kind: object, make: Callable[[], Any]) -> None:
        self._kind = kind
        self._make = make

    def coerce(self, value: object, param: Any, ctx: Any) -> object:  # noqa: ANN401  as above
        """Return `value` as the command takes it; raise as typer does if it does not fit."""
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        # The default is our own, so that there is nothing to check.
        if _is_plain(value, self._kind) or (not callable(value) and value is param.default):
            return value
        return self._make().coerce(value, param=param, ctx=ctx)


def _is_plain(value: object, kind: object) -> bool:
    """Say whether `value` is one of `kind` already, a text or a choice, or a list of these."""
    if get_origin(kind) is list and isinstance(value, list | tuple):
        return all(_is_plain(one, get_args(kind)[0]) for one in value)
    if get_origin(kind) is Literal:
        return isinstance(value, str) and value in get_args(kind)
    return kind is str and type(value) is str
