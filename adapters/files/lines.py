"""The numbered lines of a file, packed or not, as they are read."""

import codecs
import gzip
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from io import BufferedIOBase, BufferedReader, FileIO
from pathlib import Path
from typing import NamedTuple

from spanjury.adapters.files.limits import USUAL, DataLimits
from spanjury.judges.core import DataError
from spanjury.judges.core.errors import reason_of

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
        with open_unpacked(path, limits) as file:
            while line := _next_line(file, number=number + 1, limits=limits):
                number = line.number
                yield line
    except (OSError, EOFError, zlib.error, ValueError, DataError) as error:
        problem = f"cannot be read: {reason_of(error)}"
        if number == 0:
            raise DataError(f"{path}: {problem}") from error
        yield Line(number + 1, "", f"the rest of the file {problem}")
    if number == 0:
        raise DataError(f"{path}: is empty")


def filled_lines(
    path: Path, *, limits: DataLimits = USUAL
) -> Iterator[tuple[int, str | DataError]]:
    """Yield the lines that are not blank, without white space at their ends, or their faults."""
    for line in read_lines(path, limits=limits):
        if line.fault:
            yield line.number, DataError(line.fault)
        elif text := line.text.rstrip():
            yield line.number, text


class Unpacked:
    """A gzip file that stops with an error when it exceeds the limits."""

    def __init__(
        self, packed: BufferedIOBase, unpacked: BufferedIOBase, limits: DataLimits
    ) -> None:
        self._packed = packed
        self._unpacked = unpacked
        self._limits = limits
        self._received = 0

    def readline(self, most: int) -> bytes:
        """Return the next line, or as much of it as `most` bytes; empty at the end."""
        piece = self._unpacked.readline(most)
        self._received += len(piece)
        if self._received > self._limits.unpacked:
            raise self._limits.exceeded("unpacked", "it unpacks to too many bytes")
        consumed = self._packed.tell()
        if self._received > max(_TRUSTED, consumed * self._limits.ratio):
            raise self._limits.exceeded("ratio", f"{consumed} bytes unpack to {self._received}")
        return piece


@contextmanager
def open_unpacked(path: Path, limits: DataLimits) -> Iterator[BufferedIOBase | Unpacked]:
    """Open a file, and its decompressor if it begins like gzip.

    Reading raises `DataError` if it unpacks to more than `limits` allow.
    """
    with ExitStack() as stack:
        file = stack.enter_context(BufferedReader(FileIO(path), _BUFFER))
        if file.peek(2).startswith(_GZIP_MAGIC):
            # Unbuffered: a buffer would lose the readable data before a damaged end.
            unpacked = stack.enter_context(gzip.GzipFile(fileobj=file))
            yield Unpacked(file, unpacked, limits)
            return
        if path.suffix == ".gz" and file.peek(1):
            raise gzip.BadGzipFile("its name ends in .gz, but it is not gzip")
        yield file


def _next_line(file: BufferedIOBase | Unpacked, *, number: int, limits: DataLimits) -> Line | None:
    """Return the next line, or None at the end; skip the text of a line that is too long."""
    raw = file.readline(limits.row + 1)
    if not raw:
        return None
    if len(raw) <= limits.row:
        return decoded_line(raw, number=number)
    while raw and not raw.endswith(b"\n"):
        raw = file.readline(_PIECE)
    return Line(number, "", str(limits.exceeded("row", "the line is too long")))


def decoded_line(raw: bytes, *, number: int) -> Line:
    """Decode one line; with invalid UTF-8, set a fault and keep what can be read."""
    if number == 1:
        raw = raw.removeprefix(codecs.BOM_UTF8)
    try:
        return Line(number, raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        fault = f"not UTF-8: byte 0x{raw[error.start]:02x} at byte {error.start + 1} of the line"
        return Line(number, raw.decode("utf-8", "replace"), fault)
