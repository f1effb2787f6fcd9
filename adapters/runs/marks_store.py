"""People's marks in one SQLite file beside a run; they survive kill -9.

Several processes may have it open, such as a page's server and an exporting command. Each row has
its own checksum, so damage costs only the marks that it hits. Each mark is also appended to a
second file, as a line, from which damage is repaired.
"""

import json
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import astuple, dataclass
from pathlib import Path
from threading import Lock
from typing import NamedTuple, Self
from uuid import uuid4

from spanjury.adapters.runs import database
from spanjury.adapters.runs.database import Form
from spanjury.adapters.runs.run_lock import RunLock
from spanjury.adapters.runs.sqlite_pages import Row
from spanjury.judges.core import EventLog, StoreError

log = EventLog()

_NAMED = 5
"""Maximum number of damaged marks that an error names."""
_KEY = ("annotator", "segment", "system", "task", "aspect", "version")


def backup_of(path: Path) -> Path:
    """Return the path of the backup: one JSON line for each mark that was put."""
    return path.with_name(f"{path.name}.backup.jsonl")


def _backed_up(path: Path) -> Iterator[Row]:
    """Yield the marks in the backup, the oldest first, skipping damaged lines."""
    try:
        lines = backup_of(path).read_bytes().split(b"\n")
    except FileNotFoundError:
        return
    for line in lines:
        with suppress(ValueError, TypeError):  # a broken or foreign line
            row = tuple(json.loads(line))
            if MARKS.is_sound(row):
                yield row


def _back_up(path: Path, rows: Iterable[Row]) -> None:
    """Append marks to the backup, synced to disk."""
    lines = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    with backup_of(path).open("ab+") as file:
        if file.seek(0, os.SEEK_END):
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":  # the last line is broken: start a new one
                lines = b"\n" + lines
        file.write(lines)
        file.flush()
        os.fsync(file.fileno())


def mark_name(key: Row) -> str:
    """Return a readable name for a mark: who marked which text on which aspect."""
    annotator, segment, system, _, aspect, *_ = map(str, key)
    return ", ".join(filter(None, (f"{annotator}: {segment}", system, aspect)))


def _checksum(row: Row) -> int:
    return zlib.crc32("\0".join(map(str, row)).encode("utf-8", "surrogatepass"))


def _revision(row: Row) -> int:
    revision = row[len(_KEY)]
    assert isinstance(revision, int)
    return revision


MARKS = Form(
    holds="marks",
    application=int.from_bytes(b"SpJk", "big"),
    layout=1,
    table=f"""CREATE TABLE marks (
  {", ".join(f"{name} TEXT NOT NULL" for name in _KEY)},
  revision INTEGER NOT NULL, content TEXT NOT NULL, checksum INTEGER NOT NULL,
  PRIMARY KEY ({", ".join(_KEY)})
) STRICT""",
    checksum=_checksum,
    rows="marks",
    name_of=mark_name,
    age=_revision,
    backup=_backed_up,
)
_COLUMNS = (*_KEY, "revision", "content", "checksum")
_PUT = f"""
INSERT INTO marks ({", ".join(_COLUMNS)}) VALUES ({", ".join("?" * len(_COLUMNS))})
ON CONFLICT DO UPDATE SET revision = excluded.revision, content = excluded.content,
  checksum = excluded.checksum
"""  # noqa: S608  our names
_SCAN = f"SELECT {', '.join(_COLUMNS)} FROM marks ORDER BY rowid"  # noqa: S608  our names


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkKey:
    """The identity of a mark: the annotator, the result row, and the version of its output.

    The version is a digest: another output under the same names has its own marks.
    """

    annotator: str
    segment: str
    system: str
    task: str
    aspect: str
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMark:
    """A mark as stored; its revision is the number of times it was put."""

    key: MarkKey
    revision: int
    content: str


class MarkConflictError(StoreError):
    """Raised if another put has changed a mark since it was read; `current` is the present one."""

    def __init__(self, current: StoredMark | None) -> None:
        revision = current.revision if current else 0
        super().__init__(f"the mark was changed meanwhile: it has the revision {revision} now")
        self.current = current


class StoredMarks(NamedTuple):
    """All marks of a file, in the order of their first puts."""

    marks: tuple[StoredMark, ...]
    damaged: tuple[str, ...]
    """Names of the damaged marks."""


