"""A memory in one SQLite file: what was put is there after kill -9 and power loss."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from anyio import CancelScope, CapacityLimiter, Event, Lock, sleep, to_thread
from anyio.lowlevel import checkpoint_if_cancelled

from spanjury.adapters.runs.database import (
    advice,
    check,
    connected,
    create,
    finish_repair,
    lock_of,
    make_durable,
    missing_rows,
    naming,
    pragma,
)
from spanjury.adapters.runs.memory_form import ANY, GET, MEMORY, PUT, packed, unpacked
from spanjury.adapters.runs.run_lock import RunLock
from spanjury.adapters.runs.sqlite_pages import log_of
from spanjury.judges.core import EventLog, StoreError

log = EventLog()

_GATHERING = 0.002
"""Seconds for which a commit waits for more puts, where the last had several: a commit costs the
processor as much as thirty puts."""


_CACHE = 16 * 1024
"""Kibibytes of the file that are held for gets: keys lie in no order."""

_MOST_KEYS = 100_000
"""Keys of a file that began empty that are held in memory."""

_MOST_WAITING = 500
"""Values that may wait for the next commit."""


@dataclass(slots=True)
class _Batch:
    """Values that one commit writes, and what came of it.

    The first put leads: it has the commit made, and `settled` wakes the others.
    """

    values: dict[str, bytes] = field(default_factory=dict)
    puts: int = 0
    settled: Event | None = None
    problem: str = "the commit broke off"


class SqliteMemory:
    """Keep values in a file, as a `Memory` that one process has open at a time.

    The puts of many tasks share a commit: while a worker thread writes and syncs one batch, the
    next gathers. `put` belongs to one event loop; `get` may be called from any thread and serves
    what is not written yet, too. The file is made if it is not there. Its log lies beside it
    (``-wal``, ``-shm``), and so does a lock file (``.lock``), which stays.

    Raises `StoreError` on entry, if another process has it open; or the file is damaged, is not a
    memory, or was made by a newer spanjury, and then nothing is written to it. From `get`, if the
    file cannot be read any longer. From `put`, if it cannot be written (a full disk): what was put
    before stays, and a later put may succeed. At the end, if what cancelled puts left cannot be
    written.

    Notes
    -----
    Opening reads the whole file, to find damage before anything is built on it; `repair`
    saves what such a file still holds. Damage that leaves the file in order, a value that is
    not what was put, costs that value alone: it counts as never put, with a warning. Of a
    log that is damaged in its midst, what lies behind is taken up again.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stack = ExitStack()
        self._reader: sqlite3.Connection | None = None
        self._writer: sqlite3.Connection | None = None
        self._gathering = _Batch()
        self._writing = _Batch()
        self._has_warned = False
        self._is_shared = False  # by several puts was the last commit
        self._keys: set[str] | None = None  # all there are in the file, while they are few
        self._turn = Lock()
        self._thread = CapacityLimiter(1)

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.enter_context(RunLock(lock_of(self._path)))
            with naming(self._path):
                finish_repair(self._path)
                _make_or_check(self._path)
                self._writer = stack.enter_context(closing(connected(self._path, mode="rw")))
                _prepare(self._writer, self._path)
                self._reader = stack.enter_context(closing(connected(self._path, mode="ro")))
                self._reader.execute(f"PRAGMA cache_size = {-_CACHE}")
                self._keys = None if self._reader.execute(ANY).fetchone() else set()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with self._stack:
            if kind is None:
                self._commit(self._gathering.values)
                return
            with suppress(StoreError):  # what ended the context is the news
                self._commit(self._gathering.values)

    def get(self, key: str) -> bytes | None:
        """Return what was put last under `key`; None if nothing was, or it is damaged."""
        assert self._reader is not None, "get outside the context"
        for batch in (self._gathering, self._writing):
            if (pending := batch.values.get(key)) is not None:
                return pending
        if self._keys is not None and key not in self._keys:
            return None
        try:
            row: tuple[bytes, int] | None = self._reader.execute(GET, (key,)).fetchone()
        except (sqlite3.Error, OSError, ValueError):
            with naming(self._path):  # a context for each of many gets would cost as much as they
                raise
        if row is None:
            return None
        value = unpacked(key, *row)
        if value is None:
            self._forget(key)
        return value

    def _forget(self, key: str) -> None:
        """Warn that values are damaged, once: there may be many."""
        if not self._has_warned:
            self._has_warned = True
            log.error(
                "memory.value_damaged",
                path=str(self._path),
                key=key,
                remedy="it is asked for again, as is every other value that is not what was put",
            )

    async def put_soon(self, key: str, value: bytes) -> None:
        """Keep `value` with the next commit, or at the end; of many, put it."""
        if len(self._gathering.values) < _MOST_WAITING:
            self._gathering.values[key] = value
        else:
            await self.put(key, value)

    async def put(self, key: str, value: bytes) -> None:
        """Keep `value`; return once it is synced to disk."""
        batch = self._gathering
        batch.values[key] = value
        batch.puts += 1  # several may be of one key
        if batch.settled is None:
            batch.settled = Event()
            await self._settle(batch, batch.settled)
            await checkpoint_if_cancelled()
        else:
            await batch.settled.wait()
        if batch.problem:
            raise StoreError(batch.problem)

    async def _settle(self, batch: _Batch, settled: Event) -> None:
        """Write what has come in, to the end even if this task is cancelled meanwhile."""
        with CancelScope(shield=True):
            try:
                if self._is_shared:
                    await sleep(_GATHERING)
                async with self._turn:
                    await self._write(batch)
            finally:
                settled.set()

    async def _write(self, batch: _Batch) -> None:
        self._writing, self._gathering = batch, _Batch()
        self._is_shared = batch.puts > 1
        try:
            await to_thread.run_sync(self._commit, batch.values, limiter=self._thread)
            batch.problem = ""
            self._note(batch.values)
        except StoreError as error:
            batch.problem = str(error)
        finally:
            self._writing = _Batch()

    def _note(self, keys: Iterable[str]) -> None:
        """Know that these keys are in the file, which spares asking it for others."""
        if self._keys is not None:
            self._keys.update(keys)
            if len(self._keys) > _MOST_KEYS:
                self._keys = None

    def _commit(self, values: Mapping[str, bytes]) -> None:
        assert self._writer is not None, "put outside the context"
        rows = [packed(key, value) for key, value in values.items()]
        with naming(self._path), self._writer:  # commits, or rolls back
            self._writer.execute("BEGIN IMMEDIATE")
            self._writer.executemany(PUT, rows)


