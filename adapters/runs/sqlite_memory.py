"""A memory in one SQLite file; values survive kill -9 and power loss."""

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from spanjury.adapters.runs import database
from spanjury.adapters.runs.memory_form import ANY, GET, MEMORY, PUT, packed, unpacked
from spanjury.adapters.runs.run_lock import RunLock
from spanjury.adapters.runs.shared_commits import SharedCommits
from spanjury.adapters.runs.sqlite_pages import log_of
from spanjury.judges.core import EventLog, StoreError

log = EventLog()

_CACHE = 16 * 1024
"""Size of the page cache for gets in KiB: keys are in random order."""

_MOST_KEYS = 100_000
"""Maximum number of keys to track in memory, for a file that was empty when opened."""

_MOST_WAITING = 500
"""Maximum number of values waiting for the next commit."""

_ADVICE = "wait for it to end, or use another memory: shards that run at once need one each"


@dataclass(slots=True)
class _Batch:
    """The values of one commit, and the keys of those for which no task waits."""

    values: dict[str, bytes] = field(default_factory=dict)
    soon: set[str] = field(default_factory=set)

    def without_awaited(self, newer: "_Batch") -> "_Batch":
        """Return what the next commit is to write if this one has failed; `newer` values count."""
        values = {key: self.values[key] for key in self.soon} | newer.values
        return _Batch(values, self.soon - newer.values.keys() | newer.soon)


