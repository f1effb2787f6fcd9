"""Temporary files for data that does not fit into memory: byte strings, and a database."""

import sqlite3
import tempfile
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import closing, contextmanager
from threading import Lock
from typing import IO

from spanjury.judges.core import StoreError

_HELD = 2**18
"""Bytes to collect before they are written."""
_BLOCK = 2**22
"""Bytes to search at a time."""


class Spool:
    """Byte strings, numbered in the order of `put`; they are gone once the file is closed.

    Any thread may put, get and search.

    Raises `StoreError` if the file cannot be written or read (a full disk).
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._ends = array("Q", [0])
        self._waiting = bytearray()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._ends) - 1

    def put(self, piece: bytes) -> int:
        """Store a piece; return its number."""
        with self._lock:
            self._waiting += piece
            self._ends.append(self._ends[-1] + len(piece))
            if len(self._waiting) >= _HELD:
                self._write()
            return len(self._ends) - 2

    def get(self, number: int) -> bytes:
        """Return the piece with this number."""
        return self._read(self._ends[number], self._ends[number + 1])

    def holding(self, needle: bytes) -> Iterator[int]:
        """Yield the numbers of the pieces that contain `needle`, in order."""
        first, count = 0, len(self)
        if not needle:  # the empty text is in every piece
            yield from range(count)
            return
        # Search whole blocks of pieces: one `find` over many short pieces is much faster.
        while first < count:
            beyond = self._ends[first] + _BLOCK
            last = min(max(bisect_right(self._ends, beyond) - 1, first + 1), count)
            block = self._read(self._ends[first], self._ends[last])
            yield from self._among(block, needle, first=first, last=last)
            first = last

    def _among(self, block: bytes, needle: bytes, *, first: int, last: int) -> Iterator[int]:
        base = self._ends[first]
        ends = [end - base for end in self._ends[first + 1 : last + 1]]
        number, size = 0, len(needle)
        offset = block.find(needle)
        while offset >= 0:
            if ends[number] <= offset:  # usually next: a common needle is in most
                number += 1
                if ends[number] <= offset:
                    number = bisect_right(ends, offset, lo=number)
            if offset + size <= ends[number]:
                yield first + number
                offset = block.find(needle, ends[number])
            else:  # a match across two pieces does not count
                offset = block.find(needle, offset + 1)

    def _read(self, start: int, end: int) -> bytes:
        with self._lock:
            self._write()
            try:
                self._file.seek(start)
                return self._file.read(end - start)
            except OSError as error:
                raise unusable(error.strerror) from error

    def _write(self) -> None:
        try:
            self._file.seek(self._ends[-1] - len(self._waiting))
            while self._waiting:  # the system may take only a part of them
                del self._waiting[: self._file.write(self._waiting)]
        except OSError as error:
            raise unusable(error.strerror) from error


@contextmanager
def open_spool() -> Iterator[Spool]:
    """Open an empty spool; raise `StoreError` if there is no room for temporary files."""
    try:
        file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  closed below
    except OSError as error:
        raise unusable(error.strerror) from error
    with file:
        yield Spool(file)


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
        raise unusable(error, variable="SQLITE_TMPDIR") from error


def unusable(problem: object, *, variable: str = "TMPDIR") -> StoreError:
    """Return the error of a temporary file that cannot be made, written or read."""
    return StoreError(
        f"a temporary file cannot be used: {problem}; {variable} can name a folder with more room"
        " for it"
    )