class MarksStore:
    """Stores marks in a file, as a context manager; the first put creates the file.

    Methods may be called from any thread. Each put is on disk in two files before it returns.

    Raises `StoreError` on entry, without writing, if the file is foreign, has a newer layout, is
    damaged, or is missing although its backup exists. Methods raise it if the file can no longer be
    read or written.

    Damage to single rows is repaired from the backup. Marks that cannot be repaired are named, and
    count as never put.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._turn = Lock()
        self._stack = ExitStack()
        self._connection: sqlite3.Connection | None = None

    def __enter__(self) -> Self:
        with database.naming(self._path):
            self._opened()
        return self

    def __exit__(self, *_: object) -> None:
        self._connection = None
        self._stack.close()

    def get(self, key: MarkKey) -> StoredMark | None:
        """Return the mark under `key`; None if there is none, or it is damaged."""
        with self._turn, database.naming(self._path):
            connection = self._opened()
            return None if connection is None else _mark(_row(connection, key))

    def all(self) -> StoredMarks:
        """Return all intact marks, and the names of the damaged ones."""
        with self._turn, database.naming(self._path):
            connection = self._opened()
            rows = [] if connection is None else [*connection.execute(_SCAN)]
        marks = [_mark(row) for row in rows]
        damaged = [mark_name(row) for row, mark in zip(rows, marks, strict=True) if mark is None]
        if damaged:
            log.error("marks.damaged", path=str(self._path), marks=len(damaged))
        return StoredMarks(tuple(mark for mark in marks if mark is not None), tuple(damaged))

    def put(self, key: MarkKey, content: str, *, based_on: int) -> int:
        """Store `content` in place of the revision `based_on` (0 for none); return its revision.

        Raises `MarkConflictError` if the mark has another revision by now.
        """
        with self._turn, database.naming(self._path):
            if self._opened() is None:
                _create(self._path)
            connection = self._opened()
            assert connection is not None
            connection.execute("BEGIN IMMEDIATE")
            try:
                row = _row(connection, key)
                if row is not None and _mark(row) is None:
                    _restore(connection, self._path)
                    row = _row(connection, key)
                current = _mark(row)
                if (current.revision if current else 0) != based_on:
                    raise MarkConflictError(current)
                self._write(connection, StoredMark(key=key, revision=based_on + 1, content=content))
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
        return based_on + 1

    def _write(self, connection: sqlite3.Connection, mark: StoredMark) -> None:
        """Write a mark to both files; a new backup gets all marks."""
        values = *astuple(mark.key), mark.revision, mark.content
        row = *values, _checksum(values)
        connection.execute(_PUT, row)
        is_new = not backup_of(self._path).exists()
        sound = filter(MARKS.is_sound, connection.execute(_SCAN))
        _back_up(self._path, sound if is_new else (row,))

    def _opened(self) -> sqlite3.Connection | None:
        """Return the connection, opened if needed; None as long as there is no file."""
        if self._connection is not None:
            return self._connection
        if database.repaired_file(self._path).exists():
            with RunLock(database.lock_of(self._path)):
                database.finish_repair(self._path)
        if not self._path.exists():
            if backup_of(self._path).exists():
                raise StoreError(
                    f"{self._path}: is gone, but its backup is not; {database.advice(self._path)},"
                    f" or delete {backup_of(self._path).name}, too"
                )
            return None
        with ExitStack() as stack:
            stack.enter_context(RunLock(database.lock_of(self._path), is_shared=True))
            connection = stack.enter_context(closing(database.connected(self._path, mode="rw")))
            database.check(connection, self._path, MARKS)
            database.make_durable(connection, self._path)
            if database.missing_rows(self._path, connection, MARKS):
                connection.execute("BEGIN IMMEDIATE")
                _restore(connection, self._path)
                connection.execute("COMMIT")
            self._connection = connection
            self._stack = stack.pop_all()
        return self._connection


def read_marks(path: Path, *, are_whole: bool = False) -> StoredMarks:
    """Return the marks in a file, or none if it does not exist; raise as `MarksStore` does.

    With `are_whole`, also raise `StoreError` if any marks are damaged.
    """
    with MarksStore(path) as store:
        stored = store.all()
    if are_whole and (names := stored.damaged):
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        shown = "; ".join(names[:_NAMED])
        raise StoreError(
            f"{path}: {len(names)} marks are damaged: {shown}{more}; {database.advice(path)}"
        )
    return stored


def _restore(connection: sqlite3.Connection, path: Path) -> None:
    """Copy missing rows from log and backup into the file; call it within a transaction."""
    missing = database.missing_rows(path, connection, MARKS)
    connection.executemany(_PUT, missing)
    log.warning("marks.restored", path=str(path), marks=len(missing))


def _row(connection: sqlite3.Connection, key: MarkKey) -> Row | None:
    row: Row | None = connection.execute(MARKS.columns.one_row, astuple(key)).fetchone()
    return row


def _mark(row: Row | None) -> StoredMark | None:
    if row is None or not MARKS.is_sound(row):
        return None
    *names, _, content, _ = map(str, row)
    key = MarkKey(**dict(zip(_KEY, names, strict=True)))
    return StoredMark(key=key, revision=_revision(row), content=content)


def _create(path: Path) -> None:
    """Create an empty file of marks, even if another process does so at the same time."""
    new = path.with_name(f"{path.name}.{uuid4().hex}.new")
    try:
        database.create(new, MARKS)
        with suppress(FileExistsError):
            os.link(new, path)  # atomic, and fails if the file exists
    finally:
        new.unlink(missing_ok=True)
