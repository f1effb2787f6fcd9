"""Parquet files, row by row."""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import accumulate
from typing import Any

from spanjury.adapters.files.places import Place

__all__ = ["count_parquet", "read_parquet"]


def count_parquet(file: Place) -> int:
    """Return how many rows a file has; only its end is read."""
    with _opened(file) as table:
        return int(table.metadata.num_rows)


def read_parquet(file: Place, *, start: int, stop: int) -> Iterator[tuple[int, object]]:
    """Yield rows `start` up to `stop`, each with its number counted from 1.

    A row is what JSON would have made of it: maps and structures are objects. Whatever
    stands before `start` in its row group is unpacked and passed over.
    """
    with _opened(file) as table:
        lengths = [
            table.metadata.row_group(group).num_rows for group in range(table.num_row_groups)
        ]
        skipped = sum(end <= start for end in accumulate(lengths))
        before = sum(lengths[:skipped])
        groups = range(skipped, len(lengths))
        for batch in table.iter_batches(batch_size=stop - start, row_groups=groups):
            low = min(max(start - before, 0), batch.num_rows)
            high = max(min(stop - before, batch.num_rows), low)
            rows = batch.slice(low, high - low).to_pylist(maps_as_pydicts="strict")
            yield from enumerate(rows, start=before + low + 1)
            before += batch.num_rows
            if before >= stop:
                return


@contextmanager
def _opened(file: Place) -> Iterator[Any]:
    library = importlib.import_module("pyarrow.parquet")  # it takes half a second
    with file.files.open(file.path, "rb") as opened, library.ParquetFile(opened) as table:
        yield table
