"""The lines appended to a file, across rotations of the file; rotated files may be gzipped."""

import glob
import gzip
import json
import os
import re
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, NamedTuple, Self

import msgspec

from spanjury.adapters.files.limits import USUAL, DataLimits
from spanjury.adapters.files.lines import open_unpacked
from spanjury.adapters.files.spool import unusable
from spanjury.judges.core import DataError
from spanjury.judges.core.errors import reason_of

_PIECE = 2**16  # bytes read at once while skipping a line that is too long, or unpacking
_PART = 2**8  # bytes of a file's beginning, and before a position, that checksums are of

_PACKED = ".gz"
_ROTATED = re.compile(r"[-._]?[0-9]([-._T:]?[0-9]){0,30}", re.ASCII)
_NO_DIGIT = re.compile(r"[^0-9]")
_DATE = 6  # digits of the shortest date


class TailPosition(NamedTuple):
    """Position up to which a file was read: its inode, and the bytes and lines read.

    A rotated file is recognised by checksums: `ending` is that of the last bytes before the
    position, `beginning` that of the first line. They are None in a position that an earlier
    version wrote; `beginning` is also None if the first line is too long.
    """

    inode: int
    offset: int = 0
    lines: int = 0
    ending: int | None = None
    beginning: int | None = None

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
    that is still open, or of a file ``PATH…`` in the same folder that has the same first line and
    the same bytes before the position. Files that were rotated after that one are read next, oldest
    first: those whose names are ``PATH`` with a smaller number (``PATH.1`` after ``PATH.2``) or a
    later date. The new file is then read from its beginning. Rotated files may be gzipped, and are
    then named ``….gz``.

    `position` is that up to which the file was read before, as written by `TailPosition.encoded`;
    None if not at all. If the file `is_whole`, it must exist, and its last line is also read if it
    lacks only its line end, because it is a complete JSON object or array.
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
        self._open: _OpenFile | None = None  # kept open, since its name can change
        self._position = TailPosition(-1)
        if position is not None:
            self._position = msgspec.json.decode(position, type=TailPosition)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._keep(None)

    def added(self) -> Iterator[TailedLine]:
        """Yield the lines that were appended since the last line this method yielded.

        A line that exceeds the limit `row` has a fault. A file that does not exist has no lines.

        Raises `DataError` if the file cannot be read or is not a regular one, or if it does not
        exist and `is_whole`, and `StoreError` if there is no room to unpack a rotated file.
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
            name = error.filename or self._path
            raise DataError(f"{name}: cannot be read: {error.strerror}") from error
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
            if self._open is not None and self._open.inode != status.st_ino:
                return status.st_size > 0  # until then, the rotated file may still grow
            if self._open is None:
                self._keep(_opened(self._path))
        except FileNotFoundError:
            self.is_missing = True
            if self._is_whole:
                raise
            return False
        assert self._open is not None
        inode = self._open.inode
        if inode == self._position.inode and self._continues_in(self._open):
            return False
        if rotated := self._rotated():
            self._keep(rotated)
            return True
        self._position = TailPosition(inode)
        return False

    def _rotated(self) -> "_OpenFile | None":
        """Open the file that the lines before the position were moved or copied to."""
        copies: list[tuple[bool, bool, float, Path]] = []
        if not self._position.offset:
            return None
        for path in self._siblings():
            with suppress(OSError):
                status = path.stat()
                is_copy = status.st_ino != self._position.inode
                copies.append((is_copy, path.suffix == _PACKED, -status.st_mtime, path))
        for is_copy, _, _, path in sorted(copies):
            if is_copy and self._position.ending is None:
                break
            if file := self._continued(path):
                return file
        return None

    def _continued(self, path: Path) -> "_OpenFile | None":
        """Open a file if it has the first line and the bytes before the position."""
        with suppress(OSError), ExitStack() as stack:
            if path.suffix == _PACKED:
                with self._unpacked(path, pieces=1).file as sample:
                    if not self._begins_in(sample):
                        return None
            opened = self._unpacked(path)
            stack.enter_context(opened.file)
            if self._continues_in(opened):
                stack.pop_all()
                return opened
        return None

    def _open_next(self) -> bool:
        """Open the file that was rotated after the open one; return whether there is one."""
        rotations = sorted(self._rotations())
        current = self._rotation_of_open(rotations)
        if current is None:
            return False
        newer = [
            each
            for each in rotations
            if each.is_dated == current.is_dated and each.number > current.number
        ]
        if not newer:
            return False
        try:
            opened = self._unpacked(newer[0].path)
        except FileNotFoundError:  # rotated again meanwhile
            return self._open_next()
        self._keep(opened)
        self._position = TailPosition(opened.inode)
        return True

    def _rotations(self) -> Iterator["_Rotation"]:
        """Yield the files that are named as rotated ones."""
        for path in self._siblings():
            is_packed = path.suffix == _PACKED
            name = path.name.removesuffix(_PACKED) if is_packed else path.name
            with suppress(OSError):
                age = _age(name.removeprefix(self._path.name))
                if age and stat.S_ISREG((status := path.stat()).st_mode):
                    yield _Rotation(*age, is_packed, path, status.st_ino)

    def _rotation_of_open(self, rotations: list["_Rotation"]) -> "_Rotation | None":
        """Return which file the open one is, or was gzipped to."""
        assert self._open is not None
        for rotation in rotations:
            if rotation.inode == self._open.inode:
                return rotation
        for rotation in rotations if self._position.offset else ():
            if rotation.is_packed and (copy := self._continued(rotation.path)):
                copy.file.close()
                return rotation
        return None

    def _siblings(self) -> Iterator[Path]:
        """Yield the files to which the lines of the file may have been moved or copied."""
        return self._path.parent.glob(f"{glob.escape(self._path.name)}?*")

    def _unpacked(self, path: Path, *, pieces: int | None = None) -> "_OpenFile":
        """Open a rotated file; a gzipped one, or only so many pieces of it, is unpacked first.

        Raise `StoreError` if there is no room for it.
        """
        if path.suffix != _PACKED:
            return _opened(path)
        with ExitStack() as stack:
            try:
                file = stack.enter_context(tempfile.TemporaryFile())
                inode = path.stat().st_ino
                fault = self._unpack(path, file, pieces)
                file.flush()
            except OSError as error:
                if error.filename:
                    raise
                raise unusable(error.strerror) from error
            stack.pop_all()
            return _OpenFile(file, inode, fault)

    def _unpack(self, path: Path, file: IO[bytes], pieces: int | None) -> str:
        """Unpack a file; return why its rest cannot be unpacked, if it cannot."""
        try:
            with open_unpacked(path, self._limits) as packed:
                file.writelines(islice(iter(partial(packed.readline, _PIECE), b""), pieces))
        except (gzip.BadGzipFile, EOFError, zlib.error, DataError) as error:
            return f"the rest of {path} cannot be unpacked: {reason_of(error)}"
        return ""

    def _continues_in(self, opened: "_OpenFile") -> bool:
        """Return whether a file has the bytes that were read before the position."""
        offset, ending = self._position.offset, self._position.ending
        before = _bytes_before(opened.file, offset)
        if len(before) < min(offset, _PART):
            return False
        return ending in {None, zlib.crc32(before)} and self._begins_in(opened.file)

    def _begins_in(self, file: IO[bytes]) -> bool:
        """Return whether a file has the first line that was read."""
        file.seek(0)
        return self._position.beginning in {None, _beginning(file.readline(_PART))}

    def _keep(self, opened: "_OpenFile | None") -> None:
        if self._open is not None:
            self._open.file.close()
        self._open = opened

    def _lines(self, *, is_ended: bool) -> Iterator[TailedLine]:
        """Yield the lines after the position, the last one without a line end if `is_ended`."""
        self.unfinished = 0
        if self._open is None:
            return
        file, inode, fault = self._open
        _, offset, number, _, beginning = self._position
        before = _bytes_before(file, offset)
        while True:
            line, size = _raw_line(file, self._limits.row)
            if not size:
                break
            has_end = line.endswith(b"\n")
            if not (has_end or is_ended or (self._is_whole and _is_complete(line))):
                self.unfinished = number + 1
                return
            is_too_long = size - has_end > self._limits.row
            if not offset:
                beginning = None if is_too_long else _beginning(line)
            offset, before = offset + size, (before + line)[-_PART:]
            self._position = TailPosition(
                inode, offset, number + has_end, zlib.crc32(before), beginning
            )
            if is_too_long:
                too_long = str(self._limits.exceeded("row", "the line is too long"))
                yield TailedLine(number + 1, "", self._position, too_long)
            else:
                text = line.decode("utf-8" if number else "utf-8-sig", "replace")
                yield TailedLine(number + 1, text.rstrip("\r\n"), self._position)
            number += has_end
        if fault:
            yield TailedLine(number + 1, "", self._position, fault)


class _OpenFile(NamedTuple):
    """A file that is read, or what it unpacks to, and why its rest cannot be unpacked."""

    file: IO[bytes]
    inode: int
    fault: str = ""


class _Rotation(NamedTuple):
    """A rotated file; of two with a number, the one that is not packed comes first."""

    is_dated: bool
    number: int
    is_packed: bool
    path: Path
    inode: int


def _opened(path: Path) -> _OpenFile:
    file = path.open("rb")
    return _OpenFile(file, os.fstat(file.fileno()).st_ino)


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


def _beginning(line: bytes) -> int:
    """Return the checksum of a first line; spaces and its line end may be added later."""
    return zlib.crc32(line[:_PART].rstrip())


def _bytes_before(file: IO[bytes], offset: int) -> bytes:
    """Return the last bytes before `offset`, at which the file is then."""
    file.seek(0, os.SEEK_END)  # discards the buffer, since the file may have been written again
    file.seek(max(0, offset - _PART))
    return file.read(min(offset, _PART))


def _raw_line(file: IO[bytes], most: int) -> tuple[bytes, int]:
    """Return the next line and its size in bytes; only the end of a line longer than `most`."""
    line = piece = file.readline(most + 1)
    size = len(line)
    while size > most and piece and not piece.endswith(b"\n"):
        piece = file.readline(_PIECE)
        size += len(piece)
        line = (line + piece)[-_PART:]
    return line, size


def _is_complete(line: bytes) -> bool:
    """Return whether a line is a JSON object or array, which no beginning of a longer one is."""
    try:
        return isinstance(json.loads(line), dict | list)
    except (ValueError, RecursionError):
        return False
