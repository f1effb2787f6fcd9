"""factgenie's JSON Lines, read and written: outputs, and annotators' marks in them.

A line is one output, alone or with one annotator's spans. ``type`` is the index of a category,
whose names are ``annotation_span_categories`` in the line's metadata; without them the category
is the number itself. Some fields are ours, since factgenie has none for them: ``severity`` of an
annotation; its ``probability`` and ``evidence``, which are written but not read; ``unlocated`` in
the metadata, for spans without offsets, in the same form; ``segment_id`` in the metadata, our id
of the output; and ``aspects``, for which the annotator read it.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from spanjury.adapters.files.annotations.annotators import (
    ANNOTATORS,
    READINGS,
    annotators_of,
    checked_row,
    collected,
    json_rows,
)
from spanjury.adapters.files.evidence_rows import evidence_rows, position_row
from spanjury.adapters.files.limits import USUAL, DataLimits
from spanjury.adapters.files.line_writer import LineWriter, json_line
from spanjury.adapters.files.reading.checked_rows import GoldSpan
from spanjury.judges.core import DataError, ErrorSpan, Segment

_CATEGORIES, _UNLOCATED = "annotation_span_categories", "unlocated"
_SETUP = "system"
SEGMENT_ID = "segment_id"
"""Key of a segment's meta, and of a line's metadata: our id of the output."""
_DATASET, _SPLIT = "spanjury", "test"


def read_factgenie(path: Path, /, *, limits: DataLimits = USUAL) -> Iterator[Segment | DataError]:
    """Read outputs with or without annotations, plain or gzip.

    Yields all faulty lines first, then the segments in the order of their first lines; the whole
    file is held in memory. ``annotators`` in a segment's meta lists its annotators, including
    those who marked nothing; an output without annotations does not have it.

    Raises `DataError` at once if the file does not exist, cannot be read, or has no rows.
    """
    return collected(path, json_rows(path, _segments, limits=limits))


def _segments(row: object) -> Iterator[Segment]:
    """Yield what one line says."""
    line = checked_row(_Line, row)
    meta: dict[str, object] = line.model_dump(include={"dataset", "split", "example_idx"})
    who = _annotator(line)
    if line.annotations is not None:
        meta[ANNOTATORS] = [who]
    if line.metadata.segment_id:
        meta[SEGMENT_ID] = line.metadata.segment_id
    if line.metadata.aspects:
        meta[READINGS] = [[who, aspect] for aspect in line.metadata.aspects]
    yield Segment(
        segment_id=f"{line.dataset}/{line.split}/{line.setup_id}/{line.example_idx}",
        output=line.output,
        system=line.setup_id,
        gold=tuple(_spans(line, who)),
        meta=meta,
    )


class _Annotation(BaseModel):
    """One marked span; a field's description is the expectation in error messages."""

    model_config = ConfigDict(strict=True)

    type: int | str = Field(default="", description="a number, or a text")
    text: str = Field(default="", description="a text")
    start: int | None = Field(default=None, description="a whole number")
    reason: str | None = Field(default=None, description="a text")
    severity: int | None = Field(default=None, description="1 to 5")


class _Category(BaseModel):
    name: str


class _Metadata(BaseModel):
    annotator_id: str | int | None = None
    annotator_group: str | int | None = None
    annotation_span_categories: list[_Category] = []
    unlocated: list[_Annotation] = []
    segment_id: str | None = None
    aspects: list[str] = []


class _Line(BaseModel):
    dataset: str
    split: str
    setup_id: str
    example_idx: int | str
    output: str
    metadata: _Metadata = _Metadata()
    annotations: list[_Annotation] | None = None
    annotator_id: str | int | None = None
    annotator_group: str | int | None = None


def _annotator(line: _Line) -> str:
    """Return the annotator: the id if there is one, else the group, as in factgenie."""
    given = (
        line.metadata.annotator_id,
        line.annotator_id,
        line.metadata.annotator_group,
        line.annotator_group,
    )
    return next((str(value) for value in given if value not in {None, ""}), "")


