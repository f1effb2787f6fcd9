"""A memory in one SQLite file: what was put is there after kill -9 and power loss."""

import sqlite3
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from anyio import CancelScope, CapacityLimiter, Lock, to_thread

from spanjury.adapters.runs.run_lock import RunLock
from spanjury.judges.core import StoreError

__all__ = ["SqliteMemory"]

_APPLICATION = int.from_bytes(b"SpJm", "big")
_LAYOUT = 1
_CREATE = f"""
BEGIN;
CREATE TABLE memory (key TEXT PRIMARY KEY, value BLOB NOT NULL, checksum INTEGER NOT NULL) STRICT;
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {_LAYOUT};
COMMIT;
"""
_GET = "SELECT value, checksum FROM memory WHERE key = ?"
_PUT = "INSERT OR REPLACE INTO memory (key, value, checksum) VALUES (?, ?, ?)"


@dataclass(slots=True)
class _Batch:
    """Values and their checksums that one commit writes, and what came of it."""

    rows: dict[str, tuple[bytes, int]] = field(default_factory=dict)
    settled: bool = False
    problem: str = "the commit broke off"


class SqliteMemory:
    """Keep values in a file, as a `Memory` that one process has open at a time.

    The puts of many tasks share a commit: while a worker thread writes and syncs one
    batch, the next gathers. `put` belongs to one event loop; `get` may be called from
    any thread and serves what is not written yet, too.

    Parameters
    ----------
    path
        The file, made if it is not there. Its log lies beside it (``-wal``, ``-shm``),
        and so does a lock file (``.lock``), which stays.

    Raises
    ------
    StoreError
        On entry, if another process has it open; or the file is damaged, is no memory,
        or was made by a newer spanjury, and then nothing is written to it. From `get`, if
        a value is not what was put. From `put`, if it cannot be written (a full disk):
        what was put before stays, and a later put may succeed. At the end, if what
        cancelled puts left cannot be written.

    Notes
    -----
    Opening reads the whole file, to find damage before anything is built on it. A log
    whose end was torn, or written over, is read up to there: what came behind counts as
    never put.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stack = ExitStack()
        self._reader: sqlite3.Connection | None = None
        self._writer: sqlite3.Connection | None = None
        self._gathering = _Batch()
        self._writing = _Batch()
        self._turn = Lock()
        self._thread = CapacityLimiter(1)

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.enter_context(RunLock(self._path.with_name(f"{self._path.name}.lock")))
            with _naming(self._path):
                _make_or_check(self._path)
                self._writer = stack.enter_context(closing(_connected(self._path, mode="rw")))
                _prepare(self._writer, self._path)
                self._reader = stack.enter_context(closing(_connected(self._path, mode="ro")))
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._stack:
            if kind is None:
                self._commit(self._gathering.rows)
                return
            with suppress(StoreError):  # what ended the context is the news
                self._commit(self._gathering.rows)

    def get(self, key: str) -> bytes | None:
        """Return what was put last under `key`, or None."""
        assert self._reader is not None, "get outside the context"
        for batch in (self._gathering, self._writing):
            if key in batch.rows:
                return batch.rows[key][0]
        with _naming(self._path):
            row: tuple[bytes, int] | None = self._reader.execute(_GET, (key,)).fetchone()
        if row is None:
            return None
        value, checksum = row
        if checksum != _checksum(key, value):
            raise StoreError(f"{self._path}: is damaged: the value of {key} is not what was put")
        return value

    async def put(self, key: str, value: bytes) -> None:
        """Keep `value`; return once it is synced to disk."""
        batch = self._gathering
        batch.rows[key] = value, _checksum(key, value)
        async with self._turn:
            if not batch.settled:
                await self._settle()
        if batch.problem:
            raise StoreError(batch.problem)

    async def _settle(self) -> None:
        """Write what has gathered, to the end even if this task is cancelled meanwhile."""
        self._writing, self._gathering = self._gathering, _Batch()
        batch = self._writing
        with CancelScope(shield=True):
            try:
                await to_thread.run_sync(self._commit, batch.rows, limiter=self._thread)
                batch.problem = ""
            except StoreError as error:
                batch.problem = str(error)
            finally:
                batch.settled = True
                self._writing = _Batch()

    def _commit(self, rows: Mapping[str, tuple[bytes, int]]) -> None:
        assert self._writer is not None, "put outside the context"
        with _naming(self._path), self._writer:  # commits, or rolls back
            self._writer.execute("BEGIN IMMEDIATE")
            self._writer.executemany(_PUT, ((key, *row) for key, row in rows.items()))


def _checksum(key: str, value: bytes) -> int:
    return zlib.crc32(value, zlib.crc32(key.encode()))


def _connected(path: Path, *, mode: str) -> sqlite3.Connection:
    """Open a connection that the event loop and worker threads may use in turn."""
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)


def _make_or_check(path: Path) -> None:
    """Make the file, or raise `StoreError` if what is there must not be written to."""
    if path.exists() and path.stat().st_size:
        # The last connection to close writes the log into the file, unless it is read-only.
        with closing(_connected(path, mode="ro")) as connection:
            _check(connection, path)
        return
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:  # SQLite would delete it, and what was put with it
        raise StoreError(f"{path}: is damaged: it is empty or gone, but its log {log.name} is not")
    _make(path)


def _make(path: Path) -> None:
    """Make an empty memory under another name first, so that none is ever half made."""
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    with closing(_connected(new, mode="rwc")) as connection:
        connection.executescript(_CREATE)
    new.replace(path)


def _check(connection: sqlite3.Connection, path: Path) -> None:
    if _asked(connection, "PRAGMA application_id") != _APPLICATION:
        raise StoreError(f"{path}: is a database, but no memory of spanjury")
    layout = _asked(connection, "PRAGMA user_version")
    if layout != _LAYOUT:
        raise StoreError(
            f"{path}: has layout {layout}, and this spanjury reads layout {_LAYOUT}: use the"
            " spanjury that made it"
        )
    problem = _asked(connection, "PRAGMA quick_check(1)")
    if problem != "ok":
        raise StoreError(f"{path}: is damaged: {problem}")


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    """Have every commit synced to disk before it returns."""
    if _asked(connection, "PRAGMA journal_mode = WAL") != "wal":
        raise StoreError(f"{path}: its file system cannot hold a write-ahead log")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA fullfsync = ON")  # on macOS, fsync alone is not enough


def _asked(connection: sqlite3.Connection, question: str) -> object:
    (answer,) = connection.execute(question).fetchone()
    return answer


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Translate what SQLite and the operating system say."""
    try:
        yield
    except sqlite3.Error as error:
        # SQLite's own class for a file that is no database, or has a broken page.
        damaged = type(error) is sqlite3.DatabaseError
        problem = "is damaged, or no memory" if damaged else "cannot be read or written"
        # SQLite calls a full disk so where a limit, not the disk, is the reason.
        full = " (is the disk full?)" if "disk I/O" in str(error) else ""
        raise StoreError(f"{path}: {problem}: {error}{full}") from error
    except (OSError, ValueError) as error:
        raise StoreError(f"{path}: cannot be opened: {error}") from error
