"""Batches on disk: each has a folder with its rows, its run and a record of its state.

::

    STATE/serve.lock            held by the one service of this folder
    STATE/quotas.sqlite         the use that tenants have made of their quotas
    STATE/incoming/ID/          a batch that is being received; removed at the next start
    STATE/batches/ID/batch.json the record
    STATE/batches/ID/rows.jsonl the rows as they were sent
    STATE/batches/ID/run/       the run: manifest, memory, results

A batch is moved to ``batches`` only when it is complete.
"""

import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Self

import msgspec

from spanjury.judges.core import EventLog, StoreError
from spanjury.judges.core.errors import reason_of
from spanjury.orchestration.wiring.runs import RunFolder, RunLock

log = EventLog()

_PRIVATE = 0o700
_TRIED = 2**20
"""Bytes that must be writable for a disk to count as writable."""
_ID = re.compile(r"[A-Za-z0-9_-]{16,64}")


class BatchState(StrEnum):
    """The states of a batch; those from `FINISHED` on are final."""

    QUEUED = "queued"
    """It waits for its turn."""
    RUNNING = "running"
    """It is being judged."""
    FINISHED = "finished"
    """Every row has its results."""
    STOPPED = "stopped"
    """A limit of cost, tokens or time was reached; the results so far can be read."""
    FAILED = "failed"
    """It could not go on; the results so far can be read."""
    CANCELLED = "cancelled"
    """Its owner ended it; the results so far can be read."""

    @property
    def is_end(self) -> bool:
        """True if the state is final."""
        return self not in {BatchState.QUEUED, BatchState.RUNNING}


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRecord:
    """A batch's record, which outlasts restarts.

    No tenant but its `owner` sees the batch. It has so many `rows` to judge, without those
    `skipped` because they could not be read, and expects so many results (`assessments`). `done`
    and `outcomes` count the results; they are stored when the batch ends. `reason` says why it
    ended early.
    """

    id: str
    owner: str
    panel: str
    created: datetime
    rows: int
    assessments: int
    skipped: int = 0
    state: BatchState = BatchState.QUEUED
    ended: datetime | None = None
    done: int = 0
    outcomes: Mapping[str, int] = field(default_factory=dict)
    reason: str = ""


@dataclass(frozen=True, slots=True)
class BatchFolder:
    """The folder of one batch."""

    path: Path

    @property
    def data(self) -> Path:
        """The file of its rows."""
        return self.path / "rows.jsonl"

    @property
    def run(self) -> RunFolder:
        """The folder of its run."""
        return RunFolder(self.path / "run")

    @property
    def results(self) -> Path | None:
        """The file of its results, complete or partial; None if there is none yet."""
        whole = self.run.results
        part = whole.with_name(f"{whole.name}.part")
        return next((path for path in (whole, part) if path.is_file()), None)

    @property
    def size(self) -> int:
        """The size of its files in bytes."""
        size = 0
        for path in self.path.rglob("*"):
            with suppress(OSError):  # it was removed meanwhile
                size += path.lstat().st_size
        return size

    def write(self, record: BatchRecord) -> None:
        """Write the record atomically; raise `StoreError` if that fails."""
        new = self.path / f"batch.json.{secrets.token_hex(4)}"
        try:
            with new.open("wb") as file:
                file.write(msgspec.json.encode(record))
                file.flush()
                os.fsync(file.fileno())
            new.replace(self.path / "batch.json")
        except OSError as error:
            with suppress(OSError):
                new.unlink(missing_ok=True)
            raise StoreError(f"{new}: cannot be written: {error.strerror}") from error

    def read(self) -> BatchRecord | None:
        """Return the record; None if it is missing or unreadable."""
        try:
            return _RECORD.decode((self.path / "batch.json").read_bytes())
        except (OSError, msgspec.MsgspecError):
            log.warning("batch.unreadable", batch=self.path.name)
            return None


_RECORD = msgspec.json.Decoder(BatchRecord)


class BatchStore:
    """All batches of one service, as a context manager that locks the folder.

    Raises `StoreError` on entry if another service holds the lock, or the folder cannot be created.
    """

    def __init__(self, path: Path) -> None:
        self.quotas = path / "quotas.sqlite"
        """The file that stores the use of quotas."""
        self._path = path
        self._batches = path / "batches"
        self._incoming = path / "incoming"
        self._lock = RunLock(path / "serve.lock")

    def __enter__(self) -> Self:
        try:
            for folder in (self._path, self._batches, self._incoming):
                folder.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
                folder.chmod(_PRIVATE)
        except OSError as error:
            raise StoreError(f"{self._path}: cannot be made: {error.strerror}") from error
        self._lock.__enter__()
        for left in self._incoming.iterdir():
            shutil.rmtree(left, ignore_errors=True)
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.__exit__()

    def fault(self) -> str:
        """Try to write; return the reason of a failure, without a path, or "" if writing works."""
        tried = self._incoming / f"{secrets.token_hex(4)}.tried"
        try:
            with tried.open("wb") as file:
                file.write(bytes(_TRIED))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            return reason_of(error)
        finally:
            with suppress(OSError):
                tried.unlink(missing_ok=True)
        return ""

    def receive(self, name: str) -> BatchFolder:
        """Create the folder of a batch that is being received."""
        path = self._incoming / name
        try:
            path.mkdir(mode=_PRIVATE)
        except OSError as error:
            raise StoreError(f"{path}: cannot be made: {error.strerror}") from error
        return BatchFolder(path)

    def keep(self, received: BatchFolder) -> BatchFolder:
        """Move a complete batch to its final folder."""
        path = self._batches / received.path.name
        try:
            received.path.replace(path)
        except OSError as error:
            raise StoreError(f"{path}: cannot be made: {error.strerror}") from error
        return BatchFolder(path)

    def remove(self, folder: BatchFolder) -> None:
        """Remove a batch and all its files."""
        gone = self._incoming / f"{folder.path.name}.gone"
        with suppress(OSError):  # remains are removed at the next start
            folder.path.replace(gone)
            shutil.rmtree(gone, ignore_errors=True)

    def kept(self) -> Iterator[tuple[BatchFolder, BatchRecord]]:
        """Yield the batches on disk, oldest first."""
        paths = (path for path in self._batches.iterdir() if _ID.fullmatch(path.name))
        folders = map(BatchFolder, paths)
        read = [(folder, record) for folder in folders if (record := folder.read()) is not None]
        yield from sorted(read, key=lambda item: item[1].created)


def now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)
