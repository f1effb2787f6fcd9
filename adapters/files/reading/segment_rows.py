"""Segments as rows of data: what the sources read, written."""

import json
from collections.abc import Iterable
from pathlib import Path

from spanjury.adapters.files.line_writer import LineWriter
from spanjury.judges.core import DataError, ErrorSpan, Segment

__all__ = ["segment_row", "write_segments"]


def segment_row(segment: Segment) -> dict[str, object]:
    """Return the native row of `segment`, without what is empty; see ``docs/data.md``."""
    row: dict[str, object] = {
        "id": segment.segment_id,
        "task": segment.task,
        "system": segment.system,
        "inputs": dict(segment.inputs),
        "output": segment.output,
        "references": list(segment.references),
        "human": {aspect: dict(scores) for aspect, scores in segment.human.items()},
        "spans": [_span(span) for span in segment.gold],
        "meta": dict(segment.meta),
    }
    return {key: value for key, value in row.items() if value or key == "output"}


def write_segments(path: Path, segments: Iterable[Segment]) -> int:
    """Write `segments` as JSON Lines; return how many.

    Raises
    ------
    StoreError
        If the file cannot be written.
    DataError
        If a segment holds what JSON cannot; names it.
    """
    with LineWriter(path, keep_part=False) as lines:
        for segment in segments:
            lines.append(_line(segment))
        return lines.lines


def _line(segment: Segment) -> bytes:
    try:
        row = json.dumps(segment_row(segment), ensure_ascii=False, allow_nan=False)
        return f"{row}\n".encode()
    except (TypeError, ValueError) as error:
        name = segment.segment_id
        raise DataError(f"row {name!r} holds what a file cannot: {error}") from error


def _span(span: ErrorSpan) -> dict[str, object]:
    told: dict[str, object] = {
        "start": span.start,
        "end": span.end,
        "text": span.text,
        "severity": span.severity,
        "category": span.category,
        "explanation": span.explanation,
        "annotator": span.found_by[0] if span.found_by else None,
    }
    return {key: value for key, value in told.items() if value not in {None, ""}}
