"""Open files of results and segments for writing; refuse an output that would replace the data."""

from pathlib import Path

from spanjury.adapters.files.reading.rows import write_segments
from spanjury.adapters.files.results.results import ResultWriter, result_line, result_row
from spanjury.judges.core import ConfigError

__all__ = [
    "ResultWriter",
    "check_output",
    "result_line",
    "result_row",
    "write_segments",
]


_TABLES = frozenset({".csv", ".tsv", ".xlsx", ".parquet"})


def check_output(output: Path, *data: object) -> None:
    """Raise `ConfigError` if `output` is a file of `data`, which would be lost, or names a table.

    Only files can be lost: rows and the name of a set pass.
    """
    if output.suffix.lower() in _TABLES:
        raise ConfigError(
            f"{output}: rows are written as JSON Lines; name a .jsonl file (`spanjury export` makes"
            " .csv and .tsv of results)"
        )
    paths = [Path(each) for each in data if isinstance(each, str | Path)]
    for path in paths:
        if path.exists() and output.exists() and output.samefile(path):
            raise ConfigError(f"{output} is the file that is read: name another with -o")
