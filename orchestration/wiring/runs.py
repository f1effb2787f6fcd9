"""Paths become folders of runs and memories."""

from pathlib import Path

from spanjury.adapters.files.line_writer import PART, part_of
from spanjury.adapters.runs.database import MEMORY_NAME
from spanjury.adapters.runs.run_folder import (
    RunContents,
    RunFolder,
    find_databases,
    find_run,
    leftovers,
    lock_of,
    new_run,
    remove_leftover,
    remove_run,
    run_contents,
    runs_home,
    unmade_if_refused,
)
from spanjury.adapters.runs.run_lock import RunLock, is_locked
from spanjury.adapters.runs.sqlite_memory import KeptMemory, SqliteMemory, open_kept_memory

__all__ = [
    "MEMORY_NAME",
    "PART",
    "KeptMemory",
    "RunContents",
    "RunFolder",
    "RunLock",
    "find_databases",
    "find_run",
    "is_locked",
    "leftovers",
    "lock_of",
    "new_run",
    "open_kept_memory",
    "open_memory",
    "part_of",
    "remove_leftover",
    "remove_run",
    "run_contents",
    "runs_home",
    "unmade_if_refused",
]


def open_memory(path: Path) -> SqliteMemory:
    """Open a memory in a file, for ``with``; see `SqliteMemory`."""
    return SqliteMemory(path)
