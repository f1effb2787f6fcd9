"""Reader of the rows in a damaged SQLite file, page by page.

SQLite reads a table from its root, so a torn page hides everything below it. Here every page is
read by itself, in the file and in its write-ahead log, and everything that looks like a row with
the expected columns is yielded. None of it is certain: a page may be outdated, and a row may be
garbage that happens to have the right form. The caller must verify checksums.

References
----------
.. [1] SQLite, "Database File Format": https://sqlite.org/fileformat2.html, sections 1.5
   (pages), 1.6 (overflow), 2.1 (records), 4 (the log).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import chain
from os import fstat
from pathlib import Path
from typing import BinaryIO, NamedTuple, Self, TypeGuard

_DEFAULT_SIZE = 4096
_SIZES = frozenset(2**power for power in range(9, 17))
_LOG_HEADER = 32
_FRAME_HEADER = 24
_INDEX_LEAF = b"\x0a"
_INDEX_INNER = b"\x02"
_TABLE_INNER = b"\x05"
_NO_ROWS = frozenset({b"", b"\x00", _INDEX_LEAF, _INDEX_INNER, _TABLE_INNER})
"""First bytes of pages without rows; any other than 13 means damage, and may still have rows."""
_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
"""Serial type of an integer -> its size in bytes."""
_HIGHEST = 2**63 - 1  # SQLite's highest integer


Row = tuple[str | bytes | int, ...]


class RawRow(NamedTuple):
    """A possible row, or entry of the index of keys, with the row's number."""

    number: int
    columns: Row


def log_of(path: Path) -> Path:
    """Return the path of the write-ahead log of the database `path`."""
    return path.with_name(f"{path.name}-wal")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Image:
    """One written version of a page, in the file or in the log."""

    in_log: bool
    offset: int


class _Frame(NamedTuple):
    """A page in the log, with the salt that is common to all frames of one log."""

    number: int
    salt: bytes
    image: _Image


