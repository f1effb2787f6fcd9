"""Tables of other libraries, row by row: Parquet files and Hugging Face datasets."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from typing import Any

from spanjury.adapters.files.limits import USUAL, DataLimits
from spanjury.adapters.files.places import Location, find_place
from spanjury.adapters.files.reading.column_map import AS_NAMED, ColumnMap
from spanjury.adapters.files.reading.sources import segments_of
from spanjury.judges.core import DataError, Segment
from spanjury.judges.core.lazy import library

_EXTRA = "datasets"
_BATCH = 16  # rows that are unpacked at once: a few bytes may stand for many long rows


def read_parquet_file(
    path: Path, /, *, columns: ColumnMap = AS_NAMED, limits: DataLimits = USUAL
) -> Iterator[Segment | DataError]:
    """Read a Parquet file, whose columns are the keys that `sources.read_jsonl` reads.

    Raises `ConfigError` if pyarrow is not installed. Raises `DataError` at once, if the file
    cannot be read or has no rows.
    """
    file = find_place(str(path))
    try:
        total = count_parquet(file, limits=limits)
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: is not a Parquet file: {error}") from error
    return segments_of(
        path, read_parquet(file, start=0, stop=total, limits=limits), columns=columns
    )


def read_dataset(path: Path, /, *, columns: ColumnMap = AS_NAMED) -> Iterator[Segment | DataError]:
    """Read a dataset of the library ``datasets``.

    `path` is ``hf:`` and a folder that ``save_to_disk`` wrote, or the name of a dataset, which the
    library fetches if it has not yet; after an ``@`` the split, ``test`` without one.

    Raises `ConfigError` if the library is not installed. Raises `DataError` if there is no such
    dataset or split; the library says why.
    """
    where, _, split = str(path).removeprefix("hf:").partition("@")
    datasets = library("datasets", extra=_EXTRA)  # it takes seconds
    try:
        if Path(where).is_dir():
            rows = datasets.load_from_disk(where)
            rows = rows[split or "test"] if isinstance(rows, dict) else rows  # or one split alone
        else:
            rows = datasets.load_dataset(where, split=split or "test")
    except Exception as error:  # whatever the library or a dataset's own code raises
        raise DataError(f"dataset {where!r} cannot be read: {error}") from error
    return segments_of(path, enumerate(iter(rows), start=1), columns=columns)


def count_parquet(file: Location, *, limits: DataLimits = USUAL) -> int:
    """Return how many rows a file has; only its end is read.

    Raises `DataError` if it has too many columns, or says that it unpacks to too many bytes.
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
    """Yield rows `start` up to `stop`, each with its number counted from 1.

    A row is what JSON would have made of it: maps and structures are objects. Whatever
    stands before `start` in its row group is unpacked and passed over. A row that is too
    long is a `DataError` in its place.
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
    """Return the row of a batch of one, or a `DataError` if it is too long."""
    if batch.nbytes > limits.row:
        return limits.exceeded("row", f"the row takes {batch.nbytes} bytes")
    (row,) = batch.to_pylist(maps_as_pydicts="strict")
    return row


@contextmanager
def _opened(file: Location) -> Iterator[Any]:
    parquet = library("pyarrow.parquet", extra=_EXTRA)  # it takes half a second
    with file.files.open(file.path, "rb") as opened, parquet.ParquetFile(opened) as table:
        yield table
