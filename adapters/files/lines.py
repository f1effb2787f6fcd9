"""The numbered lines of a file, packed or not, as they are read; and lines appended to a file."""

import codecs
import glob
import gzip
import json
import os
import re
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from io import BufferedIOBase, BufferedReader, FileIO
from pathlib import Path
from typing import NamedTuple, Self

import msgspec

from spanjury.adapters.files.limits import USUAL, DataLimits
from spanjury.judges.core import DataError
from spanjury.judges.core.errors import reason_of

_GZIP_MAGIC = b"\x1f\x8b"
_BUFFER = 2**18  # bytes per read from the operating system
_PIECE = 2**16  # bytes read at once while skipping a line that is too long
_ENDING = 2**8  # bytes before a position that its checksum is of
_TRUSTED = 2**23  # bytes that may be unpacked at any ratio, for blank lines; read in seconds

_ROTATED = re.compile(r"[-._]?[0-9]([-._T:]?[0-9]){0,30}", re.ASCII)
_NO_DIGIT = re.compile(r"[^0-9]")
_DATE = 6  # digits of the shortest date


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
        problem = f"cannot be read: {reason_of(error)}"
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


class TailPosition(NamedTuple):
    """Position up to which a file was read: its inode, and the bytes and lines read.

    `ending` is the checksum of the last bytes before it, by which a rotated file is recognised;
    None in a position that an earlier version wrote.
    """

    inode: int
    offset: int = 0
    lines: int = 0
    ending: int | None = None

    def encoded(self) -> bytes:
        """Return the position as JSON."""
        return msgspec.json.encode(self)


class TailedLine(NamedTuple):
    """A line without its line end, its number, and the position after it.

    `fault` describes what is wrong with the line, if anything; `text` is then empty.
    """

    number: int
    text: str
    position: TailPosition
    fault: str = ""


