"""Read results files: their scores, their spans, or whole rows."""

from spanjury.adapters.files.results.result_rows import (
    ReportedRow,
    ReportedSeat,
    ResultScores,
    ResultSpans,
    SeatWork,
    read_reported_rows,
    read_result_scores,
    read_result_spans,
)

__all__ = [
    "ReportedRow",
    "ReportedSeat",
    "ResultScores",
    "ResultSpans",
    "SeatWork",
    "read_reported_rows",
    "read_result_scores",
    "read_result_spans",
]
