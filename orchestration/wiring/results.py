"""Paths become files of results and of segments, to write and to read."""

from pathlib import Path

from spanjury.adapters.files.reading.rows import write_segments
from spanjury.adapters.files.results.result_rows import (
    ResultScores,
    ResultSpans,
    SeatWork,
    read_result_scores,
    read_result_spans,
)
from spanjury.adapters.files.results.results import ResultWriter, result_line, result_row

__all__ = [
    "ResultScores",
    "ResultSpans",
    "SeatWork",
    "open_results",
    "read_result_scores",
    "read_result_spans",
    "result_line",
    "result_row",
    "write_segments",
]


def open_results(path: Path) -> ResultWriter:
    """Open a file for result rows, for ``with``; see `ResultWriter`."""
    return ResultWriter(path)