class SqliteMemory:
    """Stores values in a file, as a `Memory`; only one process may have it open at a time.

    The puts of many tasks share a commit: while a worker thread writes and syncs one batch, the
    next one is collected. `put` belongs to one event loop. `get` may be called from any thread, and
    also returns values that are not written yet. The file is created if it does not exist. Beside
    it are its log (``-wal``, ``-shm``) and a lock file (``.lock``), which remains.

    Raises `StoreError` on entry if another process has the file open. It also raises, without
    writing, if the file is damaged, is not a memory, or was made by a newer spanjury. `get` raises
    it if the file can no longer be read. `put` raises it if the file cannot be written (a full
    disk); values put before are kept, and a later put may succeed. A later commit also writes what
    `put_soon` left. Exit raises it if this, or what cancelled puts left, cannot be written.

    Opening reads the whole file, to find damage before anything is built on it; `repair` saves what
    is readable in a damaged file. A single value with a wrong checksum costs only that value: it
    counts as never put, and a warning is logged. If a log is damaged in the middle, the values
    after the damage are recovered.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stack = ExitStack()
        self._reader: sqlite3.Connection | None = None
        self._writer: sqlite3.Connection | None = None
        self._commits = SharedCommits[_Batch](_Batch, self._commit, kept=_Batch.without_awaited)
        self._has_warned = False
        self._keys: set[str] | None = None  # those in the file or on their way, as long as few

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.enter_context(RunLock(database.lock_of(self._path), advice=_ADVICE))
            with database.naming(self._path):
                database.finish_repair(self._path)
                _make_or_check(self._path)
                writer = database.connected(self._path, mode="rw")
                self._writer = stack.enter_context(closing(writer))
                _prepare(self._writer, self._path)
                reader = database.connected(self._path, mode="ro")
                self._reader = stack.enter_context(closing(reader))
                self._reader.execute(f"PRAGMA cache_size = {-_CACHE}")
                self._keys = None if self._reader.execute(ANY).fetchone() else set()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with self._stack:
            if kind is None:
                self._commit(self._commits.gathering)
                return
            with suppress(StoreError):  # the original error matters more
                self._commit(self._commits.gathering)

    def get(self, key: str) -> bytes | None:
        """Return the last value put under `key`; None if there is none, or it is damaged."""
        assert self._reader is not None, "get outside the context"
        for batch in (self._commits.gathering, self._commits.writing):
            if (pending := batch.values.get(key)) is not None:
                return pending
        if self._keys is not None and key not in self._keys:
            return None
        try:
            row: tuple[bytes, int] | None = self._reader.execute(GET, (key,)).fetchone()
        except (sqlite3.Error, OSError, ValueError):
            with database.naming(self._path):  # around the query, it would double a get's cost
                raise
        if row is None:
            return None
        value = unpacked(key, *row)
        if value is None and not self._has_warned:
            self._has_warned = True  # once, since many may be damaged
            log.error(
                "memory.value_damaged",
                path=str(self._path),
                key=key,
                remedy="it is asked for again, as is every other value that is not what was put",
            )
        return value

    async def put_soon(self, key: str, value: bytes) -> None:
        """Store `value` with the next commit, or on exit; if many are waiting, commit now."""
        if len(self._commits.gathering.values) < _MOST_WAITING:
            self._gather(key, value)
            self._commits.gathering.soon.add(key)
        else:
            await self.put(key, value)

    async def put(self, key: str, value: bytes) -> None:
        """Store `value`; return once it is synced to disk."""
        self._gather(key, value)
        self._commits.gathering.soon.discard(key)
        await self._commits.written()

    def _gather(self, key: str, value: bytes) -> None:
        """Add a value to the next commit; record its key, so that other keys need no query."""
        self._commits.gathering.values[key] = value
        if self._keys is not None:
            self._keys.add(key)
            if len(self._keys) > _MOST_KEYS:
                self._keys = None

    def _commit(self, batch: _Batch) -> None:
        assert self._writer is not None, "put outside the context"
        rows = [packed(key, value) for key, value in batch.values.items()]
        with database.naming(self._path), self._writer:  # commits, or rolls back
            self._writer.execute("BEGIN IMMEDIATE")
            self._writer.executemany(PUT, rows)


def _make_or_check(path: Path) -> None:
    """Create the file, or raise `StoreError` if the existing one must not be written to."""
    if path.exists() and path.stat().st_size:
        # Read-only, as otherwise closing the last connection would write the log into the file.
        with closing(database.connected(path, mode="ro")) as connection:
            database.check(connection, path, MEMORY)
        return
    log_file = log_of(path)
    if log_file.exists() and log_file.stat().st_size:  # SQLite would delete the log
        raise StoreError(
            f"{path}: is damaged: it is empty or gone, but its log {log_file.name} is not;"
            f" {database.advice(path)}"
        )
    new = path.with_name(f"{path.name}.new")  # so that the file is never incomplete
    database.create(new, MEMORY)
    new.replace(path)


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    """Make commits durable, and recover rows behind the damage of a torn log.

    A file of an older layout gets the new one, so that an older spanjury does not read new values.
    """
    missing = database.missing_rows(path, connection, MEMORY)
    is_older = database.pragma(connection, "user_version") in MEMORY.older
    database.make_durable(connection, path)
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany(PUT, missing)
    if is_older:
        connection.execute(f"PRAGMA user_version = {MEMORY.layout}")
    connection.execute("COMMIT")


class KeptMemory:
    """Read-only access to the values of a memory."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def get(self, key: str) -> bytes | None:
        """Return the last value put under `key`; None if there is none, or it is damaged."""
        with database.naming(self._path):
            row: tuple[bytes, int] | None = self._connection.execute(GET, (key,)).fetchone()
        return None if row is None else unpacked(key, *row)

    async def put(self, key: str, value: bytes) -> None:
        """Do nothing, since access is read-only."""

    async def put_soon(self, key: str, value: bytes) -> None:
        """Do nothing, since access is read-only."""


@contextmanager
def open_kept_memory(path: Path) -> Iterator[KeptMemory]:
    """Open the memory in a file for reading, even while a run writes to it.

    Raise `StoreError` if there is none, or it cannot be read.
    """
    if not path.is_file():
        raise StoreError(f"there is no memory {path}")
    with database.naming(path), closing(database.connected(path, mode="ro")) as connection:
        yield KeptMemory(connection, path)
