"""Tables of other libraries, row by row: Parquet files and Hugging Face datasets."""

import importlib
from collections.abc import Iterator
from pathlib import Path

from spanjury.adapters.files.limits import USUAL, DataLimits
from spanjury.adapters.files.places import find_place
from spanjury.adapters.files.reading.column_map import AS_NAMED, ColumnMap
from spanjury.adapters.files.reading.parquet import count_parquet, read_parquet
from spanjury.adapters.files.reading.sources import segments_of
from spanjury.judges.core import ConfigError, DataError, Segment

__all__ = ["read_dataset", "read_parquet_file"]


def read_parquet_file(
    path: Path, /, *, columns: ColumnMap = AS_NAMED, limits: DataLimits = USUAL
) -> Iterator[Segment | DataError]:
    """Read a Parquet file, whose columns are the keys that `sources.read_jsonl` reads.

    Raises
    ------
    ConfigError
        If pyarrow is not installed.
    DataError
        At once, if the file cannot be read or has no rows.
    """
    place = find_place(str(path))
    try:
        total = count_parquet(place, limits=limits)
    except ImportError as error:
        raise ConfigError(_missing("pyarrow")) from error
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: is no Parquet file: {error}") from error
    return segments_of(
        path, read_parquet(place, start=0, stop=total, limits=limits), columns=columns
    )


def read_dataset(path: Path, /, *, columns: ColumnMap = AS_NAMED) -> Iterator[Segment | DataError]:
    """Read a dataset of the library ``datasets``.

    Parameters
    ----------
    path
        ``hf:`` and a folder that ``save_to_disk`` wrote, or the name of a dataset, which the
        library fetches if it has not yet; after an ``@`` the split, ``test`` without one.
    columns
        What its columns are called.

    Raises
    ------
    ConfigError
        If the library is not installed.
    DataError
        If there is no such dataset or split; the library says why.
    """
    where, _, split = str(path).removeprefix("hf:").partition("@")
    try:
        library = importlib.import_module("datasets")  # it takes seconds
    except ImportError as error:
        raise ConfigError(_missing("datasets")) from error
    try:
        if Path(where).is_dir():
            rows = library.load_from_disk(where)
            rows = rows[split or "test"] if isinstance(rows, dict) else rows  # or one split alone
        else:
            rows = library.load_dataset(where, split=split or "test")
    except Exception as error:  # whatever the library or a dataset's own code raises
        raise DataError(f"dataset {where!r} cannot be read: {error}") from error
    return segments_of(path, enumerate(iter(rows), start=1), columns=columns)


def _missing(library: str) -> str:
    return f"{library} is not installed: pip install 'spanjury[datasets]'"