class DatabasePages:
    """Reads the pages of a database and its log in any state; either may be missing.

    `types` are those of a row's columns, of which the first `keys` are the key.
    """

    def __init__(self, path: Path, *, types: Sequence[type], keys: int) -> None:
        self._path = path
        self._types = types
        self._keys = keys
        self._stack = ExitStack()
        self._file: BinaryIO | None = None
        self._log: BinaryIO | None = None
        self._size = _DEFAULT_SIZE
        self._frames: list[_Frame] = []  # all of the log, in order
        self._salt = b""  # of the current log's frames, as opposed to an earlier log's
        self._logged: dict[int, _Image] = {}  # page number -> its newest version in the log

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._file = _opened(self._path, stack)
            self._log = _opened(log_of(self._path), stack)
            self._take_size()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def rows(self) -> Iterator[RawRow]:
        """Yield every row, from the newest page to the oldest; many occur repeatedly."""
        yield from self._rows_of_log(current=True)
        for number in range(1, self._pages() + 1):
            yield from self._rows_of(number, self._in_file(number))
        yield from self._rows_of_log(current=False)

    def logged_rows(self) -> Iterator[RawRow]:
        """Yield the rows in the log, from the newest page to the oldest."""
        yield from self._rows_of_log(current=True)
        yield from self._rows_of_log(current=False)

    def _rows_of_log(self, *, current: bool) -> Iterator[RawRow]:
        """Yield the rows of the current log, or those of an earlier one after its end."""
        for frame in reversed(self._frames):
            if (frame.salt == self._salt) == current:
                yield from self._rows_of(frame.number, frame.image)

    def index(self) -> Iterator[RawRow]:
        """Yield every index entry, in the file as modified by the log."""
        pages = self._pages()
        beyond = (number for number in self._logged if number > pages)
        for number in chain(range(1, pages + 1), beyond):
            page = self._read(self._newest(number))
            if page[:1] == _INDEX_LEAF:
                yield from self._keys_at(page, _cells(page, header=8))
            elif page[:1] == _INDEX_INNER:  # each cell begins with the number of a child page
                yield from self._keys_at(page, (start + 4 for start in _cells(page, header=12)))

    def _rows_of(self, number: int, image: _Image) -> Iterator[RawRow]:
        page = self._read(image)
        if number == 1 or page[:1] in _NO_ROWS:  # the first page has the schema
            return
        for start in _cells(page, header=8):
            with suppress(IndexError, ValueError):  # not a row
                yield from self._rows_at(page, start)

    def _rows_at(self, page: bytes, start: int) -> Iterator[RawRow]:
        """Yield the row that begins at `start`; twice if its end may be in log or file."""
        size, start = _varint(page, start)
        number, start = _varint(page, start)
        # The thresholds of payload size here and below are in [1], section 1.6.
        most = self._size - 35
        ends = (self._newest, self._in_file) if size > most and self._logged else (self._newest,)
        for image_of in ends:
            record = self._record(page, start, size=size, most=most, image_of=image_of)
            columns = _columns(record)
            if is_of(columns, self._types):
                yield RawRow(number, columns)

    def _keys_at(self, page: bytes, starts: Iterable[int]) -> Iterator[RawRow]:
        most = (self._size - 12) * 64 // 255 - 23
        for start in starts:
            with suppress(IndexError, ValueError):  # not an entry
                size, begin = _varint(page, start)
                record = self._record(page, begin, size=size, most=most, image_of=self._newest)
                *key, number = _columns(record)
                if is_of(key, self._types[: self._keys]) and isinstance(number, int):
                    yield RawRow(number, tuple(key))

    def _record(
        self,
        page: bytes,
        start: int,
        *,
        size: int,
        most: int,
        image_of: Callable[[int], _Image],
    ) -> bytes:
        """Return a record of `size` bytes; beyond `most`, its rest is in overflow pages."""
        if size <= most:
            return page[start : start + size]
        least = (self._size - 12) * 32 // 255 - 23
        local = least + (size - least) % (self._size - 4)
        local = local if local <= most else least
        parts = [page[start : start + local]]
        following = int.from_bytes(page[start + local : start + local + 4], "big")
        rest = size - local
        if rest > self._size * (self._pages() + len(self._logged)):
            raise ValueError("the file has no room for so long a record")
        while rest > 0:
            overflow = self._read(image_of(following)) if following else b""
            if len(overflow) < self._size:
                raise ValueError("the end of the record is gone")
            parts.append(overflow[4 : 4 + rest])
            rest -= len(parts[-1])
            following = int.from_bytes(overflow[:4], "big")
        return b"".join(parts)

    def _newest(self, number: int) -> _Image:
        return self._logged.get(number) or self._in_file(number)

    def _in_file(self, number: int) -> _Image:
        return _Image(in_log=False, offset=(number - 1) * self._size)

    def _read(self, image: _Image) -> bytes:
        """Return a page; it is shorter, or empty, at the end of the file."""
        file = self._log if image.in_log else self._file
        return _bytes(file, image.offset, image.offset + self._size)

    def _pages(self) -> int:
        return -(-_length(self._file) // self._size)

    def _take_size(self) -> None:
        """Determine the page size; if file and log differ, use the one that gives more rows."""
        stored = (_bytes(self._file, 16, 18), _bytes(self._log, 8, 12))
        candidates = (*(int.from_bytes(size, "big") for size in stored), _DEFAULT_SIZE)
        # Two bytes cannot hold 65536, which is stored as 1.
        whole = (2**16 if size == 1 else size for size in candidates)
        sizes = dict.fromkeys(filter(_SIZES.__contains__, whole))
        readable: dict[int, int] = {}
        for size in sizes:
            self._use(size)
            readable[size] = sum(1 for _ in self.rows()) if len(sizes) > 1 else 0
        self._use(max(readable, key=readable.__getitem__))

    def _use(self, size: int) -> None:
        """Read with pages of `size` bytes from now on."""
        self._size = size
        self._frames = list(self._all_frames())
        # Any of them may be damaged; in a tie, the header's salt wins.
        salts = [_bytes(self._log, 16, 24), *(frame.salt for frame in self._frames[:3])]
        ((self._salt, _),) = Counter(salts).most_common(1)
        current = (frame for frame in self._frames if frame.salt == self._salt)
        self._logged = {frame.number: frame.image for frame in current}

    def _all_frames(self) -> Iterator[_Frame]:
        """Yield the frames of the log, followed by those left by an earlier, longer log."""
        step = _FRAME_HEADER + self._size
        for start in range(_LOG_HEADER, _length(self._log) - _FRAME_HEADER, step):
            head = _bytes(self._log, start, start + 16)
            image = _Image(in_log=True, offset=start + _FRAME_HEADER)
            yield _Frame(int.from_bytes(head[:4], "big"), head[8:], image)


def is_of(columns: Sequence[object], types: Sequence[type]) -> TypeGuard[Row]:
    """Return whether the columns have exactly these types."""
    return [*map(type, columns)] == [*types]


def _opened(path: Path, stack: ExitStack) -> BinaryIO | None:
    return stack.enter_context(path.open("rb")) if path.is_file() else None


def _length(file: BinaryIO | None) -> int:
    return fstat(file.fileno()).st_size if file is not None else 0


def _bytes(file: BinaryIO | None, start: int, end: int) -> bytes:
    """Return the bytes of a file from `start` to `end`; fewer if it is shorter."""
    if file is None:
        return b""
    file.seek(start)
    return file.read(end - start)


def _cells(page: bytes, *, header: int) -> Iterator[int]:
    """Yield the offsets of a page's cells; its header takes `header` bytes."""
    count = int.from_bytes(page[3:5], "big")
    for index in range(header, min(header + 2 * count, len(page) - 1), 2):
        yield int.from_bytes(page[index : index + 2], "big")


def _varint(data: bytes, start: int) -> tuple[int, int]:
    """Read an integer of 1 to 9 bytes; return it and its end."""
    value = 0
    for index in range(start, start + 8):
        byte = data[index]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:  # noqa: PLR2004  the highest bit means that more bytes follow
            return value, index + 1
    return min(value << 8 | data[start + 8], _HIGHEST), start + 9


def _columns(record: bytes) -> tuple[str | bytes | int | None, ...]:
    """Split a record into its columns; raise `ValueError` or `IndexError` if it is not one."""
    end, position = _varint(record, 0)
    columns: list[str | bytes | int | None] = []
    begin = end
    while position < end:
        kind, position = _varint(record, position)
        size = (kind - 12) // 2 if kind >= 12 else _INTEGERS.get(kind, 0)  # noqa: PLR2004  [1] 2.1
        data = record[begin : begin + size]
        if len(data) < size:
            raise ValueError("a column reaches beyond its record")
        columns.append(_column(kind, data))
        begin += size
    return tuple(columns)


def _column(kind: int, data: bytes) -> str | bytes | int | None:
    if kind >= 12:  # noqa: PLR2004  [1] 2.1: even numbers are blobs, odd ones texts
        return data.decode() if kind % 2 else data
    if kind in {8, 9}:
        return kind - 8
    return int.from_bytes(data, "big", signed=True) if kind in _INTEGERS else None
