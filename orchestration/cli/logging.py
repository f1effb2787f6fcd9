"""The log of the command line; an embedded library sets none up."""

import json
import logging
import os
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from spanjury.judges.core import LOGGER, ConfigError, shown
from spanjury.orchestration.cli.exits import say

_OUTAGES: Mapping[str, str] = {
    "outage.begun": "waiting for model {model}, {longest:.0f} s at most: {error}",
    "outage.ended": "model {model} answers again after {seconds:.0f} s",
}
"""The words for events that a user sees while a run goes on."""
_FAMILIES: Mapping[str, str] = {
    "panel.one_family": (
        "{seats} ask models of one family, {family}: they tend to vote like one"
        " ('spanjury panel study' measures it)"
    ),
    "panel.own_family": (
        "{seats} judge texts of {system}, which is of their own family, {family}:"
        " a judge may lean to its own ('spanjury panel study' measures it)"
    ),
}
"""The words for events that a user sees once, however often panels are opened."""


def log_to(file: Path | None) -> None:
    """Send errors and outages to standard error, and the whole log to `file`, if there is one.

    Each is a line; an outage is reported when calls begin to wait for a model, and when they go
    on.

    The file gets a JSON object a line, added to what is there and written at once: a
    ``timestamp`` (ISO 8601, UTC), a ``level`` from info upwards, an ``event`` and what
    belongs to it; where a panel is at work, for which ``segment_id``, ``aspect`` and
    ``seat``. It stays open until the process ends. What was set by an earlier call is undone.

    Raises
    ------
    ConfigError
        If the file cannot be written.
    """
    new: list[logging.Handler] = [_Errors(), _Outages(), _Families()]
    if file is not None:
        new.append(_LogFile(file))
    logger = logging.getLogger(LOGGER)
    for handler in [*logger.handlers]:
        if isinstance(handler, _Lines | _LogFile):
            logger.removeHandler(handler)
    for handler in new:
        logger.addHandler(handler)
    logger.setLevel(logging.WARNING if file is None else logging.INFO)
    logger.propagate = False  # what a library sets up for the root must not print it again


class _Lines(logging.Handler):
    """Writes lines to standard error."""

    def write(self, line: str) -> None:
        """Write `line`; a reader who has left must not end the work it is about."""
        try:
            sys.stderr.write(f"{shown(line)}\n")
        except (OSError, ValueError):
            self.setLevel(logging.CRITICAL + 1)


class _Errors(_Lines):
    """Writes errors to standard error, one line each."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)

    def emit(self, record: logging.LogRecord) -> None:
        """Write `record`."""
        self.write(f"{record.levelname.lower()}: {record.getMessage()}")


class _Outages(_Lines):
    """Writes to standard error that calls wait for a model, and that they go on."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)

    def emit(self, record: logging.LogRecord) -> None:
        """Write `record` if it is about an outage."""
        line = _OUTAGES.get(getattr(record, "event", ""))
        if line is not None:
            self.write(line.format_map(getattr(record, "values", {})))


class _Families(_Lines):
    """Writes to standard error which seats are of one family, or judge their own; each once."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._said: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Write `record` if it is about families, and new."""
        words = _FAMILIES.get(getattr(record, "event", ""))
        if words is None:
            return
        line = words.format_map(getattr(record, "values", {}))
        if line not in self._said:
            self._said.add(line)
            self.write(line)


class _LogFile(logging.Handler):
    """Writes every event to a file, as JSON."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._works = True
        try:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
            self._file = os.open(path, flags, 0o666)
        except (OSError, ValueError) as error:
            problem = getattr(error, "strerror", None) or error
            raise ConfigError(f"the log file {path} cannot be written: {problem}") from error

    def emit(self, record: logging.LogRecord) -> None:
        """Write `record`; a log that fails must not end the work it is about."""
        if not self._works:
            return
        try:
            os.write(self._file, f"{json.dumps(_row(record))}\n".encode())
        except OSError as error:
            self._works = False
            say(f"the log file {self._path} ends here: {error}")


def _row(record: logging.LogRecord) -> Mapping[str, object]:
    """Return the row for a record; a foreign one is its message."""
    return {
        **getattr(record, "values", {}),
        "event": getattr(record, "event", record.getMessage()),
        "level": record.levelname.lower(),
        "timestamp": datetime.fromtimestamp(record.created, UTC).isoformat(),
    }
