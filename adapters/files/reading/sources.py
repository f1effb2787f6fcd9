"""Files of rows: JSON Lines, CSV and TSV, plain or gzip, read as segments one at a time.

A faulty row yields a `DataError` in its place, so that the others can still be judged. A file that
cannot be read at all raises a `DataError` before the first row. Ids beyond the first ones are kept
in a temporary file, so that memory does not grow with the data. The same technique orders segments
by their sources.
"""

import json
import pickle
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeVar

from spanjury.adapters.files.limits import USUAL, DataLimits
from spanjury.adapters.files.lines import filled_lines, read_lines
from spanjury.adapters.files.reading.column_map import AS_NAMED, ColumnMap
from spanjury.adapters.files.reading.row_values import plain
from spanjury.adapters.files.reading.rows import parse_row
from spanjury.adapters.files.reading.tables import read_header, read_records
from spanjury.adapters.files.spool import open_scratch
from spanjury.adapters.files.strict_json import parse_json
from spanjury.judges.core import DataError, Segment

_TABLE = """
CREATE TABLE ids (
    id TEXT PRIMARY KEY, line INTEGER NOT NULL, system TEXT NOT NULL
) WITHOUT ROWID;
"""
_CLAIM = "INSERT INTO ids VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
_FIRST = "SELECT line, system FROM ids WHERE id = ?"
_HELD = 50_000
"""Number of ids held in memory; further ones go to a file."""
T = TypeVar("T")
_TABLES = """
CREATE TABLE sources (number INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, inputs BLOB);
CREATE TABLE segments (number INTEGER PRIMARY KEY, source INTEGER NOT NULL, rest BLOB NOT NULL);
"""
_PUT_SOURCE = "INSERT OR IGNORE INTO sources VALUES (?, ?, ?)"
_PUT_SEGMENT = "INSERT INTO segments SELECT ?, number, ? FROM sources WHERE digest = ?"
_INDEX = "CREATE INDEX by_source ON segments (source)"
_SOURCES = "SELECT number, inputs FROM sources ORDER BY number"
_SEGMENTS = "SELECT rest FROM segments WHERE source = ? ORDER BY number"


def read_jsonl(
    path: Path, /, *, columns: ColumnMap = AS_NAMED, limits: DataLimits = USUAL
) -> Iterator[Segment | DataError]:
    """Read a file with one JSON object per line, as described by `checked_rows.Row`.

    The file is UTF-8 with or without a byte order mark, plain or gzip; `columns` maps its keys to
    ours. Yields one segment or fault per line that is not blank, in order. Lines are counted from
    1, blank ones included.

    Raises `DataError` at once if the file does not exist, cannot be read, or has no rows.
    """
    native = columns.reader()

    def read(text: str, line: int) -> Segment:
        return parse_row(native(parse_json(text, depth=limits.depth)), line=line)

    return begun(path, _segments(path, filled_lines(path, limits=limits), read))


def read_csv(
    path: Path, /, *, columns: ColumnMap = AS_NAMED, limits: DataLimits = USUAL
) -> Iterator[Segment | DataError]:
    """Read a table with cells separated by commas; its first row names the columns.

    It is like `read_jsonl`, except that a row's line is the one on which it begins.

    Raises `DataError` at once, as `read_jsonl` does, or if the columns do not make a row.
    """
    return begun(path, _table(path, delimiter=",", called=columns, limits=limits))


def read_tsv(
    path: Path, /, *, columns: ColumnMap = AS_NAMED, limits: DataLimits = USUAL
) -> Iterator[Segment | DataError]:
    """Read a table with cells separated by tabs, quoted as in CSV; see `read_csv`.

    Raises `DataError` at once, as `read_csv` does.
    """
    return begun(path, _table(path, delimiter="\t", called=columns, limits=limits))


def segments_of(
    path: Path | str, rows: Iterator[tuple[int, object]], *, columns: ColumnMap, unit: str = "line"
) -> Iterator[Segment | DataError]:
    """Read numbered rows of objects, as parsed from JSON or in memory; `path` is for messages.

    A row may already be a segment; `unit` is the noun that the numbers count. Tuples and arrays are
    read as lists. Raises `DataError` at once if there are no rows.
    """
    native = columns.reader()

    def read(row: object, line: int) -> Segment:
        return row if isinstance(row, Segment) else parse_row(native(plain(row)), line=line)

    return begun(path, _segments(path, rows, read, unit=unit))


class Owner(NamedTuple):
    """The row that owns an id, by its line and its system."""

    line: int
    system: str


