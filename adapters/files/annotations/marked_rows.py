"""People's marks as rows of data: who marked what, and who read a text and found no error."""

from collections.abc import Iterable
from pathlib import Path

from spanjury.adapters.files.line_writer import LineWriter, json_line
from spanjury.adapters.files.reading.rows import segment_row
from spanjury.judges.core import Segment

MARKS = "marks"
"""Key of a segment's meta that lists who read it for which aspect, with notes."""
SPANS = "spans"
"""Key of a row, and of a segment's meta where they hold more than a segment's own spans do."""


def write_marked_rows(path: Path, segments: Iterable[Segment]) -> int:
    """Write `segments` as JSON Lines; return how many.

    The list under ``spans`` in a segment's meta, which may be empty, is written as the row's own:
    reading the row gives the same meta back.

    Raises `StoreError` if the file cannot be written. Raises `DataError` if a segment holds what
    JSON cannot; names it.
    """
    with LineWriter(path, keep_part=False) as lines:
        for segment in segments:
            lines.append(json_line(marked_row(segment), name=segment.segment_id))
        return lines.lines


def marked_row(segment: Segment) -> dict[str, object]:
    """Return the row of a text, ready for JSON, with the spans in its meta as the row's own."""
    row = segment_row(segment)
    meta = {key: value for key, value in segment.meta.items() if key != SPANS}
    if SPANS in segment.meta:
        row[SPANS] = segment.meta[SPANS]
    return {key: value for key, value in row.items() if key != "meta"} | (
        {"meta": meta} if meta else {}
    )
