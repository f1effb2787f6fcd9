"""Temporary database for data that does not fit into memory."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

from spanjury.judges.core import StoreError

# 16 MiB stay in memory. There is no journal, because nothing needs to outlive a crash.
_SETTINGS = """
PRAGMA cache_size = -16384;
PRAGMA temp_store = FILE;
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
"""


@contextmanager
def open_scratch(tables: str) -> Iterator[sqlite3.Connection]:
    """Open a private database in an unnamed temporary file, which deletes itself.

    Threads may use it one at a time, for example if each next row is read in a worker thread.
    `tables` is the SQL that creates its tables.

    Raises `StoreError` if it cannot be written (a full disk).
    """
    try:
        with closing(sqlite3.connect("", check_same_thread=False)) as connection:
            connection.executescript(_SETTINGS + tables)
            yield connection
    except sqlite3.Error as error:
        raise StoreError(
            f"a temporary file cannot be used: {error}; SQLITE_TMPDIR can name a folder with"
            " more room for it"
        ) from error
