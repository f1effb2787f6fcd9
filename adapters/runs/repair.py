"""Repair of a damaged file of a run: every readable row is saved in a new file.

The new file replaces the old one in steps, which may be interrupted anywhere: as long as it has its
intermediate name, the next process that opens the file completes the remaining steps.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from spanjury.adapters.runs import database
from spanjury.adapters.runs.database import MARKS_NAME, Columns, Form
from spanjury.adapters.runs.marks_store import MARKS
from spanjury.adapters.runs.memory_form import MEMORY
from spanjury.adapters.runs.run_lock import RunLock
from spanjury.adapters.runs.sqlite_pages import DatabasePages, Row, log_of
from spanjury.judges.core import StoreError

_OF_BACKUP = -(2**40)
"""Start of the numbers for rows from a backup: among equally old rows, that in the file wins."""
_START = 4096
"""Number of bytes by which a file of text is recognised."""


class _Statements:
    """SQL statements about rows that are saved, and keys that are known to exist, by row number."""

    def __init__(self, columns: Columns) -> None:
        names, keys = ", ".join(columns.names), ", ".join(columns.keys)
        marks = ", ".join("?" * len(columns.names))
        self.tables = f"""
PRAGMA temp_store = FILE;
CREATE TEMP TABLE saved ({names}, age INTEGER, number INTEGER, PRIMARY KEY ({keys}));
CREATE INDEX temp.saved_numbers ON saved (number);
CREATE TEMP TABLE known ({keys}, number INTEGER, PRIMARY KEY ({keys}, number)) WITHOUT ROWID;
"""
        others = (*columns.names[len(columns.keys) :], "age", "number")
        rest, excluded = ", ".join(others), ", ".join(f"excluded.{name}" for name in others)
        self.save = f"""
INSERT INTO saved ({names}, age, number) VALUES ({marks}, ?, ?)
ON CONFLICT ({keys}) DO UPDATE SET ({rest}) = ({excluded})
WHERE (excluded.age, excluded.number) > (age, number)
"""  # noqa: S608  our names
        key_marks = ", ".join("?" * len(columns.keys))
        self.know = f"INSERT OR IGNORE INTO known ({keys}, number) VALUES ({key_marks}, ?)"  # noqa: S608  our names
        self.keep = f"""
INSERT INTO {columns.table} ({names}) SELECT {names} FROM saved ORDER BY number
"""  # noqa: S608  our names
        self.lost = f"""
SELECT {keys} FROM known
WHERE number NOT IN (SELECT number FROM saved)
  AND number NOT IN (SELECT known.number FROM known JOIN saved USING ({keys}))
GROUP BY number
"""  # noqa: S608  our names


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """The result of a repair: number of saved rows, and of known rows that are lost.

    `kept` is the path of the damaged file, if anything was damaged. `names` are those of the lost
    rows that no run makes again. Without a backup, such rows `may_lack_others` that left no trace.
    """

    saved: int
    lost: int
    kept: Path | None
    names: tuple[str, ...] = ()
    rows: str = "values"
    may_lack_others: bool = False


def repair(path: Path) -> Repaired:
    """Save all readable rows of a memory or marks file, and of its log, in a new file.

    Only rows with a correct checksum are saved. The damaged file is kept beside the new one, with
    its log.

    Raises `StoreError`, changing nothing, if a process has the file open, there is no such file, it
    is another program's database, or the new file cannot be written.
    """
    form = MARKS if path.name.endswith(MARKS_NAME) else MEMORY
    backup = next(form.backup(path), None)
    if not (
        backup or any(each.exists() for each in (path, log_of(path), database.repaired_file(path)))
    ):
        raise StoreError(f"{path}: there is no such {form.holds}")
    with RunLock(database.lock_of(path)), database.naming(path):
        database.finish_repair(path)
        sound = _count_if_sound(path, form)
        if sound is not None:
            return Repaired(saved=sound, lost=0, kept=None, rows=form.rows)
        new = path.with_name(f"{path.name}.new")
        saved, lost = _salvage(path, new, form)
        if not saved and (foreign := _foreign(path, form)):
            new.unlink()
            raise StoreError(f"{path}: is {foreign}, and no {form.holds} of spanjury's")
        kept = database.free_name(path)
        new.replace(database.repaired_file(path))
        database.finish_repair(path)
    return Repaired(
        saved=saved,
        lost=len(lost),
        kept=kept,
        names=tuple(map(form.name_of, lost)) if form.name_of else (),
        rows=form.rows,
        may_lack_others=form.name_of is not None and backup is None,
    )


def _count_if_sound(path: Path, form: Form) -> int | None:
    """Return the number of rows, or None if any damage is detected."""
    if not path.exists():
        return None
    with (
        suppress(StoreError),
        database.naming(path),
        closing(database.connected(path, mode="ro")) as connection,
    ):
        database.check(connection, path, form)
        sound = [*map(form.is_sound, connection.execute(form.columns.all_rows))]
        if all(sound) and not database.missing_rows(path, connection, form):
            return len(sound)
    return None


def _salvage(path: Path, new: Path, form: Form) -> tuple[int, tuple[Row, ...]]:
    """Write the new file; return the number of its rows, and the keys of lost ones."""
    database.create(new, form)
    statements = _Statements(form.columns)
    with closing(database.connected(new, mode="rw")) as connection:
        connection.executescript(statements.tables)
        connection.execute("BEGIN")
        with form.pages(path) as pages:
            rows = _sound_rows(pages, form, connection, know=statements.know)
            connection.executemany(statements.save, rows)
            keys = ((*key.columns, key.number) for key in pages.index())
            connection.executemany(statements.know, keys)
        again = enumerate(form.backup(path), _OF_BACKUP)
        backup = ((*row, form.age(row), number) for number, row in again)
        connection.executemany(statements.save, backup)
        saved = connection.execute(statements.keep).rowcount
        lost = tuple(connection.execute(statements.lost))
        connection.execute("COMMIT")
    return saved, lost


def _sound_rows(
    pages: DatabasePages, form: Form, connection: sqlite3.Connection, *, know: str
) -> Iterator[Row]:
    """Yield the intact rows; record the keys of the others as known."""
    for number, row in pages.rows():
        if form.is_sound(row):
            yield (*row, form.age(row), number)
        else:
            connection.execute(know, (*form.key(row), number))


def _foreign(path: Path, form: Form) -> str:
    """Return what the file is, if it is text or an intact database without our table."""
    with suppress(FileNotFoundError), path.open("rb") as file:
        start = file.read(_START)
        if start and b"\0" not in start:  # our files have many zero bytes
            return "a file of text"
    with suppress(sqlite3.Error), closing(database.connected(path, mode="ro")) as connection:
        tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        names = {name for (name,) in tables} - {form.columns.table}
        (problem,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if names and problem == "ok":
            return "a sound database"
    return ""
