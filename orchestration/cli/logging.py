"""The log of the command line; as an embedded library, spanjury configures none."""

import logging
import os
import sys
from collections.abc import Mapping, MutableMapping
from pathlib import Path

from spanjury.judges.core import LOGGER, ConfigError, shown
from spanjury.judges.core.errors import reason_of
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.exits import say

with lazily():
    import structlog

_SENTENCES: Mapping[str, str] = {
    "outage.begun": "waiting for model {model}, {longest:.0f} s at most: {error}",
    "outage.ended": "model {model} answers again after {seconds:.0f} s",
    "panel.one_family": (
        "{seats} ask models of one family, {family}: these tend to make the same errors"
        " ('spanjury panel study' measures this)"
    ),
    "panel.own_family": (
        "{seats} judge texts of {system}, which is of their own family, {family}:"
        " judges may favour their own family ('spanjury panel study' measures this)"
    ),
    "panel.seat_blocks": (
        "{seat} blocks all other work, and Ctrl-C, for more than {seconds:g} s at a time:"
        " its judge must do this work in a thread"
    ),
}
"""The sentences for events that a user sees during a run."""
_ONCE = frozenset({"panel.one_family", "panel.own_family"})
"""Events that a user sees once, however often panels are opened."""
_MOST_ALIKE, _ALIKE_SECONDS = 3, 60.0
"""Similar errors that a user sees, within these seconds: a broken judge fails on every row."""


def log_to(file: Path | None) -> None:
    """Send errors and outages to standard error, and the whole log to `file` if given.

    Each takes one line; only three similar errors a minute are shown. An outage is reported when
    calls begin to wait for a model, and when they resume.

    The file receives one JSON object per line, appended immediately: a ``timestamp`` (ISO 8601,
    UTC), a ``level`` from info upwards, an ``event`` and its values; during an assessment also
    ``segment_id``, ``aspect`` and ``seat``. It stays open until the process ends. An earlier
    call's configuration is undone. Raise `ConfigError` if the file cannot be written.
    """
    new: list[logging.Handler] = [_Lines()]
    if file is not None:
        new.append(_LogFile(file))
    logger = logging.getLogger(LOGGER)
    for handler in [*logger.handlers]:
        if isinstance(handler, _Lines | _LogFile):
            logger.removeHandler(handler)
    for handler in new:
        logger.addHandler(handler)
    logger.setLevel(logging.WARNING if file is None else logging.INFO)
    logger.propagate = False  # a library's handler for the root logger must not print it again


class _Lines(logging.Handler):
    """Prints a line to standard error for errors, outages and some warnings about seats."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._shown: set[str] = set()
        self._alike: dict[tuple[object, ...], tuple[float, int]] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Write `record`; if standard error is closed, go on without it."""
        event, values = getattr(record, "event", ""), getattr(record, "values", {})
        if event in _SENTENCES:
            line = _SENTENCES[event].format_map(values)
        elif record.levelno >= logging.ERROR:
            line = f"{record.levelname.lower()}: {record.getMessage()}"
            kind = (event or line, values.get("seat"), values.get("error"))
            alike = self._counted(kind, at=record.created)
            if alike > _MOST_ALIKE:
                return
            if alike == _MOST_ALIKE:
                line += "\nfurther errors of this kind are hidden for a minute; --log-file has all"
        else:
            return
        if line in self._shown:
            return
        if event in _ONCE:
            self._shown.add(line)
        try:
            sys.stderr.write(f"{shown(line)}\n")
        except (OSError, ValueError):  # standard error is closed: write nothing more to it
            self.setLevel(logging.CRITICAL + 1)

    def _counted(self, kind: tuple[object, ...], *, at: float) -> int:
        """Count an error at time `at`; return how many of its kind there were in this period."""
        since, count = self._alike.get(kind, (at, 0))
        if at - since > _ALIKE_SECONDS:
            since, count = at, 0
        self._alike[kind] = since, count + 1
        return count + 1


class _LogFile(logging.Handler):
    """Writes every event to a file, as JSON."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        render = structlog.stdlib.ProcessorFormatter
        self.formatter = render(
            foreign_pre_chain=[_without_exception],
            processors=[
                render.remove_processors_meta,
                structlog.stdlib.add_log_level,
                structlog.processors.TimeStamper(fmt="iso", utc=True),
                structlog.processors.JSONRenderer(),
            ],
        )
        self._path = path
        self._works = True
        try:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
            self._file = os.open(path, flags, 0o666)
        except (OSError, ValueError) as error:
            raise ConfigError(
                f"the log file {path} cannot be written: {reason_of(error)}"
            ) from error

    def emit(self, record: logging.LogRecord) -> None:
        """Write `record`; a log that cannot be written must not end the work."""
        if not self._works:
            return
        try:
            os.write(self._file, f"{self.format(record)}\n".encode())
        except OSError as error:
            self._works = False
            say(f"the log file {self._path} ends here: {error}")


def _without_exception(
    _: object, __: str, values: MutableMapping[str, object]
) -> MutableMapping[str, object]:
    """Drop the exception of a foreign record: its message may contain judged text."""
    values.pop("exc_info", None)
    return values
