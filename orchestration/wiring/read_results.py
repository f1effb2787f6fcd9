"""Files of results, read back for their scores or their spans."""

from spanjury.adapters.files.results.result_rows import (
    ResultScores,
    ResultSpans,
    SeatWork,
    read_result_scores,
    read_result_spans,
)

__all__ = [
    "ResultScores",
    "ResultSpans",
    "SeatWork",
    "read_result_scores",
    "read_result_spans",
]
