"""The numbered lines of a file, packed or not, as they are read; and lines appended to a file."""

import codecs
import gzip
import os
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from io import BufferedIOBase, BufferedReader, FileIO
from pathlib import Path
from typing import NamedTuple

import msgspec

from spanjury.adapters.files.limits import USUAL, DataLimits
from spanjury.judges.core import DataError

_GZIP_MAGIC = b"\x1f\x8b"
_BUFFER = 2**18  # bytes per read from the operating system
_PIECE = 2**16  # bytes read at once while skipping a line that is too long
_TRUSTED = 2**23  # bytes that may be unpacked at any ratio, for blank lines; read in seconds


class Line(NamedTuple):
    """A line of a file, its line end included.

    `fault` describes what is wrong with it, if anything; `text` is then a best-effort reading,
    or empty.
    """

    number: int
    text: str
    fault: str = ""


def read_lines(path: Path, *, limits: DataLimits = USUAL) -> Iterator[Line]:
    """Yield the lines of `path`, numbered from 1; UTF-8, with or without a byte order mark.

    A file that begins like gzip is unpacked, even if its name is another. If reading fails
    midway, or the file unpacks to more than `limits` allow, a last `Line` with a fault says so. A
    line that is too long is skipped, and never held in memory as a whole.

    Raises `DataError` if the file does not exist, is a folder or empty, cannot be read, or is named
    ``.gz`` without being gzip; the message names the file.
    """
    number = 0
    try:
        with _opened(path, limits) as file:
            while line := _next_line(file, number=number + 1, limits=limits):
                number = line.number
                yield line
    except (OSError, EOFError, zlib.error, ValueError, DataError) as error:
        problem = f"cannot be read: {_words(error)}"
        if number == 0:
            raise DataError(f"{path}: {problem}") from error
        yield Line(number + 1, "", f"the rest of the file {problem}")
    if number == 0:
        raise DataError(f"{path}: is empty")


class _Unpacked:
    """A gzip file that stops with an error when it exceeds the limits."""

    def __init__(
        self, packed: BufferedIOBase, unpacked: BufferedIOBase, limits: DataLimits
    ) -> None:
        self._packed = packed
        self._unpacked = unpacked
        self._limits = limits
        self._received = 0

    def readline(self, most: int) -> bytes:
        piece = self._unpacked.readline(most)
        self._received += len(piece)
        if self._received > self._limits.unpacked:
            raise self._limits.exceeded("unpacked", "it unpacks to too many bytes")
        consumed = self._packed.tell()
        if self._received > max(_TRUSTED, consumed * self._limits.ratio):
            raise self._limits.exceeded("ratio", f"{consumed} bytes unpack to {self._received}")
        return piece


@contextmanager
def _opened(path: Path, limits: DataLimits) -> Iterator[BufferedIOBase | _Unpacked]:
    """Open the file, and its decompressor if it is gzip."""
    with ExitStack() as stack:
        file = stack.enter_context(BufferedReader(FileIO(path), _BUFFER))
        if file.peek(2).startswith(_GZIP_MAGIC):
            # Unbuffered: a buffer would lose the readable data before a damaged end.
            unpacked = stack.enter_context(gzip.GzipFile(fileobj=file))
            yield _Unpacked(file, unpacked, limits)
            return
        if path.suffix == ".gz" and file.peek(1):
            raise gzip.BadGzipFile("its name ends in .gz, but it is not gzip")
        yield file


def _next_line(file: BufferedIOBase | _Unpacked, *, number: int, limits: DataLimits) -> Line | None:
    """Return the next line, or None at the end; skip the text of a line that is too long."""
    raw = file.readline(limits.row + 1)
    if not raw:
        return None
    if len(raw) <= limits.row:
        return _decoded(raw, number=number)
    while raw and not raw.endswith(b"\n"):
        raw = file.readline(_PIECE)
    return Line(number, "", str(limits.exceeded("row", "the line is too long")))


def _decoded(raw: bytes, *, number: int) -> Line:
    """Decode one line; with invalid UTF-8, set a fault and keep what can be read."""
    if number == 1:
        raw = raw.removeprefix(codecs.BOM_UTF8)
    try:
        return Line(number, raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        fault = f"not UTF-8: byte 0x{raw[error.start]:02x} at byte {error.start + 1} of the line"
        return Line(number, raw.decode("utf-8", "replace"), fault)


def _words(error: Exception) -> str:
    """Return the message of the operating system or the decompressor, without the path."""
    return getattr(error, "strerror", None) or str(error)


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
                    if not line.endswith(b"\n"):
                        if len(line) > USUAL.row:
                            raise DataError(f"{self._path}, line {number + 1}: is too long")
                        if not self._is_whole:
                            return
                    offset, number = offset + len(line), number + 1
                    self._position = TailPosition(status.st_ino, offset, number)
                    text = line.decode("utf-8-sig" if number == 1 else "utf-8", "replace")
                    yield TailedLine(number, text.rstrip("\r\n"), self._position)
        except OSError as error:
            raise DataError(f"{self._path}: cannot be read: {error.strerror}") from error
