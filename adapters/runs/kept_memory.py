"""A memory that is only read, whether its run goes on or not."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from spanjury.adapters.runs.database import connected, naming
from spanjury.adapters.runs.memory_form import GET, unpacked
from spanjury.judges.core import StoreError


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
