"""Files of results, read back for scores, for spans or whole, and exported to other programs."""

from spanjury.adapters.files.results.exports import (
    MARKED_FORMS,
    SPAN_COLUMNS,
    Export,
    ExportForm,
    ExportUnit,
    JudgedTexts,
    marked_segments,
    span_records,
)
from spanjury.adapters.files.results.result_rows import (
    ReportedRow,
    ReportedSeat,
    ResultScores,
    ResultSpans,
    SeatWork,
    read_reported_rows,
    read_result_names,
    read_result_scores,
    read_result_spans,
)

__all__ = [
    "MARKED_FORMS",
    "SPAN_COLUMNS",
    "Export",
    "ExportForm",
    "ExportUnit",
    "JudgedTexts",
    "ReportedRow",
    "ReportedSeat",
    "ResultScores",
    "ResultSpans",
    "SeatWork",
    "marked_segments",
    "read_reported_rows",
    "read_result_names",
    "read_result_scores",
    "read_result_spans",
    "span_records",
]
