"""Paths become sources, results and memories."""

from collections.abc import Iterator
from pathlib import Path

from spanjury.adapters.files.results import ResultWriter
from spanjury.adapters.runs.sqlite_memory import SqliteMemory
from spanjury.judges.core import DataError, Segment
from spanjury.orchestration.wiring.plugins import SOURCES

__all__ = ["open_memory", "open_results", "open_source"]


def open_source(path: Path) -> Iterator[Segment | DataError]:
    """Read `path` with the source that is named after its ending.

    Raises
    ------
    DataError
        If the file cannot be read, or no source reads files with such an ending.
    """
    endings = [suffix.lstrip(".").lower() for suffix in path.suffixes if suffix != ".gz"]
    ending = endings[-1] if endings else ""
    if ending not in SOURCES.names():
        choices = ", ".join(f".{name}" for name in SOURCES.names())
        raise DataError(f"{path}: no source reads files that end in {ending!r}; known: {choices}")
    return SOURCES.get(ending)(path)


def open_results(path: Path) -> ResultWriter:
    """Open a file for result rows, for ``with``; see `ResultWriter`."""
    return ResultWriter(path)


def open_memory(path: Path) -> SqliteMemory:
    """Open a memory in a file, for ``with``; see `SqliteMemory`."""
    return SqliteMemory(path)
