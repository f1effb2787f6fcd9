"""The marks of people in one SQLite file beside a run: what was put is there after kill -9.

Several processes may have it open: a page's server, and a command that exports. Each row has
a checksum of its own, so that damage costs the marks that it hits and no other; and each is
written to a second file as well, line by line, from which damage is mended.
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

from spanjury.adapters.runs.database import (
    Form,
    advice,
    check,
    connected,
    create,
    finish_repair,
    lock_of,
    make_durable,
    missing_rows,
    naming,
    repaired_file,
)
from spanjury.adapters.runs.run_lock import RunLock
from spanjury.adapters.runs.sqlite_pages import Row
from spanjury.judges.core import EventLog, StoreError

log = EventLog()

_NAMED = 5
"""Damaged marks that an error names one by one."""
_KEY = ("annotator", "segment", "system", "task", "aspect", "version")


def backup_of(path: Path) -> Path:
    """Return the second file of marks: a line of JSON for each that was put."""
    return path.with_name(f"{path.name}.backup.jsonl")


def _backed_up(path: Path) -> Iterator[Row]:
    """Yield the marks in the second file, the oldest first, without lines that are damaged."""
    try:
        lines = backup_of(path).read_bytes().split(b"\n")
    except FileNotFoundError:
        return
    for line in lines:
        with suppress(ValueError, TypeError):  # half a line, or none of ours
            row = tuple(json.loads(line))
            if MARKS.is_sound(row):
                yield row


def _back_up(path: Path, rows: Iterable[Row]) -> None:
    """Write marks to the second file; return once they are on disk."""
    lines = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    with backup_of(path).open("ab+") as file:
        if file.seek(0, os.SEEK_END):
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":  # a line that broke off
                lines = b"\n" + lines
        file.write(lines)
        file.flush()
        os.fsync(file.fileno())


def mark_name(key: Row) -> str:
    """Return the name of a mark for people: who marked which text, and on which aspect."""
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
    """The place of a mark: who marked, which row of the results, and which version of its output.

    Parameters
    ----------
    version
        A digest of the output: another text under the same names has marks of its own.
    """

    annotator: str
    segment: str
    system: str
    task: str
    aspect: str
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMark:
    """A mark as it is kept.

    Parameters
    ----------
    revision
        How often it was put, from 1 on.
    """

    key: MarkKey
    revision: int
    content: str


class MarkConflictError(StoreError):
    """A mark was put by someone else since it was read.

    Parameters
    ----------
    current
        The mark as it is now; None if there is none.
    """

    def __init__(self, current: StoredMark | None) -> None:
        revision = current.revision if current else 0
        super().__init__(f"the mark was changed meanwhile: it has the revision {revision} now")
        self.current = current


class StoredMarks(NamedTuple):
    """All marks of a file, in the order in which they were first put."""

    marks: tuple[StoredMark, ...]
    damaged: tuple[str, ...]
    """Names of the marks that are not what was put."""


class MarksStore:
    """Keep marks in a file, for ``with``; the first put makes it if it is not there.

    Methods may be called from any thread. Each put is on disk before it returns, in two files.

    Raises `StoreError` on entry if the file is foreign, of a newer layout, damaged or gone while
    its second one is there, and nothing is written to it then; from the methods, if it can no
    longer be read or written.

    Notes
    -----
    Damage that leaves the file in order is mended from the second one. What cannot be mended
    costs the marks that it hits: they are named, and count as never put.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._turn = Lock()
        self._stack = ExitStack()
        self._connection: sqlite3.Connection | None = None

    def __enter__(self) -> Self:
        with naming(self._path):
            self._opened()
        return self

    def __exit__(self, *_: object) -> None:
        self._connection = None
        self._stack.close()

    def get(self, key: MarkKey) -> StoredMark | None:
        """Return the mark under `key`; None without one, or where it is damaged."""
        with self._turn, naming(self._path):
            connection = self._opened()
            return None if connection is None else _mark(_row(connection, key))

    def all(self) -> StoredMarks:
        """Return every mark that is what was put."""
        with self._turn, naming(self._path):
            connection = self._opened()
            rows = [] if connection is None else [*connection.execute(_SCAN)]
        marks = [_mark(row) for row in rows]
        damaged = [mark_name(row) for row, mark in zip(rows, marks, strict=True) if mark is None]
        if damaged:
            log.error("marks.damaged", path=str(self._path), marks=len(damaged))
        return StoredMarks(tuple(mark for mark in marks if mark is not None), tuple(damaged))

    def put(self, key: MarkKey, content: str, *, based_on: int) -> int:
        """Keep `content` in place of the revision `based_on` (0: of nothing); return its revision.

        Raises `MarkConflictError` if the mark has another revision.
        """
        with self._turn, naming(self._path):
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
        """Write a mark to both files; to a second one that is new, all marks."""
        values = *astuple(mark.key), mark.revision, mark.content
        row = *values, _checksum(values)
        connection.execute(_PUT, row)
        is_new = not backup_of(self._path).exists()
        sound = filter(MARKS.is_sound, connection.execute(_SCAN))
        _back_up(self._path, sound if is_new else (row,))

    def _opened(self) -> sqlite3.Connection | None:
        """Return the connection; None while there is no file."""
        if self._connection is not None:
            return self._connection
        if repaired_file(self._path).exists():
            with RunLock(lock_of(self._path)):
                finish_repair(self._path)
        if not self._path.exists():
            if backup_of(self._path).exists():
                raise StoreError(
                    f"{self._path}: is gone, but its backup is not; {advice(self._path)},"
                    f" or delete {backup_of(self._path).name}, too"
                )
            return None
        with ExitStack() as stack:
            stack.enter_context(RunLock(lock_of(self._path), is_shared=True))
            connection = stack.enter_context(closing(connected(self._path, mode="rw")))
            check(connection, self._path, MARKS)
            make_durable(connection, self._path)
            if missing_rows(self._path, connection, MARKS):
                connection.execute("BEGIN IMMEDIATE")
                _restore(connection, self._path)
                connection.execute("COMMIT")
            self._connection = connection
            self._stack = stack.pop_all()
        return self._connection


def read_marks(path: Path, *, are_whole: bool = False) -> StoredMarks:
    """Return the marks in a file, or none if there is no such file; raise as `MarksStore` does.

    With `are_whole`, raise `StoreError` if any are damaged, too.
    """
    with MarksStore(path) as store:
        stored = store.all()
    if are_whole and (names := stored.damaged):
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        shown = "; ".join(names[:_NAMED])
        raise StoreError(f"{path}: {len(names)} marks are damaged: {shown}{more}; {advice(path)}")
    return stored


def _restore(connection: sqlite3.Connection, path: Path) -> None:
    """Take up, in a transaction, what log and second file have, and the file lacks."""
    missing = missing_rows(path, connection, MARKS)
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
    """Make an empty file of marks; another process may do so at the same time."""
    new = path.with_name(f"{path.name}.{uuid4().hex}.new")
    try:
        create(new, MARKS)
        with suppress(FileExistsError):
            os.link(new, path)  # whole, or not at all
    finally:
        new.unlink(missing_ok=True)
