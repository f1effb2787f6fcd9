"""Tables of other libraries, and chunks, which are ranges of rows that can be read separately."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import accumulate, islice
from pathlib import Path
from typing import Any

from spanjury.adapters.files.limits import USUAL, DataLimits
from spanjury.adapters.files.lines import decoded_line
from spanjury.adapters.files.locations import Location, accessing, find_location
from spanjury.adapters.files.reading.column_map import AS_NAMED, ColumnMap
from spanjury.adapters.files.reading.row_values import plain, without_bytes
from spanjury.adapters.files.reading.sources import segments_of
from spanjury.adapters.files.strict_json import parse_json
from spanjury.judges.core import DataError, Segment
from spanjury.judges.core.lazy import library

_EXTRA = "datasets"
_BATCH = 16  # rows that are unpacked at once, few because a few bytes may unpack to many long rows
CHUNK_ROWS = 64
"""Rows per chunk by default: with models, minutes of work."""

_PARQUET = ".parquet"
_ENDINGS = (".jsonl", _PARQUET)
_GZIP_MAGIC = b"\x1f\x8b"


def read_parquet_file(
    path: Path, /, *, columns: ColumnMap = AS_NAMED, limits: DataLimits = USUAL
) -> Iterator[Segment | DataError]:
    """Read a Parquet file; its columns are the keys that `sources.read_jsonl` reads.

    Raises `ConfigError` if pyarrow is not installed. Raises `DataError` at once if the file
    cannot be read or has no rows.
    """
    file = find_location(str(path))
    try:
        total = count_parquet(file, limits=limits)
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: is not a Parquet file: {error}") from error
    rows = read_parquet(file, start=0, stop=total, limits=limits)
    return map(_countable, segments_of(path, rows, columns=columns, unit="row"))


def read_dataset(path: Path, /, *, columns: ColumnMap = AS_NAMED) -> Iterator[Segment | DataError]:
    """Read a dataset of the library ``datasets``.

    `path` is ``hf:`` and then a folder written by ``save_to_disk``, or the name of a dataset, which
    the library downloads if needed. A split may follow after ``@``; the default is ``test``.

    Raises `ConfigError` if the library is not installed. Raises `DataError`, with the library's
    message, if there is no such dataset or split.
    """
    where, _, split = str(path).removeprefix("hf:").partition("@")
    datasets = library("datasets", extra=_EXTRA)  # its import takes seconds
    try:
        if Path(where).is_dir():
            rows = datasets.load_from_disk(where)
            rows = rows[split or "test"] if isinstance(rows, dict) else rows  # or one split
        else:
            rows = datasets.load_dataset(where, split=split or "test")
    except Exception as error:  # the library, or a dataset's own code, may raise anything
        raise DataError(f"dataset {where!r} cannot be read: {error}") from error
    numbered = enumerate(rows, start=1)
    return map(_countable, segments_of(path, numbered, columns=columns, unit="row"))


def _countable(segment: Segment | DataError) -> Segment | DataError:
    """Return a segment whose meta fits into JSON: bytes, such as images, become their length."""
    if isinstance(segment, DataError) or not segment.meta:
        return segment
    meta = {key: without_bytes(value) for key, value in segment.meta.items()}
    return replace(segment, meta=meta)


def count_parquet(file: Location, *, limits: DataLimits = USUAL) -> int:
    """Return the number of rows of a file; only its footer is read.

    Raises `DataError` if it has too many columns, or its footer states too many unpacked bytes.
    """
    with _opened(file) as table:
        whole = table.metadata
        if whole.num_columns > limits.columns:
            raise limits.exceeded("columns", f"there are {whole.num_columns} columns")
        groups = range(whole.num_row_groups)
        if sum(whole.row_group(group).total_byte_size for group in groups) > limits.unpacked:
            raise limits.exceeded("unpacked", "it unpacks to too many bytes")
        return int(whole.num_rows)


def read_parquet(
    file: Location, *, start: int, stop: int, limits: DataLimits = USUAL
) -> Iterator[tuple[int, object]]:
    """Yield the rows from `start` to `stop`, exclusive, each with its number counted from 1.

    Rows have the types of JSON: maps and structs become objects. Rows before `start` in the same
    row group are unpacked and skipped. A row that is too long becomes a `DataError`.
    """
    with _opened(file) as table:
        lengths = [
            table.metadata.row_group(group).num_rows for group in range(table.num_row_groups)
        ]
        skipped = sum(end <= start for end in accumulate(lengths))
        before = sum(lengths[:skipped])
        groups = range(skipped, len(lengths))
        for batch in table.iter_batches(batch_size=_BATCH, row_groups=groups):
            low = min(max(start - before, 0), batch.num_rows)
            high = max(min(stop - before, batch.num_rows), low)
            for index in range(low, high):
                yield before + index + 1, _row(batch.slice(index, 1), limits)
            before += batch.num_rows
            if before >= stop:
                return


def _row(batch: Any, limits: DataLimits) -> object:  # noqa: ANN401  pyarrow has no types
    """Return the row of a batch of length one, or a `DataError` if it is too long."""
    if batch.nbytes > limits.row:
        return limits.exceeded("row", f"the row takes {batch.nbytes} bytes")
    (row,) = batch.to_pylist(maps_as_pydicts="strict")
    return plain(row)


@contextmanager
def _opened(file: Location) -> Iterator[Any]:
    parquet = library("pyarrow.parquet", extra=_EXTRA)  # its import takes half a second
    with file.files.open(file.path, "rb") as opened, parquet.ParquetFile(opened) as table:
        yield table


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Consecutive rows of one file; `number` is the chunk's index among all chunks.

    `url` is valid in any working directory. `line` is the line of the first row, counted from 1; in
    a Parquet file it is its row number. `start` and `stop` are a half-open range of bytes, or of
    rows in a Parquet file. `owner` is a prefix for the names of rows without an ``id``, used when
    there may be several files. Its rows are read with `limits`.
    """

    number: int = 0
    url: str
    line: int
    start: int
    stop: int
    rows: int
    owner: str = ""
    limits: DataLimits = USUAL


