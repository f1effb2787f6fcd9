"""Reader of the lines appended to a file, as they arrive."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from spanjury.adapters.files.limits import USUAL
from spanjury.judges.core import DataError


class TailPosition(NamedTuple):
    """Position up to which a file was read: its inode, and the bytes and lines read."""

    inode: int
    offset: int = 0
    lines: int = 0

    def encoded(self) -> bytes:
        """Return the position as JSON."""
        return msgspec.json.encode(self)


class TailedLine(NamedTuple):
    """A line without its line end, its number, and the position after it."""

    number: int
    text: str
    position: TailPosition


class LineTail:
    """Reads the lines of a file, and later those appended to it.

    If the file is replaced or truncated, it is read from its beginning. A line without a line end
    is not read yet, except the last one if `is_whole`.

    Parameters
    ----------
    position
        How far the file was read before, as written by `TailPosition.encoded`; None if not at all.
    is_whole
        Whether nothing more will be appended, so that the last line may lack its line end.
    """

    def __init__(self, path: Path, *, position: bytes | None, is_whole: bool) -> None:
        self._path = path
        self._is_whole = is_whole
        self._position = (
            TailPosition(-1)
            if position is None
            else msgspec.json.decode(position, type=TailPosition)
        )

    def added(self) -> Iterator[TailedLine]:
        """Yield the lines that were appended since the last line this method yielded.

        Raises `DataError` if the file cannot be read, or a line exceeds the limit `row`.
        """
        try:
            with self._path.open("rb") as file:
                status = os.fstat(file.fileno())
                inode, offset, number = self._position
                if status.st_ino != inode or status.st_size < offset:
                    offset, number = 0, 0
                file.seek(offset)
                while line := file.readline(USUAL.row + 1):
                    if not line.endswith(b"\n") and not self._is_whole:
                        if len(line) > USUAL.row:
                            raise DataError(f"{self._path}, line {number + 1}: is too long")
                        return
                    offset, number = offset + len(line), number + 1
                    self._position = TailPosition(status.st_ino, offset, number)
                    text = line.decode("utf-8-sig" if number == 1 else "utf-8", "replace")
                    yield TailedLine(number, text.rstrip("\r\n"), self._position)
        except OSError as error:
            raise DataError(f"{self._path}: cannot be read: {error.strerror}") from error
