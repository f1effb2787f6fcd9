"""Where the command line's log goes; a library that is embedded sets none."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from spanjury.judges.core import ConfigError
from spanjury.orchestration.interfaces.cli.exits import say

__all__ = ["log_to"]

_GRAVE = frozenset({"error", "critical"})
_JSON: Sequence[Processor] = (
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    # Local variables hold judged texts and keys.
    structlog.processors.ExceptionRenderer(
        structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
    ),
    structlog.processors.JSONRenderer(),
)


def log_to(file: Path | None) -> None:
    """Send errors to standard error, one line each, and the whole log to `file`, if there is one.

    The file gets a JSON object a line, added to what is there and written at once: a
    ``timestamp`` (ISO 8601, UTC), a ``level`` from info upwards, an ``event`` and what
    belongs to it; where a panel is at work, for which ``segment_id``, ``aspect`` and
    ``seat``. It stays open until the process ends.

    Raises
    ------
    ConfigError
        If the file cannot be written.
    """
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            *([_LogFile(file)] if file is not None else []),
            _only_errors,
            structlog.processors.format_exc_info,
            structlog.processors.KeyValueRenderer(key_order=["level", "event"]),
        ],
        wrapper_class=structlog.make_filtering_bound_logger("error" if file is None else "info"),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


class _LogFile:
    """A processor that writes every event to a file, as JSON, and passes it on unchanged."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._works = True
        try:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
            self._file = os.open(path, flags, 0o666)
        except (OSError, ValueError) as error:
            problem = getattr(error, "strerror", None) or error
            raise ConfigError(f"the log file {path} cannot be written: {problem}") from error

    def __call__(self, logger: WrappedLogger, name: str, event: EventDict) -> EventDict:
        line: object = dict(event)
        for process in _JSON:
            line = process(logger, name, line)  # type: ignore[arg-type]  # a dict but for the last
        self._write(f"{line}\n".encode())
        return event

    def _write(self, line: bytes) -> None:
        """Write `line`; a log that fails must not end the work that it tells of."""
        if not self._works:
            return
        try:
            os.write(self._file, line)
        except OSError as error:
            self._works = False
            say(f"the log file {self._path} ends here: {error}")


def _only_errors(logger: WrappedLogger, name: str, event: EventDict) -> EventDict:
    """Let nothing but errors through to standard error."""
    del logger, name
    if event["level"] not in _GRAVE:
        raise structlog.DropEvent
    return event
