"""A results file that grows line by line and has no duplicates after a crash."""

import os
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Self

from spanjury.adapters.file_lock import lock_file
from spanjury.judges.core import StoreError


class ResultLog:
    """Appends lines to a file, in a ``with`` block; on entry the file is cut to `size` bytes.

    `size` is the size after the last committed lines. The caller stores it elsewhere once the
    lines are on disk. A shorter file must have been edited, and keeps its contents.

    Raises `StoreError` if the file cannot be written, or another process writes it.
    """

    def __init__(self, path: Path, *, size: int) -> None:
        self._path = path
        self._size = size
        self._file: FileIO | None = None

    def __enter__(self) -> Self:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = FileIO(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666), "r+")
            lock_file(self._file.fileno())
            if self._file.seek(0, os.SEEK_END) > self._size:
                self._file.truncate(self._size)
        except BlockingIOError as error:
            self._close()
            raise StoreError(f"{self._path}: another process is writing it") from error
        except OSError as error:
            self._close()
            raise self._problem(error) from error
        return self

    def append(self, lines: bytes) -> int:
        """Append lines; return the size of the file once they are on disk."""
        assert self._file is not None, "append outside the context"
        try:
            end = self._file.seek(0, os.SEEK_END)
            rest = memoryview(lines)
            while rest:
                rest = rest[self._file.write(rest) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            raise self._problem(error) from error
        return end + len(lines)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close()

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _problem(self, error: OSError) -> StoreError:
        return StoreError(f"{self._path}: cannot be written: {error.strerror}")
