"""Make segments of rows of data, as users write them, and write segments as rows."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import Any

from spanjury.adapters.files.line_writer import LineWriter, json_line
from spanjury.adapters.files.reading.row_values import (
    OTHER_NAMES,
    as_list,
    as_text,
    by_header,
    by_rater,
    documents,
)
from spanjury.adapters.files.reading.shapes import TRAJECTORY, missing_output
from spanjury.adapters.files.reading.trajectories import trajectory_row
from spanjury.adapters.files.strict_json import excerpt
from spanjury.judges.core import DataError, ErrorSpan, Segment, Trajectory
from spanjury.judges.core.lazy import lazily
from spanjury.judges.core.transcript import transcript_of

with lazily():
    from spanjury.adapters.files.reading import checked_rows

_FIELDS = frozenset(
    {"id", "output", "inputs", "task", "system", "references", "human", "spans", "meta"}
)
"""Keys of a native row; `checked_rows.Row` declares their types."""

_QUESTION = "question"

_RENAMED = frozenset({"aspect", _QUESTION, *OTHER_NAMES})
"""Keys whose presence means that a row must be renamed first."""

_TEXT = {str}

_EXACT = 2**53
"""Integers below this are exact as floats."""


def parse_row(row: object, *, line: int) -> Segment:
    """Return the segment described by `row`, whose texts must be encodable (see `parse_json`).

    A row without an ``id`` is called ``line-N`` after its line.

    Raises `DataError` if the row is not an object, has no output, or a field is invalid. The
    message names the field, what was got and what was expected, but not the file and line.
    """
    if not isinstance(row, dict):
        raise DataError(f"got {excerpt(row)}, expected a JSON object")
    if isinstance(trajectory := row.get(TRAJECTORY), Trajectory):
        rest = {key: value for key, value in row.items() if key != TRAJECTORY}
        return replace(parse_row(rest, line=line), trajectory=trajectory)
    is_native = _RENAMED.isdisjoint(row) and None not in row.values()
    native = row if is_native else _native(row)
    if "output" not in native:
        raise DataError(missing_output([*row]))
    segment = _plain_segment(native, line=line)
    return segment or checked_rows.checked_row(native, row=row, line=line)


def _plain_segment(native: Mapping[str, Any], *, line: int) -> Segment | None:
    """Return the segment of a valid row without spans; None if the row is not certainly valid.

    Most rows are valid and have no spans. For them, `checked_rows` returns the same segment, but
    takes several times as long.
    """
    inputs: Any = by_header(native.get("inputs", {}))
    references: Any = as_list(native.get("references", []))
    human = _plain_scores(native["human"]) if "human" in native else {}
    meta = native.get("meta", {})
    parts = (type(inputs), type(references), type(meta))
    if "spans" in native or human is None or parts != (dict, list, dict):
        return None
    identity: Any = as_text(native.get("id", f"line-{line}"))
    output, task, system = native["output"], native.get("task", ""), native.get("system", "")
    texts = chain((identity, output, task, system), inputs, inputs.values(), references, meta)
    if {*map(type, chain(texts, native))} != _TEXT or not identity:
        return None
    unknown = {name: value for name, value in native.items() if name not in _FIELDS}
    return Segment(
        segment_id=identity,
        output=output,
        inputs=inputs,
        task=task,
        references=tuple(references),
        system=system,
        human=human,
        meta=unknown | meta if meta else unknown,
    )


def _plain_scores(human: object) -> dict[str, dict[str, float]] | None:
    """Return aspect -> rater -> score; None if the scores are not certainly valid."""
    rated = by_rater(human)
    if type(rated) is not dict:
        return None
    names = chain(rated, *rated.values())
    scores = chain.from_iterable(scores.values() for scores in rated.values())
    if not all(type(name) is str for name in names) or not all(map(_is_plain_score, scores)):
        return None
    return {
        aspect: {rater: float(score) for rater, score in scores.items()}
        for aspect, scores in rated.items()
    }


def _is_plain_score(score: object) -> bool:
    if type(score) is int:
        return -_EXACT < score < _EXACT
    return type(score) is float and isfinite(score)


def _native(row: Mapping[str, object]) -> dict[str, object]:
    """Rename aliases to their keys; drop our keys if they are null."""
    native = {key: value for key, value in row.items() if value is not None or key not in _FIELDS}
    for other, name in OTHER_NAMES.items():
        if row.get(other) is not None and name not in row and name not in native:
            native[name] = native.pop(other)
    if native.get(_QUESTION) is not None:
        _add_question(native)
    aspect = native.get("aspect")
    if isinstance(aspect, str) and isinstance(native.get("human"), int | float):
        native["human"] = {native.pop("aspect"): native["human"]}
    return native


def _add_question(native: dict[str, object]) -> None:
    """Make the question an input, unless there is one already; a source without a header gets one.

    Every task has a source, and only without a named task does its header decide the task.
    """
    inputs = native.get("inputs", {})
    if not isinstance(inputs, dict):
        inputs = documents(inputs) or {"Source" if native.get("task") else "Context": inputs}
    if not any(str(header).strip().casefold() == _QUESTION for header in inputs):
        native["inputs"] = {"Question": native.pop(_QUESTION), **inputs}


def write_segments(
    path: Path,
    segments: Iterable[Segment],
    *,
    row_of: Callable[[Segment], dict[str, object]] | None = None,
) -> int:
    """Write `segments` as JSON Lines, each as its native row or as `row_of`; return how many.

    Raises `StoreError` if the file cannot be written. Raises `DataError`, naming the segment, if
    JSON cannot represent one.
    """
    with LineWriter(path) as lines:
        for segment in segments:
            row = (row_of or segment_row)(segment)
            lines.append_line(json_line(row, name=segment.segment_id))
        return lines.lines


def segment_row(segment: Segment) -> dict[str, object]:
    """Return the native row of `segment` without empty fields; see ``docs/data.md``.

    A trajectory is written as its messages and tools, which replace output and inputs.
    """
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
    if segment.trajectory and transcript_of(segment):
        del row["inputs"], row["output"]
        row |= trajectory_row(segment.trajectory)
    return {key: value for key, value in row.items() if value or key == "output"}


def _span(span: ErrorSpan) -> dict[str, object]:
    row: dict[str, object] = {
        "start": span.start,
        "end": span.end,
        "text": span.text,
        "severity": span.severity,
        "category": span.category,
        "explanation": span.explanation,
        "annotator": span.found_by[0] if span.found_by else None,
    }
    return {key: value for key, value in row.items() if value not in {None, ""}}
