"""The events that are logged while a test runs."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from spanjury.judges.core import LOGGER

Event = dict[str, object]


class _List(logging.Handler):
    def __init__(self, events: list[Event]) -> None:
        super().__init__()
        self.events = events

    def emit(self, record: logging.LogRecord) -> None:
        event = {"event": record.event, "log_level": record.levelname.lower()}  # type: ignore[attr-defined]  # ours have it
        self.events.append(event | record.values)  # type: ignore[attr-defined]  # ours have it


@contextmanager
def capture_logs() -> Iterator[list[Event]]:
    """Collect all events, each with its values, its name and its ``log_level``."""
    logger = logging.getLogger(LOGGER)
    events: list[Event] = []
    handler, level = _List(events), logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        yield events
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


def forget_handlers() -> None:
    """Make the logger as it is when it is imported."""
    logger = logging.getLogger(LOGGER)
    for handler in [each for each in logger.handlers if not isinstance(each, logging.NullHandler)]:
        logger.removeHandler(handler)
    logger.setLevel(logging.NOTSET)
    logger.propagate = True