class Ids:
    """Claimed ids and their owners; made by `open_ids`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._held: dict[str, Owner] = {}  # the first ids; most files have no more

    def claim(self, segment_id: str, owner: Owner) -> Owner:
        """Return the row that first claimed `segment_id`, which is `owner` if no other has."""
        if len(self._held) < _HELD or segment_id in self._held:
            return self._held.setdefault(segment_id, owner)
        if self._connection.execute(_CLAIM, (segment_id, *owner)).rowcount:
            return owner
        return Owner(*self._connection.execute(_FIRST, (segment_id,)).fetchone())


@contextmanager
def open_ids() -> Iterator[Ids]:
    """Open an empty set of ids; raise `StoreError` as `open_scratch` does."""
    with open_scratch(_TABLE) as connection:
        yield Ids(connection)


def begun(path: Path | str, rows: Iterator[T]) -> Iterator[T]:
    """Read the first row right away, so that a file without rows is refused at once."""
    first = next(rows, None)
    if first is None:
        raise DataError(f"{path}: has no rows")
    return chain((first,), rows)


def _table(
    path: Path, *, delimiter: str, called: ColumnMap, limits: DataLimits
) -> Iterator[Segment | DataError]:
    """Read the header, then each record according to it."""
    lines = read_lines(path, limits=limits)
    records = read_records(lines, delimiter=delimiter, limits=limits)
    line, header = next(records, (1, DataError("there is no row that names the columns")))
    try:
        columns = read_header(_sound(header), called=called, limits=limits)
    except DataError as error:
        raise DataError(f"{path}, line {line}: {error}") from error
    native = called.reader(is_named=True)
    yield from _segments(
        path, records, lambda cells, line: parse_row(native(columns.row(cells)), line=line)
    )


def _segments(
    path: Path | str,
    rows: Iterator[tuple[int, T | DataError]],
    read: Callable[[T, int], Segment],
    *,
    unit: str = "line",
) -> Iterator[Segment | DataError]:
    """Read each row; yield a fault, with file and line, for each row that cannot be read."""
    with open_ids() as ids:
        for line, row in rows:
            try:
                segment = with_own_id(read(_sound(row), line), ids.claim, line=line, unit=unit)
            except (DataError, RecursionError) as error:
                problem = error if isinstance(error, DataError) else "nested too deeply to be read"
                yield DataError(f"{path}, {unit} {line}: {problem}")
            else:
                yield segment


def with_own_id(
    segment: Segment,
    claim: Callable[[str, Owner], Owner],
    *,
    line: int,
    unit: str = "line",
    log: str = "",
) -> Segment:
    """Return `segment` with a unique id; `line` is its line, counted in `unit`.

    One id in several systems means outputs of several systems for one input: all but the first are
    renamed to ``ID/SYSTEM``. One id in several logs means outputs of several runs: if `log` names
    the log of the segment, all but the first are renamed to ``ID/LOG``.

    Raises `DataError` if its system, and its log, already has this id, or it has no system.
    """
    segment_id, system = segment.segment_id, segment.system
    owner = Owner(line, system)
    first = claim(segment_id, owner)
    if first != owner and system not in {"", first.system}:
        segment_id = f"{segment_id}/{system}"
        first = claim(segment_id, owner)
    if first != owner and log:
        segment_id = f"{segment_id}/{log}"
        first = claim(segment_id, owner)
    if first != owner:
        raise DataError(f"{unit} {first.line} already has the id {segment_id!r}")
    return segment if segment_id == segment.segment_id else replace(segment, segment_id=segment_id)


def _sound(row: T | DataError) -> T:
    """Return the row, or raise its fault."""
    if isinstance(row, DataError):
        raise row
    return row


def by_source(segments: Iterator[Segment]) -> Iterator[Segment]:
    """Yield `segments` grouped by their inputs.

    A server that caches prompt prefixes, which contain the inputs, then reads each source only
    once. Sources come in the order of their first segments; the segments of a source keep their
    order. The same inputs in another order count as another source, since their prompt differs. All
    segments are read before the first is yielded.

    Raises `DataError`, naming the row, if a segment cannot be stored, such as a meta that is nested
    too deeply. Raises `StoreError` if the temporary file of the segments cannot be written, which
    takes about as much room as the texts, each source once.
    """
    with open_scratch(_TABLES) as scratch:
        for number, segment in enumerate(segments):
            _put(scratch, segment, number)
        scratch.execute(_INDEX)
        for source, written in scratch.execute(_SOURCES):
            inputs = json.loads(written.decode("utf-8", "surrogatepass"))
            for (row,) in scratch.execute(_SEGMENTS, (source,)):
                yield replace(pickle.loads(row), inputs=inputs)  # noqa: S301  written by `_put`


def _put(scratch: sqlite3.Connection, segment: Segment, number: int) -> None:
    # As UTF-8, so that a pair of surrogates, which escapes would join, is restored as it was.
    inputs = json.dumps(dict(segment.inputs), ensure_ascii=False).encode("utf-8", "surrogatepass")
    digest = blake2b(inputs, digest_size=16).digest()
    try:
        row = pickle.dumps(replace(segment, inputs={}))
    except (pickle.PicklingError, AttributeError, TypeError, ValueError, RecursionError) as error:
        raise DataError(f"row {segment.segment_id!r} cannot be stored: {error}") from error
    scratch.execute(_PUT_SOURCE, (number, digest, inputs))
    scratch.execute(_PUT_SEGMENT, (number, row, digest))