class LineTail:
    """Reads the lines of a file, and later those appended to it, in a ``with`` block.

    If the file is replaced or truncated, the rest of the rotated file is read first: of the file
    that is still open, or of a file ``PATH…`` in the same folder that has the same bytes before the
    position. Files that were rotated after that one are read next, oldest first: those whose names
    are ``PATH`` with a smaller number (``PATH.1`` after ``PATH.2``) or a later date. The new file
    is then read from its beginning.

    Parameters
    ----------
    position
        How far the file was read before, as written by `TailPosition.encoded`; None if not at all.
    is_whole
        Whether the file must exist. Its last line is then also read if it lacks only its line end,
        because it is a complete JSON object or array.
    """

    def __init__(
        self, path: Path, *, position: bytes | None, is_whole: bool, limits: DataLimits = USUAL
    ) -> None:
        self.is_missing = False
        """True if the file did not exist when `added` last looked."""
        self.unfinished = 0
        """Number of the last line if it is not read yet because it lacks its line end; else 0."""
        self._path = path
        self._is_whole = is_whole
        self._limits = limits
        self._file: BufferedReader | None = None  # kept open, since its name can change
        self._position = (
            TailPosition(-1)
            if position is None
            else msgspec.json.decode(position, type=TailPosition)
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._keep(None)

    def added(self) -> Iterator[TailedLine]:
        """Yield the lines that were appended since the last line this method yielded.

        A line that exceeds the limit `row` has a fault. A file that does not exist has no lines.

        Raises `DataError` if the file cannot be read or is not a regular one, or if it does not
        exist and `is_whole`.
        """
        try:
            while self._is_rotated():
                yield from self._lines(is_ended=True)
                while self._open_next():
                    yield from self._lines(is_ended=True)
                self._keep(None)
                self._position = TailPosition(-1)
            yield from self._lines(is_ended=False)
        except OSError as error:
            raise DataError(f"{self._path}: cannot be read: {error.strerror}") from error
        finally:
            if sys.platform == "win32":  # an open file cannot be renamed there
                self._keep(None)

    def _is_rotated(self) -> bool:
        """Open the file that continues at the position; return whether it is a rotated one."""
        try:
            status = self._path.stat()
            self.is_missing = False
            if not stat.S_ISREG(status.st_mode):  # opening a pipe would block the event loop
                raise DataError(f"{self._path}: is not a regular file, which a watch can continue")
            if self._file is not None and os.fstat(self._file.fileno()).st_ino != status.st_ino:
                return status.st_size > 0  # until then, the rotated file may still grow
            if self._file is None:
                self._keep(self._path.open("rb"))
        except FileNotFoundError:
            self.is_missing = True
            if self._is_whole:
                raise
            return False
        assert self._file is not None
        inode = os.fstat(self._file.fileno()).st_ino
        if inode == self._position.inode and self._continues_in(self._file):
            return False
        if rotated := self._rotated():
            self._keep(rotated)
            return True
        self._position = TailPosition(inode)
        return False

    def _rotated(self) -> BufferedReader | None:
        """Open the file that the lines before the position were moved or copied to."""
        copies: list[tuple[bool, float, Path]] = []
        if not self._position.offset:
            return None
        for path in self._siblings():
            with suppress(OSError):
                status = path.stat()
                copies.append((status.st_ino != self._position.inode, -status.st_mtime, path))
        for is_copy, _, path in sorted(copies):
            if is_copy and self._position.ending is None:
                break
            with suppress(OSError), ExitStack() as stack:
                file = stack.enter_context(path.open("rb"))
                if self._continues_in(file):
                    stack.pop_all()
                    return file
        return None

    def _open_next(self) -> bool:
        """Open the file that was rotated after the open one; return whether there is one."""
        assert self._file is not None
        inode = os.fstat(self._file.fileno()).st_ino
        ages: dict[int, tuple[bool, int, Path]] = {}
        for path in self._siblings():
            with suppress(OSError):
                age = _age(path.name.removeprefix(self._path.name))
                if age and stat.S_ISREG((status := path.stat()).st_mode):
                    ages[status.st_ino] = (*age, path)
        if inode not in ages:
            return False
        is_dated, number, _ = ages[inode]
        newer = [each for each in ages.values() if each[0] == is_dated and each[1] > number]
        if not newer:
            return False
        try:
            file = min(newer)[-1].open("rb")
        except FileNotFoundError:  # rotated again meanwhile
            return self._open_next()
        self._keep(file)
        self._position = TailPosition(os.fstat(file.fileno()).st_ino)
        return True

    def _siblings(self) -> Iterator[Path]:
        """Yield the files to which the lines of the file may have been moved or copied."""
        return self._path.parent.glob(f"{glob.escape(self._path.name)}?*")

    def _continues_in(self, file: BufferedReader) -> bool:
        """Return whether `file` has the bytes that were read before the position."""
        _, offset, _, ending = self._position
        if os.fstat(file.fileno()).st_size < offset:
            return False
        return ending is None or zlib.crc32(_bytes_before(file, offset)) == ending

    def _keep(self, file: BufferedReader | None) -> None:
        if self._file is not None:
            self._file.close()
        self._file = file

    def _lines(self, *, is_ended: bool) -> Iterator[TailedLine]:
        """Yield the lines after the position, the last one without a line end if `is_ended`."""
        self.unfinished = 0
        if self._file is None:
            return
        inode = os.fstat(self._file.fileno()).st_ino
        _, offset, number, _ = self._position
        before = _bytes_before(self._file, offset)
        while True:
            line, size = _raw_line(self._file, self._limits.row)
            if not size:
                return
            has_end = line.endswith(b"\n")
            if not (has_end or is_ended or (self._is_whole and _is_complete(line))):
                self.unfinished = number + 1
                return
            offset, before = offset + size, (before + line)[-_ENDING:]
            self._position = TailPosition(inode, offset, number + has_end, zlib.crc32(before))
            if size - has_end > self._limits.row:
                fault = str(self._limits.exceeded("row", "the line is too long"))
                yield TailedLine(number + 1, "", self._position, fault)
            else:
                text = line.decode("utf-8" if number else "utf-8-sig", "replace")
                yield TailedLine(number + 1, text.rstrip("\r\n"), self._position)
            number += has_end


def _age(suffix: str) -> tuple[bool, int] | None:
    """Return whether a rotated file is named by its date, and a number that is greater if newer.

    Counted files are renamed at each rotation, so that the newest has the smallest number. None if
    the suffix is neither a number nor a date.
    """
    if not _ROTATED.fullmatch(suffix):
        return None
    digits = _NO_DIGIT.sub("", suffix)
    is_dated = len(digits) >= _DATE
    return is_dated, int(digits) if is_dated else -int(digits)


def _bytes_before(file: BufferedReader, offset: int) -> bytes:
    """Return the last bytes before `offset`, at which the file is then."""
    file.seek(0, os.SEEK_END)  # discards the buffer, since the file may have been written again
    file.seek(max(0, offset - _ENDING))
    return file.read(min(offset, _ENDING))


def _raw_line(file: BufferedReader, most: int) -> tuple[bytes, int]:
    """Return the next line and its size in bytes; only the end of a line longer than `most`."""
    line = piece = file.readline(most + 1)
    size = len(line)
    while size > most and piece and not piece.endswith(b"\n"):
        piece = file.readline(_PIECE)
        size += len(piece)
        line = (line + piece)[-_ENDING:]
    return line, size


def _is_complete(line: bytes) -> bool:
    """Return whether a line is a JSON object or array, which no beginning of a longer one is."""
    try:
        return isinstance(json.loads(line), dict | list)
    except (ValueError, RecursionError):
        return False
