"""The repair of a damaged memory: every value that can still be read, in a new file.

The new file takes the place of the old one in steps that may break off anywhere: as long as
it has its name for the time between, the next process that opens the memory takes the rest of them.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from spanjury.adapters.runs.memory_file import (
    check,
    checksum_of,
    connected,
    create,
    finish_repair,
    free_name,
    missing_rows,
    naming,
    repaired_file,
)
from spanjury.adapters.runs.run_lock import RunLock
from spanjury.adapters.runs.sqlite_pages import DatabasePages, log_of
from spanjury.judges.core import StoreError

# What is saved, and what is known to have been there, by its number.
_TABLES = """
PRAGMA temp_store = FILE;
CREATE TEMP TABLE saved (key TEXT PRIMARY KEY, value BLOB, checksum INTEGER, number INTEGER);
CREATE INDEX temp.saved_numbers ON saved (number);
CREATE TEMP TABLE known (key TEXT, number INTEGER, PRIMARY KEY (key, number)) WITHOUT ROWID;
"""
_SAVE = """
INSERT INTO saved (key, value, checksum, number) VALUES (?, ?, ?, ?)
ON CONFLICT (key) DO UPDATE
SET (value, checksum, number) = (excluded.value, excluded.checksum, excluded.number)
WHERE excluded.number > number
"""
_KNOW = "INSERT OR IGNORE INTO known VALUES (?, ?)"
_KEEP = """
INSERT INTO memory (key, value, checksum) SELECT key, value, checksum FROM saved ORDER BY number
"""
_LOST = """
SELECT count(DISTINCT number) FROM known
WHERE key NOT IN (SELECT key FROM saved) AND number NOT IN (SELECT number FROM saved)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """The outcome of a repair: values in the memory now, and known ones that cannot be read.

    `kept` is where the damaged file is; None if nothing was damaged.
    """

    saved: int
    lost: int
    kept: Path | None


def repair_memory(path: Path) -> Repaired:
    """Put every value that can be read in the memory `path` and its log into a new file.

    A value is saved only if its checksum says that it is what was put. The damaged file is kept
    beside the new one, with its log.

    Raises `StoreError` if a process has the memory open, there is none, it is another program's
    database, or the new file cannot be written; then all is as it was.
    """
    if not any(each.exists() for each in (path, log_of(path), repaired_file(path))):
        raise StoreError(f"{path}: there is no such memory")
    with RunLock(path.with_name(f"{path.name}.lock")), naming(path):
        finish_repair(path)
        sound = _count_if_sound(path)
        if sound is not None:
            return Repaired(saved=sound, lost=0, kept=None)
        saved, lost = _salvage(path)
        if not saved:
            _refuse_foreign(path)
        kept = free_name(path)
        path.with_name(f"{path.name}.new").replace(repaired_file(path))
        finish_repair(path)
    return Repaired(saved=saved, lost=lost, kept=kept)


def _count_if_sound(path: Path) -> int | None:
    """Return how many values there are, or None if any damage can be seen."""
    if not path.exists():
        return None
    with suppress(StoreError), naming(path), closing(connected(path, mode="ro")) as connection:
        check(connection, path)
        rows = connection.execute("SELECT key, value, checksum FROM memory")
        sound = [checksum == checksum_of(key, value) for key, value, checksum in rows]
        if all(sound) and not missing_rows(path, connection):
            return len(sound)
    return None


def _salvage(path: Path) -> tuple[int, int]:
    """Write the new file; return how many values are in it, and how many are lost."""
    new = path.with_name(f"{path.name}.new")
    create(new)
    with closing(connected(new, mode="rw")) as connection:
        connection.executescript(_TABLES)
        connection.execute("BEGIN")
        with DatabasePages(path) as pages:
            connection.executemany(_SAVE, _sound_rows(pages, connection))
            connection.executemany(_KNOW, pages.keys())
        saved = connection.execute(_KEEP).rowcount
        (lost,) = connection.execute(_LOST).fetchone()
        connection.execute("COMMIT")
    return saved, lost


def _sound_rows(
    pages: DatabasePages, connection: sqlite3.Connection
) -> Iterator[tuple[str, bytes, int, int]]:
    """Yield the rows that are what was put; note the others among those that are known."""
    for number, key, value, checksum in pages.rows():
        if checksum == checksum_of(key, value):
            yield key, value, checksum, number
        else:
            connection.execute(_KNOW, (key, number))


def _refuse_foreign(path: Path) -> None:
    """Raise `StoreError` if the file is a sound database that holds no memory of ours."""
    with suppress(sqlite3.Error), closing(connected(path, mode="ro")) as connection:
        tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        names = {name for (name,) in tables} - {"memory"}
        (problem,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if names and problem == "ok":
            raise StoreError(f"{path}: is a sound database, and no memory of spanjury's")
