"""The ids of a file's rows, in memory that does not grow with the file."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from spanjury.adapters.files.scratch import open_scratch

__all__ = ["Ids", "open_ids"]

_TABLE = "CREATE TABLE ids (id TEXT PRIMARY KEY, line INTEGER NOT NULL) WITHOUT ROWID;"
_CLAIM = "INSERT INTO ids VALUES (?, ?) ON CONFLICT DO NOTHING"
_FIRST = "SELECT line FROM ids WHERE id = ?"


class Ids:
    """Ids that were claimed, and the line of each; made by `open_ids`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def claim(self, segment_id: str, *, line: int) -> int:
        """Return the line that claimed `segment_id` first: `line`, if none had."""
        if self._connection.execute(_CLAIM, (segment_id, line)).rowcount:
            return line
        (first,) = self._connection.execute(_FIRST, (segment_id,)).fetchone()
        return int(first)


@contextmanager
def open_ids() -> Iterator[Ids]:
    """Open an empty set of ids, for ``with``.

    Raises
    ------
    StoreError
        As `open_scratch`.
    """
    with open_scratch(_TABLE) as connection:
        yield Ids(connection)
