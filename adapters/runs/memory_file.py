"""The file of a memory: its making, its check, and what its repair has left to do."""

import shlex
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path

from spanjury.adapters.runs.sqlite_pages import DatabasePages, RawRow, log_of
from spanjury.judges.core import StoreError

MEMORY_NAME = "memory.sqlite3"
"""Name of the memory in the folder of a run."""
ANY = "SELECT 1 FROM memory LIMIT 1"
GET = "SELECT value, checksum FROM memory WHERE key = ?"
PUT = "INSERT OR REPLACE INTO memory (key, value, checksum) VALUES (?, ?, ?)"
_APPLICATION = int.from_bytes(b"SpJm", "big")
_LAYOUT = 1
_TABLE = (
    "CREATE TABLE memory (key TEXT PRIMARY KEY, value BLOB NOT NULL, checksum INTEGER NOT NULL)"
    " STRICT"
)
_CREATE = f"""
BEGIN;
{_TABLE};
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {_LAYOUT};
COMMIT;
"""
_DAMAGE = frozenset(
    {
        sqlite3.SQLITE_ERROR,  # a table or a column of ours is not there
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_TOOBIG,
        sqlite3.SQLITE_MISMATCH,
        sqlite3.SQLITE_NOTADB,
    }
)
"""Errors of SQLite that are due to the file; the others are due to the disk or the system."""


def checksum_of(key: str, value: bytes) -> int:
    """Return the checksum that is kept beside `value`."""
    return zlib.crc32(value, zlib.crc32(key.encode("utf-8", "surrogatepass")))


def connected(path: Path, *, mode: str) -> sqlite3.Connection:
    """Open a connection that the event loop and worker threads may use in turn."""
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)


def create(path: Path) -> None:
    """Make an empty memory, in place of a file that is there."""
    path.unlink(missing_ok=True)
    with closing(connected(path, mode="rwc")) as connection:
        connection.executescript(_CREATE)


def check(connection: sqlite3.Connection, path: Path) -> None:
    """Raise `StoreError` if the file is not a memory, of another layout or damaged."""
    if pragma(connection, "application_id") != _APPLICATION:
        raise StoreError(
            f"{path}: is a database, but no memory of spanjury; {advice(path, sure=False)}"
        )
    layout = pragma(connection, "user_version")
    if layout != _LAYOUT:
        raise StoreError(
            f"{path}: has layout {layout}, and this spanjury reads layout {_LAYOUT}: use the"
            f" spanjury that made it; {advice(path, sure=False)}"
        )
    # Not quick_check: a damaged entry of the index hides a value that is there.
    problem = str(pragma(connection, "integrity_check(1)")).replace("*** in database main ***", "")
    if problem == "ok" and _tables(connection) != [_TABLE]:
        problem = "its table is not called as it was made"
    if problem != "ok":
        raise StoreError(f"{path}: is damaged: {' '.join(problem.split())}; {advice(path)}")


def _tables(connection: sqlite3.Connection) -> list[str]:
    query = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL"
    return [sql for (sql,) in connection.execute(query)]


def pragma(connection: sqlite3.Connection, question: str) -> object:
    """Return what SQLite answers to a pragma."""
    (answer,) = connection.execute(f"PRAGMA {question}").fetchone()
    return answer


def missing_rows(path: Path, connection: sqlite3.Connection) -> list[RawRow]:
    """Return the sound rows in the log of a memory that `connection` does not see.

    SQLite reads a log up to its first damage. Call this before anything is written, or the
    log may be written over.
    """
    missing: dict[str, RawRow] = {}
    with DatabasePages(path) as pages:
        for row in pages.logged_rows():
            if row.key in missing or row.checksum != checksum_of(row.key, row.value):
                continue
            kept = connection.execute(GET, (row.key,)).fetchone()
            if kept is None or kept[1] != checksum_of(row.key, kept[0]):
                missing[row.key] = row
    return list(missing.values())


def finish_repair(path: Path) -> None:
    """Give the new file its name, if a repair came so far; hold the lock of the memory."""
    whole = repaired_file(path)
    if not whole.exists():
        return
    kept = free_name(path)
    log = log_of(path)
    if log.exists():  # first of all: it must never lie beside the new file
        log.replace(log_of(kept))
    path.with_name(f"{path.name}-shm").unlink(missing_ok=True)  # an index of the log
    if path.exists():
        path.replace(kept)
    whole.replace(path)


def repaired_file(path: Path) -> Path:
    """Return the name of the new file from when it is whole until it has its own."""
    return path.with_name(f"{path.name}.repaired")


def free_name(path: Path) -> Path:
    """Return a name for the damaged file."""
    names = (path.with_name(f"{path.name}.damaged-{number}") for number in count(1))
    return next(name for name in names if not name.exists())


def advice(path: Path, *, sure: bool = True) -> str:
    """Say what saves the values in a damaged file, if it surely is damaged or may be."""
    run = path.parent if path.name == MEMORY_NAME else path
    command = f"spanjury runs repair {shlex.quote(str(run))}"
    if sure:
        return f"save what can be read by: {command}"
    return f"if it is damaged, save what can be read by: {command}"


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Translate what SQLite and the operating system say."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
        if code & 0xFF in _DAMAGE:  # the rest of the code is a detail
            raise StoreError(
                f"{path}: is damaged, or no memory: {error}; {advice(path)}"
            ) from error
        # SQLite calls a full disk so where a limit, not the disk, is the reason.
        full = " (is the disk full?)" if "disk I/O" in str(error) else ""
        raise StoreError(f"{path}: cannot be read or written: {error}{full}") from error
    except (OSError, ValueError) as error:
        raise StoreError(f"{path}: cannot be opened: {error}") from error