def cut_chunks(
    data: str,
    *,
    rows: int = CHUNK_ROWS,
    limit: int | None = None,
    limits: DataLimits = USUAL,
) -> Iterator[Chunk]:
    """Split files into chunks; the same files always give the same chunks.

    `data` is the path or URL of a JSONL or Parquet file, of a folder of such files (its subfolders
    are not read), or a pattern with ``*``, ``?`` and ``[…]``. A chunk has `rows` rows, except that
    the last of a file may have fewer. `limit` is the maximum number of rows of all chunks.

    Chunks are in the order of their rows, and files in the order of their paths. A JSONL file is
    scanned for line ends, without parsing rows.

    Raises `DataError` if there is no such file, if one cannot be read, is compressed or of another
    kind, or if no file has rows. Raises `ConfigError` if a URL is of an unknown kind, or the
    library that reads it is missing.
    """
    cut = 0
    for number, chunk in enumerate(_cut_files(find_location(data), rows, limits)):
        kept = chunk.rows if limit is None else min(chunk.rows, limit - cut)
        yield replace(chunk, number=number, rows=kept)
        cut += kept
        if cut == limit:
            return
    if not cut:
        raise DataError(f"{data}: has no rows")


def read_chunk(chunk: Chunk) -> Iterator[Segment | DataError]:
    """Read the rows of a chunk, as the source for the whole file would.

    Yields one segment or fault per row, in order. A row without an ``id`` is called ``line-N``,
    after the name of its file if the chunk has an owner. A row that lacks an input has the shape of
    the chunk's earlier rows, not of the file's. If two rows of the chunk have the same id,
    the second is a fault.

    Raises `DataError` if the file cannot be read.
    """
    file = find_location(chunk.url)
    unit = "row" if file.path.endswith(_PARQUET) else "line"
    with accessing(file):
        rows = (
            (line, _named(row, chunk.owner, line=line))
            for line, row in islice(_rows(file, chunk), chunk.rows)
        )
        yield from map(_countable, segments_of(file.url, rows, columns=AS_NAMED, unit=unit))


def _cut_files(location: Location, rows: int, limits: DataLimits) -> Iterator[Chunk]:
    with accessing(location):
        files = location.listing()
    for file, owner in [(location, "")] if files is None else files:
        if file.path.endswith(".jsonl.gz"):
            raise _packed(file)
        if file.path.endswith(_ENDINGS):
            is_parquet = file.path.endswith(_PARQUET)
            with accessing(file):
                cut = _cut_parquet(file, rows, limits) if is_parquet else _cut_jsonl(file, rows)
                yield from (replace(chunk, owner=owner, limits=limits) for chunk in cut)
        elif files is None:
            raise DataError(f"{file.url}: only {' and '.join(_ENDINGS)} can be cut into chunks")


def _packed(file: Location) -> DataError:
    return DataError(f"{file.url}: is packed with gzip and cannot be cut into chunks: unpack it")


def _cut_parquet(file: Location, rows: int, limits: DataLimits) -> Iterator[Chunk]:
    total = count_parquet(file, limits=limits)
    for start in range(0, total, rows):
        stop = min(start + rows, total)
        yield Chunk(url=file.url, line=start + 1, start=start, stop=stop, rows=stop - start)


def _cut_jsonl(file: Location, rows: int) -> Iterator[Chunk]:
    first, start, stop, seen = 1, 0, 0, 0
    with file.files.open(file.path, "rb") as lines:
        for number, raw in enumerate(lines, start=1):
            if number == 1 and raw.startswith(_GZIP_MAGIC):
                raise _packed(file)
            stop += len(raw)
            line = decoded_line(raw, number=number)
            seen += bool(line.fault or line.text.rstrip())  # as `_rows` counts them
            if seen == rows:
                yield Chunk(url=file.url, line=first, start=start, stop=stop, rows=seen)
                first, start, seen = number + 1, stop, 0
    if seen:
        yield Chunk(url=file.url, line=first, start=start, stop=stop, rows=seen)


def _rows(file: Location, chunk: Chunk) -> Iterator[tuple[int, object]]:
    """Yield each row with its number; an unreadable row becomes a `DataError`."""
    if file.path.endswith(_PARQUET):
        yield from read_parquet(file, start=chunk.start, stop=chunk.stop, limits=chunk.limits)
        return
    data = file.files.cat_file(file.path, start=chunk.start, end=chunk.stop)
    for line, raw in enumerate(io.BytesIO(data), start=chunk.line):
        _, text, fault = decoded_line(raw, number=line)
        try:
            if fault:
                yield line, DataError(fault)
            elif text := text.rstrip():
                yield line, parse_json(text, depth=chunk.limits.depth)
        except DataError as error:
            yield line, error


def _named(row: object, owner: str, *, line: int) -> object:
    """Return a row, with an id made of its file and line if it has none."""
    if owner and isinstance(row, dict) and row.get("id") is None:
        return {**row, "id": f"{owner}:line-{line}"}
    return row
