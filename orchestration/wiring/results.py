"""Open files of results and of segments for writing."""

from pathlib import Path

from spanjury.adapters.files.reading.rows import write_segments
from spanjury.adapters.files.results.results import ResultWriter, result_line, result_row

__all__ = [
    "open_results",
    "result_line",
    "result_row",
    "write_segments",
]


def open_results(path: Path) -> ResultWriter:
    """Open a file for result rows, as a context manager; see `ResultWriter`."""
    return ResultWriter(path)
