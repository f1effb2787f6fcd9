"""Paths become folders of runs and memories."""

from pathlib import Path

from spanjury.adapters.files.line_writer import PART, part_of
from spanjury.adapters.runs.database import MEMORY_NAME
from spanjury.adapters.runs.kept_memory import KeptMemory, open_kept_memory
from spanjury.adapters.runs.run_contents import RunContents, run_contents
from spanjury.adapters.runs.run_folder import (
    RunFolder,
    find_databases,
    find_run,
    new_run,
    runs_home,
)
from spanjury.adapters.runs.run_lock import RunLock, is_locked
from spanjury.adapters.runs.run_removal import leftovers, lock_of, remove_leftover, remove_run
from spanjury.adapters.runs.sqlite_memory import SqliteMemory

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
]


def open_memory(path: Path) -> SqliteMemory:
    """Open a memory in a file, for ``with``; see `SqliteMemory`."""
    return SqliteMemory(path)
