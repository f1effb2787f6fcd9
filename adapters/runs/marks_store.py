"""The marks of people in one SQLite file beside a run: what was put is there after kill -9.

Several processes may have it open: a page's server, and a command that exports. Each row has
a checksum of its own, so that damage costs the marks that it hits and no other.
"""

import os
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import astuple, dataclass
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import NamedTuple, Self
from uuid import uuid4

from spanjury.judges.core import EventLog, StoreError

log = EventLog()

MARKS_NAME = "marks.sqlite3"
"""Name of the marks in the folder of a run."""
_APPLICATION = int.from_bytes(b"SpJk", "big")
_LAYOUT = 1
_KEY = ("annotator", "segment", "system", "task", "aspect", "version")
_TABLE = f"""
CREATE TABLE marks (
  {", ".join(f"{name} TEXT NOT NULL" for name in _KEY)},
  revision INTEGER NOT NULL, content TEXT NOT NULL, checksum INTEGER NOT NULL,
  PRIMARY KEY ({", ".join(_KEY)})
) STRICT
"""
_ALL = f"{', '.join(_KEY)}, revision, content, checksum"
_GET = f"SELECT {_ALL} FROM marks WHERE {' AND '.join(f'{name} = ?' for name in _KEY)}"  # noqa: S608  our names
_SCAN = f"SELECT {_ALL} FROM marks ORDER BY rowid"  # noqa: S608  our names
_NUMBERS = "SELECT rowid FROM marks INDEXED BY sqlite_autoindex_marks_1 ORDER BY rowid"
_ROW = f"SELECT {_ALL} FROM marks WHERE rowid = ?"  # noqa: S608  our names
_PUT = f"""
INSERT INTO marks ({_ALL}) VALUES ({", ".join("?" * (len(_KEY) + 3))})
ON CONFLICT DO UPDATE SET revision = excluded.revision, content = excluded.content,
  checksum = excluded.checksum
"""  # noqa: S608  our names
_PATIENCE = 10
"""Seconds that a put waits for another process's."""


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
    damaged: int
    """Marks that are not what was put."""


class MarksStore:
    """Keep marks in a file, for ``with``; the first put makes it if it is not there.

    Methods may be called from any thread. Each put is on disk before it returns.

    Raises `StoreError` on entry if the file is foreign, of a newer layout or unreadable, and
    nothing is written to it then; from the methods, if it can no longer be read or written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._turn = Lock()
        self._stack = ExitStack()
        self._connection: sqlite3.Connection | None = None

    def __enter__(self) -> Self:
        with _naming(self._path):
            self._opened()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._connection = None
        self._stack.close()

    def get(self, key: MarkKey) -> StoredMark | None:
        """Return the mark under `key`; None without one, or where it is damaged."""
        with self._turn, _naming(self._path):
            connection = self._opened()
            return None if connection is None else self._get(connection, key)

    def all(self) -> StoredMarks:
        """Return every mark that is what was put."""
        with self._turn, _naming(self._path):
            connection = self._opened()
            read = [] if connection is None else [*_rows(connection)]
        marks = tuple(one for one in read if one is not None)
        if len(marks) < len(read):
            log.error("marks.damaged", path=str(self._path), marks=len(read) - len(marks))
        return StoredMarks(marks, len(read) - len(marks))

    def put(self, key: MarkKey, content: str, *, based_on: int) -> int:
        """Keep `content` in place of the revision `based_on` (0: of nothing); return its revision.

        Raises `MarkConflictError` if the mark has another revision.
        """
        with self._turn, _naming(self._path):
            if not self._path.exists():
                _create(self._path)
            connection = self._opened()
            assert connection is not None
            connection.execute("BEGIN IMMEDIATE")
            try:
                current = self._get(connection, key)
                if (current.revision if current else 0) != based_on:
                    raise MarkConflictError(current)
                kept = StoredMark(key=key, revision=based_on + 1, content=content)
                connection.execute(_PUT, (*_values(kept), _checksum(kept)))
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
        return kept.revision

    def _get(self, connection: sqlite3.Connection, key: MarkKey) -> StoredMark | None:
        row = connection.execute(_GET, astuple(key)).fetchone()
        return None if row is None else _mark(row)

    def _opened(self) -> sqlite3.Connection | None:
        """Return the connection; None while there is no file."""
        if self._connection is None and self._path.exists():
            with ExitStack() as stack:
                connection = stack.enter_context(closing(_connected(self._path)))
                _check(connection, self._path)
                connection.execute("PRAGMA synchronous = FULL")
                self._connection = connection
                self._stack = stack.pop_all()
        return self._connection


def read_marks(path: Path) -> StoredMarks:
    """Return the marks in a file, or none if there is no such file; raise as `MarksStore` does."""
    with MarksStore(path) as store:
        return store.all()


def _rows(connection: sqlite3.Connection) -> Iterator[StoredMark | None]:
    """Yield each mark, and None for one that is damaged."""
    try:
        found = [_mark(row) for row in connection.execute(_SCAN)]
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_CORRUPT:
            raise
        yield from _one_by_one(connection)
    else:
        yield from found


def _one_by_one(connection: sqlite3.Connection) -> Iterator[StoredMark | None]:
    """Read the rows that a damaged page leaves: the index knows their numbers."""
    numbers = [number for (number,) in connection.execute(_NUMBERS)]
    for number in numbers:
        row = None
        with suppress(sqlite3.DatabaseError):
            row = connection.execute(_ROW, (number,)).fetchone()
        yield None if row is None else _mark(row)


def _mark(row: tuple[object, ...]) -> StoredMark | None:
    *names, revision, content, checksum = row
    key = MarkKey(**dict(zip(_KEY, map(str, names), strict=True)))
    mark = StoredMark(key=key, revision=int(str(revision)), content=str(content))
    return mark if checksum == _checksum(mark) else None


def _values(mark: StoredMark) -> tuple[str | int, ...]:
    return *astuple(mark.key), mark.revision, mark.content


def _checksum(mark: StoredMark) -> int:
    return zlib.crc32("\0".join(map(str, _values(mark))).encode("utf-8", "surrogatepass"))


def _create(path: Path) -> None:
    """Make an empty file of marks; another process may do so at the same time."""
    new = path.with_name(f"{path.name}.{uuid4().hex}.new")
    try:
        with closing(_connected(new, mode="rwc")) as connection:
            connection.execute("PRAGMA journal_mode = WAL")  # stays with the file
            connection.execute("BEGIN")
            connection.execute(_TABLE)
            connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            connection.execute(f"PRAGMA user_version = {_LAYOUT}")
            connection.execute("COMMIT")
        with suppress(FileExistsError):
            os.link(new, path)  # whole, or not at all
    finally:
        new.unlink(missing_ok=True)


def _connected(path: Path, *, mode: str = "rw") -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(
        uri, uri=True, isolation_level=None, check_same_thread=False, timeout=_PATIENCE
    )


def _check(connection: sqlite3.Connection, path: Path) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != _APPLICATION:
        raise StoreError(f"{path}: is a database, but holds no marks of spanjury; name another")
    (layout,) = connection.execute("PRAGMA user_version").fetchone()
    if layout != _LAYOUT:
        raise StoreError(
            f"{path}: has layout {layout}, and this spanjury reads layout {_LAYOUT}: use the"
            " spanjury that made it"
        )


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Translate what SQLite and the operating system say."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise StoreError(f"{path}: a mark holds half a character: {error}") from error
    except (sqlite3.Error, OSError) as error:
        full = " (is the disk full?)" if "disk" in str(error) else ""
        raise StoreError(f"{path}: marks cannot be read or written: {error}{full}") from error
