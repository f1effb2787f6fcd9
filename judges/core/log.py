"""Events of spanjury: structlog's, through the standard library's logger ``spanjury``.

The logger is quiet until a program gives it, or the root, a handler, as with any library;
structlog's configuration is the program's, and is neither read nor changed. An event has a
constant name and plain values; keys are hidden in them, and an exception appears by its type and
where it was raised: its message, and the variables of its frames, may hold judged text.

structlog is imported with the first event that is logged: that takes 0.1 s, mostly for rich.
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
"""Frames from where structlog calls the logger to the caller of an `EventLog`."""
_MOST_FRAMES = 20
_bound: ContextVar[Mapping[str, str]] = ContextVar("bound", default=MappingProxyType({}))

logging.getLogger(LOGGER).addHandler(logging.NullHandler())


def bind_values(**values: str) -> Token[Mapping[str, str]]:
    """Add `values` to every event that this task logs, until they are released."""
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

    An event has the values that were bound by `bind_values`, and those that the program bound by
    ``structlog.contextvars``. A record's message is the event with its values. A handler that
    wants them apart takes ``record.event``, a text, and ``record.values``, a dict of texts,
    numbers and lists of texts, or renders the record by structlog's ``ProcessorFormatter``.

    Examples
    --------
    >>> EventLog().warning("model.call_retried", attempt=2)
    """

    def debug(self, event: str, **values: object) -> None:
        """Log what only a developer wants to know."""
        _log(logging.DEBUG, event, values)

    def info(self, event: str, **values: object) -> None:
        """Log what went well."""
        _log(logging.INFO, event, values)

    def warning(self, event: str, **values: object) -> None:
        """Log what went wrong and was dealt with."""
        _log(logging.WARNING, event, values)

    def error(self, event: str, **values: object) -> None:
        """Log what went wrong."""
        _log(logging.ERROR, event, values)

    def exception(self, event: str, **values: object) -> None:
        """Log the exception that is being handled, by its type and where it was raised."""
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
    """An event and its values: a dict for structlog's renderers, a line for any other handler."""

    def __str__(self) -> str:
        values = (f"{name}={value!r}" for name, value in self.items() if name != "event")
        return " ".join([str(self["event"]), *values])


def _as_record(
    logger: object, method: str, values: MutableMapping[str, object]
) -> tuple[tuple[object], dict[str, object]]:
    """Return what the standard library's logger is called with: values without keys."""
    message = _Message((name, _safe(value)) for name, value in values.items())
    apart = {name: value for name, value in message.items() if name != "event"}
    extra = {"event": message["event"], "values": apart, "_logger": logger, "_name": method}
    return (message,), {"extra": extra, "stacklevel": _CALLER}


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
