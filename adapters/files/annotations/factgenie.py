"""factgenie's JSON Lines: outputs, and what annotators marked in them.

A line is one output, or one annotator's spans in it, beside the output. ``type`` is the number
of a category, whose names are ``annotation_span_categories`` in the line's metadata; without
them the category is the number. A severity, which factgenie has not, is an annotation's
``severity`` here; spans without a place are ``unlocated`` in the metadata, in the same form.
"""

from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from spanjury.adapters.files.annotations.gathering import ANNOTATORS, gathered
from spanjury.adapters.files.limits import USUAL, DataLimits
from spanjury.adapters.files.lines import read_lines
from spanjury.adapters.files.reading.gold import GoldSpan
from spanjury.adapters.files.strict_json import excerpt, parse_json
from spanjury.judges.core import DataError, ErrorSpan, Segment

__all__ = ["CATEGORIES", "UNLOCATED", "read_factgenie"]

CATEGORIES, UNLOCATED = "annotation_span_categories", "unlocated"


class _Category(BaseModel):
    name: str


class _Annotation(BaseModel):
    """One marked span; each field's description says what it must be."""

    model_config = ConfigDict(strict=True)

    type: int | str = Field(default="", description="a number, or a text")
    text: str = Field(default="", description="a text")
    start: int | None = Field(default=None, description="a whole number")
    reason: str | None = Field(default=None, description="a text")
    severity: int | None = Field(default=None, description="1 to 5")


class _Metadata(BaseModel):
    annotator_id: str | int | None = None
    annotator_group: str | int | None = None
    annotation_span_categories: list[_Category] = []
    unlocated: list[_Annotation] = []


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


def read_factgenie(path: Path, /, *, limits: DataLimits = USUAL) -> Iterator[Segment | DataError]:
    """Read outputs with or without annotations, plain or gzip.

    Returns
    -------
    Iterator
        First every fault, then the segments in the order of their first lines; the file is in
        memory as a whole. ``annotators`` in a segment's meta lists who annotated it, with or
        without marking anything; it is not there for an output without annotations.

    Raises
    ------
    DataError
        At once, if there is no such file, it cannot be read, or it has no rows.
    """
    return gathered(path, _rows(path, limits))


def _rows(path: Path, limits: DataLimits) -> Iterator[tuple[int, Segment | DataError]]:
    for line in read_lines(path, limits=limits):
        if line.fault:
            yield line.number, DataError(line.fault)
        elif text := line.text.strip():
            try:
                yield line.number, _segment(parse_json(text, depth=limits.depth))
            except DataError as error:
                yield line.number, error


def _segment(row: object) -> Segment:
    """Return what one line says."""
    try:
        line = _Line.model_validate(row)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_context=False)[0]
        place = ".".join(map(str, problem["loc"]))
        raise DataError(f"{place}: got {excerpt(problem['input'])}: {problem['msg']}") from error
    meta: dict[str, object] = {
        "dataset": line.dataset,
        "split": line.split,
        "example_idx": line.example_idx,
    }
    who = _annotator(line)
    if line.annotations is not None:
        meta[ANNOTATORS] = [who]
    return Segment(
        segment_id=f"{line.dataset}/{line.split}/{line.setup_id}/{line.example_idx}",
        output=line.output,
        system=line.setup_id,
        gold=tuple(_spans(line, who)),
        meta=meta,
    )


def _annotator(line: _Line) -> str:
    """Return who annotated: the id where there is one, or else the group, as factgenie has it."""
    given = (
        line.metadata.annotator_id,
        line.annotator_id,
        line.metadata.annotator_group,
        line.annotator_group,
    )
    return next((str(one) for one in given if one not in {None, ""}), "")


def _spans(line: _Line, who: str) -> Iterator[ErrorSpan]:
    names = [category.name for category in line.metadata.annotation_span_categories]
    for one in [*(line.annotations or ()), *line.metadata.unlocated]:
        known = isinstance(one.type, int) and 0 <= one.type < len(names)
        span = GoldSpan(
            start=one.start,
            end=None if one.start is None else one.start + len(one.text),
            text=one.text,
            explanation=one.reason,
            severity=one.severity,
            category=names[int(one.type)] if known else str(one.type),
            annotator=who or None,
        )
        yield span.error_span(line.output)