def _spans(line: _Line, who: str) -> Iterator[ErrorSpan]:
    names = [category.name for category in line.metadata.annotation_span_categories]
    for marked in [*(line.annotations or ()), *line.metadata.unlocated]:
        is_listed = isinstance(marked.type, int) and 0 <= marked.type < len(names)
        span = GoldSpan(
            start=marked.start,
            end=None if marked.start is None else marked.start + len(marked.text),
            text=marked.text,
            explanation=marked.reason,
            severity=marked.severity,
            category=names[int(marked.type)] if is_listed else str(marked.type),
            annotator=who or None,
        )
        yield span.error_span(line.output)


def write_factgenie(path: Path, segments: Iterable[Segment]) -> int:
    """Write the gold spans of `segments`, one line per annotator; return the number of lines.

    A segment without annotators becomes a line without ``annotations``. The dataset, split and
    example number come from the meta. The defaults are the task or ``spanjury``, ``test``, and the
    output's index among those of its system.

    Raises `StoreError` if the file cannot be written. Raises `DataError`, naming the segment, if
    JSON or UTF-8 cannot represent one.
    """
    kept = [*segments]
    categories = dict.fromkeys(span.category for segment in kept for span in segment.gold)
    names = _Numbers(
        categories={name: number for number, name in enumerate(categories)},
        groups=defaultdict(count().__next__),
        examples=defaultdict(count),
    )
    with LineWriter(path) as lines:
        for segment in kept:
            for row in _written_rows(segment, names):
                lines.append_line(json_line(row, name=segment.segment_id))
        return lines.lines


class _Numbers(NamedTuple):
    """Numbers that factgenie uses in place of names, the same throughout a file."""

    categories: Mapping[str, int]
    groups: defaultdict[str, int]
    examples: defaultdict[tuple[str, str, str], Iterator[int]]


def _written_rows(segment: Segment, numbers: _Numbers) -> Iterator[dict[str, object]]:
    dataset = str(segment.meta.get("dataset", segment.task or _DATASET))
    group = (dataset, str(segment.meta.get("split", _SPLIT)), segment.system or _SETUP)
    names = dict(zip(("dataset", "split", "setup_id"), group, strict=True))
    example = segment.meta.get("example_idx", next(numbers.examples[group]))
    row: dict[str, object] = {**names, "example_idx": example, "output": segment.output}
    annotators = annotators_of(segment)
    name = {key: value for key, value in segment.meta.items() if key == SEGMENT_ID}
    if not annotators:
        yield {**row, "metadata": name}
    for who in annotators:
        spans = [span for span in segment.gold if ";".join(span.found_by) == who]
        by_whom: dict[str, object] = (
            {"annotator_id": who, "annotator_group": numbers.groups[who]} if who else {}
        )
        metadata: dict[str, object] = {
            **name,
            **by_whom,
            _CATEGORIES: [{"name": name} for name in numbers.categories],
        }
        annotations = [(span, _annotation(span, segment, numbers=numbers)) for span in spans]
        unlocated = [annotation for span, annotation in annotations if span.start is None]
        if unlocated:
            metadata[_UNLOCATED] = unlocated
        readings = segment.meta.get(READINGS)
        of_all = readings if isinstance(readings, list) else []
        if aspects := [aspect for reader, aspect in of_all if reader == who]:
            metadata["aspects"] = aspects
        marked = [annotation for span, annotation in annotations if span.start is not None]
        yield {**row, "metadata": metadata, "annotations": marked, **by_whom}


def _annotation(span: ErrorSpan, segment: Segment, *, numbers: _Numbers) -> dict[str, object]:
    annotation: dict[str, object] = {
        "type": numbers.categories[span.category],
        "text": span.text,
        "start": span.start,
        "reason": span.explanation,
        "severity": span.severity,
        "probability": span.probability,
        "evidence": evidence_rows(span, segment) or None,
        **position_row(span, segment),
    }
    return {key: value for key, value in annotation.items() if value is not None}
