"""Events of spanjury: structlog's, through the standard library's logger ``spanjury``.

As with any library, the logger is quiet until a program adds a handler to it or to the root.
structlog's configuration belongs to the program and is neither read nor changed. An event has a
constant name and plain values, in which keys are hidden. An exception appears by its type and where
it was raised, because its message and the variables of its frames may contain judged text.

structlog is imported when the first event is logged: this takes 0.1 s, mostly for rich.
"""

import logging
import sys
from collections.abc import Mapping, MutableMapping
from contextvars import ContextVar, Token
from dataclasses import dataclass
from pathlib import Path
from traceback import walk_tb
from types import MappingProxyType

from spanjury.judges.core.lazy import Once, lazily
from spanjury.judges.core.scrubbing import scrub

with lazily():
    import structlog

LOGGER = "spanjury"
"""Name of the logger."""

Value = str | int | float | bool | list[str] | None

_CALLER = 6
"""Number of frames from structlog's call of the logger to the caller of an `EventLog`."""
_MOST_FRAMES = 20
_bound: ContextVar[Mapping[str, str]] = ContextVar("bound", default=MappingProxyType({}))

logging.getLogger(LOGGER).addHandler(logging.NullHandler())


def bind_values(**values: str) -> Token[Mapping[str, str]]:
    """Add `values` to every event that this task logs, until `release_values` removes them."""
    return _bound.set({**_bound.get(), **values})


def release_values(token: Token[Mapping[str, str]]) -> None:
    """Remove the values that were added by the call of `bind_values` that returned `token`."""
    _bound.reset(token)


def kind_of(error: BaseException) -> str:
    """Return the type of `error`, with a model's HTTP status, but not its message."""
    name, status = type(error).__name__, getattr(error, "status", None)
    return name if status is None else f"{name}, status {status}"


@dataclass(frozen=True, slots=True)
class EventLog:
    """Facade of the logger ``spanjury`` that takes events.

    An event has the values bound by `bind_values` and those that the program bound by
    ``structlog.contextvars``. A record's message is the event with its values. A handler that
    needs them separately reads ``record.event``, a string, and ``record.values``, a dict of
    strings, numbers and lists of strings, or renders the record by structlog's
    ``ProcessorFormatter``.
    """

    def debug(self, event: str, **values: object) -> None:
        """Log an event for developers."""
        _log(logging.DEBUG, event, values)

    def info(self, event: str, **values: object) -> None:
        """Log an event of normal operation."""
        _log(logging.INFO, event, values)

    def warning(self, event: str, **values: object) -> None:
        """Log a problem that was handled."""
        _log(logging.WARNING, event, values)

    def error(self, event: str, **values: object) -> None:
        """Log a failure."""
        _log(logging.ERROR, event, values)

    def exception(self, event: str, **values: object) -> None:
        """Log the exception being handled, by its type and where it was raised."""
        error = sys.exception()
        where = {"error": kind_of(error), "frames": _frames(error)} if error else {}
        _log(logging.ERROR, event, {**where, **values})


def _log(level: int, event: str, values: Mapping[str, object]) -> None:
    if logging.getLogger(LOGGER).isEnabledFor(level):
        _engine.get().bind(**{**_bound.get(), **values}).log(level, event)


def _make_engine() -> "structlog.stdlib.BoundLogger":
    engine: structlog.stdlib.BoundLogger = structlog.wrap_logger(
        logging.getLogger(LOGGER),
        processors=[structlog.contextvars.merge_contextvars, _as_record],
        wrapper_class=structlog.stdlib.BoundLogger,
        context_class=dict,
    )
    return engine


_engine = Once(_make_engine)


class _Message(dict[str, Value]):
    """An event and its values: a dict for structlog's renderers, one line for other handlers."""

    def __str__(self) -> str:
        values = (f"{name}={value!r}" for name, value in self.items() if name != "event")
        return " ".join([str(self["event"]), *values])


def _as_record(
    logger: object, method: str, values: MutableMapping[str, object]
) -> tuple[tuple[object], dict[str, object]]:
    """Return the arguments for the standard library's logger, with keys hidden in the values."""
    message = _Message((name, _safe(value)) for name, value in values.items())
    apart = {name: value for name, value in message.items() if name != "event"}
    extra = {"event": message["event"], "values": apart, "_logger": logger, "_name": method}
    return (message,), {"extra": extra, "stacklevel": _CALLER}


def _safe(value: object) -> Value:
    """Return `value` with keys hidden; a value of no plain type becomes a string."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, list | tuple):
        return [scrub(str(part)) for part in value]
    return scrub(value if isinstance(value, str) else repr(value))


def _frames(error: BaseException) -> list[str]:
    """Return the frames from which `error` was raised, innermost last."""
    frames = [
        f"{Path(frame.f_code.co_filename).name}:{line} in {frame.f_code.co_name}"
        for frame, line in walk_tb(error.__traceback__)
    ]
    return frames[-_MOST_FRAMES:]
