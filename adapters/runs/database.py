"""SQLite files of a run: their schema, creation and check, and the last steps of a repair."""

import shlex
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, count
from pathlib import Path
from typing import NamedTuple

from spanjury.adapters.runs.sqlite_pages import DatabasePages, Row, is_of, log_of
from spanjury.judges.core import StoreError

MEMORY_NAME = "memory.sqlite3"
"""Name of the memory file in the folder of a run."""
MARKS_NAME = "marks.sqlite3"
"""Name of the file of people's marks in the folder of a run, and its suffix beside results."""
_PATIENCE = 10
"""Seconds that a commit waits for another process's lock."""
_DAMAGE = frozenset(
    {
        sqlite3.SQLITE_ERROR,  # one of our tables or columns is missing
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_TOOBIG,
        sqlite3.SQLITE_MISMATCH,
        sqlite3.SQLITE_NOTADB,
    }
)
"""SQLite error codes that mean a damaged file; all others mean the disk or the system."""


_TYPES = {"TEXT": str, "BLOB": bytes, "INTEGER": int}


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """The schema of a database: one table, whose rows have checksums.

    `holds` is a noun for its contents, and `rows` one for its rows, for messages. The header has
    the application id and the layout; files of `older` layouts can also be read. `table` is the
    statement that creates the table: key columns first, the checksum last. `checksum` computes that
    of a row from its other columns. `age` is that of a row: of two rows with the same key, the one
    with the higher value is kept, or else the later one. `name_of` returns a row's name from its
    key; it is None if a run can make lost rows again. `backup` yields the rows in the backup of a
    file, the oldest first.
    """

    holds: str
    application: int
    layout: int
    table: str
    checksum: Callable[[Row], int]
    older: frozenset[int] = frozenset()
    rows: str = "values"
    name_of: Callable[[Row], str] | None = None
    age: Callable[[Row], int] = lambda _: 0
    backup: Callable[[Path], Iterator[Row]] = lambda _: iter(())

    @property
    def columns(self) -> "Columns":
        """The columns declared by the statement `table`."""
        return _columns_of(self.table)

    def is_sound(self, row: Sequence[object]) -> bool:
        """Return whether a row is intact, by its types and its checksum."""
        return is_of(row, self.columns.types) and row[-1] == self.checksum(row[:-1])

    def key(self, row: Row) -> Row:
        """Return the key columns of a row."""
        return row[: len(self.columns.keys)]

    def pages(self, path: Path) -> DatabasePages:
        """Return a reader of a file's pages, as a context manager."""
        columns = self.columns
        return DatabasePages(path, types=columns.types, keys=len(columns.keys))


class Columns(NamedTuple):
    """The columns of a table: its name, their names and types, and those of the key."""

    table: str
    names: tuple[str, ...]
    types: tuple[type, ...]
    keys: tuple[str, ...]

    @property
    def all_rows(self) -> str:
        """Statement that selects all rows."""
        return f"SELECT {', '.join(self.names)} FROM {self.table}"  # noqa: S608  our names

    @property
    def one_row(self) -> str:
        """Statement that selects the row with a given key."""
        key = " AND ".join(f"{name} = ?" for name in self.keys)
        return f"{self.all_rows} WHERE {key}"


@lru_cache
def _columns_of(statement: str) -> Columns:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(statement)
        ((table,),) = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
    return Columns(
        table=table,
        names=tuple(name for _, name, *_ in columns),
        types=tuple(_TYPES[kind] for _, _, kind, *_ in columns),
        keys=tuple(name for _, name, *_, key in columns if key),
    )


def connected(path: Path, *, mode: str) -> sqlite3.Connection:
    """Open a connection that the event loop and worker threads may use one at a time."""
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(
        uri, uri=True, isolation_level=None, check_same_thread=False, timeout=_PATIENCE
    )


def create(path: Path, form: Form) -> None:
    """Create an empty database, replacing any existing file."""
    for each in (path, log_of(path), _index_of(path)):
        each.unlink(missing_ok=True)
    with closing(connected(path, mode="rwc")) as connection:
        make_durable(connection, path)
        connection.executescript(
            f"BEGIN; {form.table}; PRAGMA application_id = {form.application};"
            f" PRAGMA user_version = {form.layout}; COMMIT"
        )


def make_durable(connection: sqlite3.Connection, path: Path) -> None:
    """Make every commit sync to disk before it returns.

    Raises `StoreError` if the file system cannot hold a write-ahead log.
    """
    if pragma(connection, "journal_mode = WAL") != "wal":  # a setting stored in the file
        raise StoreError(f"{path}: its file system cannot hold a write-ahead log")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA fullfsync = ON")  # fsync alone does not suffice on macOS


