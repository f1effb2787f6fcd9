"""Events that spanjury tells of, through the standard library's `logging`.

They go to the logger ``spanjury``, which is quiet until a program gives it, or the root, a
handler, as with any library. An event has a constant name and plain values; keys are hidden
in them, and an exception appears by its type and where it was raised: its message, and the
variables of its frames, may hold judged text.
"""

import logging
import sys
from collections.abc import Mapping
from contextvars import ContextVar, Token
from dataclasses import dataclass
from pathlib import Path
from traceback import walk_tb
from types import MappingProxyType

from spanjury.judges.core.scrubbing import scrub

LOGGER = "spanjury"
"""Name of the logger."""

Value = str | int | float | bool | list[str] | None

_CALLER = 3
"""Frames between the logger and who tells of an event."""
_MOST_FRAMES = 20
_bound: ContextVar[Mapping[str, str]] = ContextVar("bound", default=MappingProxyType({}))

logging.getLogger(LOGGER).addHandler(logging.NullHandler())


def bind_values(**values: str) -> Token[Mapping[str, str]]:
    """Add `values` to every event that this task tells of, until they are released."""
    return _bound.set({**_bound.get(), **values})


def release_values(token: Token[Mapping[str, str]]) -> None:
    """Take back what the call of `bind_values` that returned `token` added."""
    _bound.reset(token)


def kind_of(error: BaseException) -> str:
    """Return the type of `error`, with a model's status: its message may hold judged text.

    Examples
    --------
    >>> kind_of(ValueError("the text"))
    'ValueError'
    """
    name, status = type(error).__name__, getattr(error, "status", None)
    return name if status is None else f"{name}, status {status}"


@dataclass(frozen=True, slots=True)
class EventLog:
    """A front of the logger ``spanjury`` that takes events.

    A record's message is the event with its values. A handler that wants them apart takes
    ``record.event``, a text, and ``record.values``, a dict of texts, numbers and lists of
    texts.

    Examples
    --------
    >>> EventLog().warning("model.call_retried", attempt=2)
    """

    def debug(self, event: str, **values: object) -> None:
        """Tell of what only a developer wants to know."""
        self._tell(logging.DEBUG, event, values)

    def info(self, event: str, **values: object) -> None:
        """Tell of what went well."""
        self._tell(logging.INFO, event, values)

    def warning(self, event: str, **values: object) -> None:
        """Tell of what went wrong and was dealt with."""
        self._tell(logging.WARNING, event, values)

    def error(self, event: str, **values: object) -> None:
        """Tell of what went wrong."""
        self._tell(logging.ERROR, event, values)

    def exception(self, event: str, **values: object) -> None:
        """Tell of the exception that is being handled, by its type and where it was raised."""
        error = sys.exception()
        where = {"error": kind_of(error), "frames": _frames(error)} if error else {}
        self._tell(logging.ERROR, event, {**where, **values})

    def _tell(self, level: int, event: str, values: Mapping[str, object]) -> None:
        logger = logging.getLogger(LOGGER)
        if not logger.isEnabledFor(level):
            return
        safe = {name: _safe(value) for name, value in {**_bound.get(), **values}.items()}
        message = " ".join([event, *(f"{name}={value!r}" for name, value in safe.items())])
        extra = {"event": event, "values": safe}
        # As an argument: a `%` in it is none of the logger's.
        logger.log(level, "%s", message, extra=extra, stacklevel=_CALLER)


def _safe(value: object) -> Value:
    """Return `value` without keys, and as a text if it is of no plain type."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, list | tuple):
        return [scrub(str(part)) for part in value]
    return scrub(value if isinstance(value, str) else repr(value))


def _frames(error: BaseException) -> list[str]:
    """Return where `error` was raised, the innermost frame last."""
    frames = [
        f"{Path(frame.f_code.co_filename).name}:{line} in {frame.f_code.co_name}"
        for frame, line in walk_tb(error.__traceback__)
    ]
    return frames[-_MOST_FRAMES:]
