"""Rows with one annotator's marks each, read as one segment per text; and marked rows, written."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from spanjury.adapters.files.limits import DataLimits
from spanjury.adapters.files.lines import filled_lines
from spanjury.adapters.files.reading.rows import segment_row, write_segments
from spanjury.adapters.files.reading.sources import begun
from spanjury.adapters.files.strict_json import excerpt, parse_json
from spanjury.judges.core import DataError, Segment
from spanjury.judges.core.lazy import lazily

with lazily():
    import pydantic

R = TypeVar("R", bound="pydantic.BaseModel")

ANNOTATORS = "annotators"
"""Key of a segment's meta that lists its annotators, including those who marked nothing."""

READINGS = "readings"
"""Key of a segment's meta that lists pairs ``[annotator, aspect]`` for each reading."""

Merge = Callable[[Segment, Segment], Segment]
MARKS = "marks"
"""Key of a segment's meta that lists each reader and aspect, with notes."""
SPANS = "spans"
"""Key of a row and of a segment's meta, for spans with more data than `ErrorSpan` can hold."""


def joined(first: Segment, second: Segment) -> Segment:
    """Merge two rows of one text: their spans, and the lists in their meta, are concatenated.

    Raises `DataError` if their outputs or inputs differ.
    """
    for name, ours, theirs in (
        ("output", first.output, second.output),
        ("inputs", dict(first.inputs), dict(second.inputs)),
    ):
        if ours != theirs:
            raise DataError(f"got the {name} {excerpt(theirs)}, an earlier row has {excerpt(ours)}")
    meta = dict(first.meta)
    for key, value in second.meta.items():
        former = meta.get(key)
        if isinstance(former, list) and isinstance(value, list):
            meta[key] = [*former, *value]
        else:
            meta[key] = value
    if ANNOTATORS in meta:
        meta[ANNOTATORS] = [*dict.fromkeys(_listed(meta))]
    return replace(first, gold=first.gold + second.gold, meta=meta)


def annotators_of(segment: Segment) -> tuple[str, ...]:
    """Return the annotators of a text: those in its meta, and those who marked something."""
    marked = (";".join(span.found_by) for span in segment.gold)
    return tuple(dict.fromkeys([*_listed(segment.meta), *marked]))


def collected(
    path: Path,
    rows: Iterator[tuple[int, Segment | DataError]],
    *,
    merge: Merge = joined,
) -> Iterator[Segment | DataError]:
    """Merge rows with the same id, wherever they are in the file; each row comes with its line.

    Yields the faulty rows first, each with file and line, and then the texts in the order of their
    first rows, because only at the end of the file is every text complete.

    Raises `DataError` at once if there are no rows, or if `rows` raises it before the first one.
    """
    return _collected(path, begun(path, rows), merge)


def _collected(
    path: Path, rows: Iterator[tuple[int, Segment | DataError]], merge: Merge
) -> Iterator[Segment | DataError]:
    texts: dict[str, Segment] = {}
    for line, row in rows:
        try:
            if isinstance(row, DataError):
                raise row
            former = texts.get(row.segment_id)
            texts[row.segment_id] = merge(former, row) if former else row
        except DataError as error:
            yield DataError(f"{path}, line {line}: {error}")
    yield from texts.values()


def json_rows(
    path: Path, read: Callable[[object], Iterable[Segment]], *, limits: DataLimits
) -> Iterator[tuple[int, Segment | DataError]]:
    """Yield what `read` makes of each line of JSON, or the fault in it, with the line's number."""
    for number, text in filled_lines(path, limits=limits):
        if isinstance(text, DataError):
            yield number, text
            continue
        try:
            for segment in read(parse_json(text, depth=limits.depth)):
                yield number, segment
        except DataError as error:
            yield number, error


def checked_row(kind: type[R], row: object, *, strict: bool | None = None) -> R:
    """Return a row as one of its `kind`; raise `DataError`, which names the field, if it is not."""
    try:
        return kind.model_validate(row, strict=strict)
    except pydantic.ValidationError as error:
        problem = error.errors(include_url=False, include_context=False)[0]
        field = ".".join(map(str, problem["loc"]))
        raise DataError(f"{field}: got {excerpt(problem['input'])}: {problem['msg']}") from error


def _listed(meta: Mapping[str, object]) -> Iterator[str]:
    names = meta.get(ANNOTATORS)
    yield from map(str, names if isinstance(names, list) else [])


def write_marked_rows(path: Path, segments: Iterable[Segment]) -> int:
    """Write `segments` as JSON Lines; return how many there are.

    The list ``spans`` in a segment's meta, which may be empty, is written as the row's ``spans``.
    Reading the row returns the same meta.

    Raises `StoreError` if the file cannot be written. Raises `DataError`, naming the segment, if
    JSON cannot represent one.
    """
    return write_segments(path, segments, row_of=marked_row)


def marked_row(segment: Segment) -> dict[str, object]:
    """Return the JSON row of a text, with the spans in its meta as the row's ``spans``."""
    meta = dict(segment.meta)
    spans = {SPANS: meta.pop(SPANS)} if SPANS in meta else {}
    row = segment_row(replace(segment, meta=meta))
    kept = {"meta": row.pop("meta")} if meta else {}
    return row | spans | kept