def _make_or_check(path: Path) -> None:
    """Make the file, or raise `StoreError` if what is there must not be written to."""
    if path.exists() and path.stat().st_size:
        # The last connection to close writes the log into the file, unless it is read-only.
        with closing(connected(path, mode="ro")) as connection:
            check(connection, path, MEMORY)
        return
    log_file = log_of(path)
    if log_file.exists() and log_file.stat().st_size:  # SQLite would delete it with its values
        raise StoreError(
            f"{path}: is damaged: it is empty or gone, but its log {log_file.name} is not;"
            f" {advice(path)}"
        )
    new = path.with_name(f"{path.name}.new")  # so that none is ever half made
    create(new, MEMORY)
    new.replace(path)


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    """Have every commit synced to disk before it returns; take up what a torn log hides.

    A file of an older layout gets this one: an older spanjury must not read new values.
    """
    missing = missing_rows(path, connection, MEMORY)
    is_older = pragma(connection, "user_version") in MEMORY.older
    make_durable(connection, path)
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany(PUT, missing)
    if is_older:
        connection.execute(f"PRAGMA user_version = {MEMORY.layout}")
    connection.execute("COMMIT")


class KeptMemory:
    """The values of a memory, from a connection that writes nothing."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def get(self, key: str) -> bytes | None:
        """Return what was put last under `key`; None if nothing was, or it is damaged."""
        with naming(self._path):
            row: tuple[bytes, int] | None = self._connection.execute(GET, (key,)).fetchone()
        return None if row is None else unpacked(key, *row)

    async def put(self, key: str, value: bytes) -> None:
        """Keep nothing."""

    async def put_soon(self, key: str, value: bytes) -> None:
        """Keep nothing."""


@contextmanager
def open_kept_memory(path: Path) -> Iterator[KeptMemory]:
    """Open the memory in a file, beside a run that may go on with it.

    Raise `StoreError` if there is none, or it cannot be read.
    """
    if not path.is_file():
        raise StoreError(f"there is no memory {path}")
    with naming(path), closing(connected(path, mode="ro")) as connection:
        yield KeptMemory(connection, path)