def check(connection: sqlite3.Connection, path: Path, form: Form) -> None:
    """Raise `StoreError` if the file has another schema or layout, or is damaged."""
    if pragma(connection, "application_id") != form.application:
        raise StoreError(
            f"{path}: is a database, but holds no {form.holds} of spanjury;"
            f" {advice(path, sure=False)}"
        )
    layout = pragma(connection, "user_version")
    if layout != form.layout and layout not in form.older:
        raise StoreError(
            f"{path}: has layout {layout}, and this spanjury reads layout {form.layout}: use the"
            f" spanjury that made it; {advice(path, sure=False)}"
        )
    # Not quick_check, which misses damaged index entries, and these hide existing values.
    problem = str(pragma(connection, "integrity_check(1)")).replace("*** in database main ***", "")
    if problem == "ok" and _tables(connection) != [form.table]:
        problem = "its table is not called as it was made"
    if problem != "ok":
        raise StoreError(f"{path}: is damaged: {' '.join(problem.split())}; {advice(path)}")


def _tables(connection: sqlite3.Connection) -> list[str]:
    query = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL"
    return [sql for (sql,) in connection.execute(query)]


def pragma(connection: sqlite3.Connection, question: str) -> object:
    """Return SQLite's answer to a pragma."""
    (answer,) = connection.execute(f"PRAGMA {question}").fetchone()
    return answer


def missing_rows(path: Path, connection: sqlite3.Connection, form: Form) -> list[Row]:
    """Return the intact rows in a file's log and backup that `connection` does not see.

    SQLite reads a log only up to its first damage. Call this before anything is written, because
    writing may overwrite the log.
    """
    missing: dict[Row, Row] = {}
    with form.pages(path) as pages:
        logged = (row.columns for row in pages.logged_rows())
        for row in chain(logged, reversed([*form.backup(path)])):
            if not form.is_sound(row):
                continue
            other = missing.get(form.key(row))
            is_newer = other is None or form.age(row) > form.age(other)
            if is_newer and not has(connection, row, form):
                missing[form.key(row)] = row
    return [*missing.values()]


def has(connection: sqlite3.Connection, row: Row, form: Form) -> bool:
    """Return whether the file has an intact row with the same key that is not older."""
    kept = connection.execute(form.columns.one_row, form.key(row)).fetchone()
    return kept is not None and form.is_sound(kept) and form.age(kept) >= form.age(row)


def finish_repair(path: Path) -> None:
    """Complete an interrupted repair, giving the new file its name; the caller holds the lock."""
    whole = repaired_file(path)
    if not whole.exists():
        return
    kept = free_name(path)
    log = log_of(path)
    if log.exists():  # first of all, because the old log must never lie beside the new file
        log.replace(log_of(kept))
    _index_of(path).unlink(missing_ok=True)
    if path.exists():
        path.replace(kept)
    whole.replace(path)


def lock_of(path: Path) -> Path:
    """Return the path of the lock file for whoever has the file open."""
    return path.with_name(f"{path.name}.lock")


def _index_of(path: Path) -> Path:
    """Return the path of SQLite's index of the log."""
    return path.with_name(f"{path.name}-shm")


def repaired_file(path: Path) -> Path:
    """Return the name of the new file while it is complete, but not yet in use."""
    return path.with_name(f"{path.name}.repaired")


def free_name(path: Path) -> Path:
    """Return an unused name for the damaged file."""
    names = (path.with_name(f"{path.name}.damaged-{number}") for number in count(1))
    return next(name for name in names if not name.exists())


def advice(path: Path, *, sure: bool = True) -> str:
    """Return advice on how to save the rows of a file that is damaged, or may be if not `sure`."""
    run = path.parent if path.name in {MEMORY_NAME, MARKS_NAME} else path
    command = f"spanjury runs repair {shlex.quote(str(run))}"
    if sure:
        return f"save what can be read by: {command}"
    return f"if it is damaged, save what can be read by: {command}"


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Translate errors of SQLite and the operating system into `StoreError`."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise StoreError(f"{path}: cannot keep half a character: {error}") from error
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
        if code & 0xFF in _DAMAGE:  # higher bits are details
            raise StoreError(
                f"{path}: is damaged, or of another program: {error}; {advice(path)}"
            ) from error
        # SQLite reports a full disk also when a quota is exceeded.
        full = " (is the disk full?)" if "disk" in str(error) else ""
        raise StoreError(f"{path}: cannot be read or written: {error}{full}") from error
    except (OSError, ValueError) as error:
        raise StoreError(f"{path}: cannot be opened: {error}") from error
