r"""MQM tables, as published by WMT, read and written: a line for each error that a rater marked.

======== =====================================================================================
severity our severity
======== =====================================================================================
Neutral  not an error: it is kept in the segment's meta, under ``neutral``
Minor    2
Major    4; 5 if the category is Non-translation, which weighs five times as much in MQM
Critical 5
(empty)  None
======== =====================================================================================

``<v>`` in the target marks the error. Without it the error is an omission, which has no offsets;
only a Non-translation then covers the whole target. Marks in the source are kept in the meta,
under ``source_marks``, as ``[index of the span, start, end]``. The lines of all raters of a
segment are merged into one: a span is found by its rater, and ``annotators`` in the meta lists
all raters.

The format has no quoting. A tab, a line end or a backslash in a text is written as ``\t``,
``\n``, ``\r`` or ``\\``; a backslash before any other character stands for itself.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from spanjury.adapters.files.annotations.annotators import (
    ANNOTATORS,
    annotators_of,
    collected,
    joined,
)
from spanjury.adapters.files.limits import USUAL, DataLimits
from spanjury.adapters.files.line_writer import LineWriter
from spanjury.adapters.files.lines import read_lines
from spanjury.adapters.files.reading.checked_rows import SEVERITIES
from spanjury.judges.core import MAX_SEVERITY, DataError, ErrorSpan, Located, Segment

_BEGIN, _END = "<v>", "</v>"
_MARK = re.compile(r"(</?v>)")
_ESCAPED = {r"\\": "\\", r"\t": "\t", r"\n": "\n", r"\r": "\r"}
_ESCAPES = str.maketrans({text: escape for escape, text in _ESCAPED.items()})
_ESCAPE = re.compile(r"\\[\\tnr]")
_Marked = tuple[str, tuple[tuple[int, int], ...]]
"""A text without marks, and the half-open offsets of its marks, empty ones included."""


class _Row(NamedTuple):
    system: str
    doc: str
    doc_id: str
    seg_id: str
    rater: str
    source: str
    target: str
    category: str
    severity: str


COLUMNS = _Row._fields
_SOURCE = "Source"
"""Name of the input that holds the source text."""
_NO_ERROR = "No-error"
NEUTRAL, SOURCE_MARKS = "neutral", "source_marks"
_WORDS = {"minor": "Minor", "major": "Major", "critical": "Critical", "": ""}
"""Severities of errors in lower case -> as they are written."""
_OTHER_NAMES = {"docSegId": "doc_id", "globalSegId": "seg_id"}
_NON_TRANSLATION = "non-translation"
_Intervals = Sequence[tuple[int, int]]
_NAMELESS = "Other"
"""Category written for errors without one: an empty cell would mean that there was no rater."""


def read_mqm(path: Path, /, *, limits: DataLimits = USUAL) -> Iterator[Segment | DataError]:
    """Read a table in UTF-8, plain or gzip, with or without a header.

    Its columns are those of `COLUMNS`, or the MQM Viewer's ``docSegId`` and ``globalSegId``; any
    further columns are ignored. The module's docstring lists the escapes.

    Yields all faulty lines first, then the segments in the order of their first lines; the whole
    file is held in memory.

    Raises `DataError` at once if the file does not exist, cannot be read, or has no rows.
    """
    return collected(path, _rows(path, limits), merge=_merged)


def _rows(path: Path, limits: DataLimits) -> Iterator[tuple[int, Segment | DataError]]:
    order: Sequence[int] = range(len(COLUMNS))
    for line in read_lines(path, limits=limits):
        cells = line.text.rstrip("\r\n").split("\t", limits.columns)
        if line.number == 1 and cells[:2] == ["system", "doc"]:
            order = _order(path, cells)
        elif line.fault:
            yield line.number, DataError(line.fault)
        elif cells != [""]:
            try:
                yield line.number, _segment(_row(cells, order))
            except DataError as error:
                yield line.number, error


def _order(path: Path, header: Sequence[str]) -> Sequence[int]:
    names = [_OTHER_NAMES.get(name, name) for name in header]
    lacking = [name for name in COLUMNS if name not in names]
    if lacking:
        problem = f"there is no column {', '.join(lacking)}, only {', '.join(header)}"
        raise DataError(f"{path}, line 1: {problem}")
    return [names.index(name) for name in COLUMNS]


def _row(cells: Sequence[str], order: Sequence[int]) -> _Row:
    if len(cells) <= max(order):
        raise DataError(f"got {len(cells)} cells, expected {', '.join(COLUMNS)}")
    return _Row(*(unescaped(cells[column]) for column in order))


def _segment(row: _Row) -> Segment:
    """Return the segment of one line: no error, one error, or one error with several marks."""
    source, source_marks = unmark(row.source)
    target, marks = unmark(row.target)
    category, severity = row.category.strip(), row.severity.strip().casefold()
    meta: dict[str, object] = {"doc": row.doc, "doc_id": row.doc_id, "seg_id": row.seg_id}
    segment = Segment(
        segment_id=f"{row.system}/{row.doc}/{row.doc_id}/{row.seg_id}",
        output=target,
        inputs={_SOURCE: source},
        task="translation",
        system=row.system,
        meta=meta,
    )
    if row.rater:
        meta[ANNOTATORS] = [row.rater]
    if _NO_ERROR.casefold() in {category.casefold(), severity} or not (row.rater or category):
        return segment
    if severity == NEUTRAL:
        opinion: dict[str, object] = {"annotator": row.rater, "category": category}
        for name, intervals in (("target", marks), ("source", source_marks)):
            if intervals:
                opinion[name] = [*map(list, intervals)]
        meta[NEUTRAL] = [opinion]
        return segment
    if source_marks:
        meta[SOURCE_MARKS] = [[0, *interval] for interval in source_marks]
    return replace(segment, gold=_spans(row, target, marks, category=category, severity=severity))


def _spans(
    row: _Row, target: str, marks: _Intervals, *, category: str, severity: str
) -> tuple[ErrorSpan, ...]:
    if severity not in _WORDS:
        words = ", ".join(filter(None, (*_WORDS.values(), "Neutral", _NO_ERROR)))
        raise DataError(f"got the severity {row.severity!r}, expected one of {words}")
    number = SEVERITIES[severity] if severity else None
    intervals: list[tuple[int, int] | None] = [
        interval for interval in marks if interval[0] < interval[1]
    ]
    if _is_non_translation(category):
        number = MAX_SEVERITY
        intervals = intervals or [(0, len(target))] * bool(target)

    def span(interval: tuple[int, int] | None) -> ErrorSpan:
        start, end = interval or (None, None)
        return ErrorSpan(
            text=target[start:end] if interval else "",
            start=start,
            end=end,
            explanation="",
            severity=number,
            category=category,
            located=Located.EXACT if interval else Located.UNLOCATED,
            found_by=(row.rater,) if row.rater else (),
        )

    return tuple(span(interval) for interval in intervals or [None])


def _merged(first: Segment, second: Segment) -> Segment:
    """Merge two lines of a segment; the span indices of the second are shifted."""
    marks = second.meta.get(SOURCE_MARKS)
    if isinstance(marks, list):
        moved = [[number + len(first.gold), *interval] for number, *interval in marks]
        second = replace(second, meta={**second.meta, SOURCE_MARKS: moved})
    return joined(first, second)


def _is_non_translation(category: str) -> bool:
    """Return whether the category says that no part of the text is a translation."""
    return category.casefold().startswith(_NON_TRANSLATION)


def write_mqm(path: Path, segments: Iterable[Segment]) -> int:
    """Write the gold spans of `segments`, one line each; return the number of lines.

    An annotator who marked nothing gets a ``No-error``. Severities 1 and 2 become Minor, 3 and 4
    Major, and 5 Critical, but any severity of a Non-translation becomes Major; a missing one is an
    empty cell. The format has no columns for explanations, references and scores. The source is the
    input called ``Source``, or else the first one. Document and numbers come from ``doc``,
    ``doc_id`` and ``seg_id`` in the meta; without ``seg_id``, the segment's id is used.

    Raises `StoreError` if the file cannot be written. Raises `DataError`, naming the segment, if a
    text contains ``<v>`` or UTF-8 cannot represent it.
    """
    with LineWriter(path) as lines:
        lines.append_line(_line(COLUMNS))
        for segment in segments:
            try:
                for cells in _written_rows(segment):
                    lines.append_line(_line(cells))
            except (DataError, UnicodeEncodeError) as error:
                raise DataError(f"row {segment.segment_id!r} cannot be written: {error}") from error
        return lines.lines - 1


def _written_rows(segment: Segment) -> Iterator[tuple[str, ...]]:
    source = segment.inputs.get(source_header(segment), "")
    doc, number = (str(segment.meta.get(key, "")) for key in ("doc", "doc_id"))
    names = (segment.system, doc, number, str(segment.meta.get("seg_id", segment.segment_id)))
    for rater in annotators_of(segment) or ("",):
        errors = [*_errors(segment, rater), *_neutral(segment, rater)]
        for error in errors or [_Error((), (), _NO_ERROR, _NO_ERROR)]:
            texts = (mark(source, error.source), mark(segment.output, error.target))
            yield (*names, rater, *texts, error.category, error.severity)


class _Error(NamedTuple):
    source: _Intervals
    target: _Intervals
    category: str
    severity: str


def _errors(segment: Segment, rater: str) -> Iterator[_Error]:
    sources = _source_marks(segment.meta)
    for number, span in enumerate(segment.gold):
        if ";".join(span.found_by) == rater:
            target = [span.interval] if span.interval else []
            yield _Error(sources[number], target, span.category or _NAMELESS, _word(span))


def _word(span: ErrorSpan) -> str:
    if span.severity is None:
        return ""
    if _is_non_translation(span.category):
        return _WORDS["major"]
    return _WORDS[
        next(word for word in ("minor", "major", "critical") if span.severity <= SEVERITIES[word])
    ]


def _source_marks(meta: Mapping[str, object]) -> defaultdict[int, list[tuple[int, int]]]:
    """Return the marks in the source by the index of their span."""
    sources: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    marks = meta.get(SOURCE_MARKS)
    for number, start, end in marks if isinstance(marks, list) else []:
        sources[number].append((start, end))
    return sources


def _neutral(segment: Segment, rater: str) -> Iterator[_Error]:
    """Yield the annotator's Neutral marks, which are not errors."""
    opinions = segment.meta.get(NEUTRAL)
    for opinion in opinions if isinstance(opinions, list) else []:
        if opinion["annotator"] == rater:
            marks = opinion.get("source", ()), opinion.get("target", ())
            yield _Error(*marks, opinion["category"], NEUTRAL.capitalize())


def _line(cells: Iterable[str]) -> bytes:
    return ("\t".join(map(escaped, cells)) + "\n").encode()


def source_header(segment: Segment) -> str:
    """Return the name of the input to write as the source: ``Source``, or else the first one."""
    return _SOURCE if _SOURCE in segment.inputs else next(iter(segment.inputs), _SOURCE)


def mark(text: str, intervals: Iterable[tuple[int, int]]) -> str:
    """Insert marks into a text at intervals that are sorted and do not overlap.

    Raises `DataError` if the text itself contains ``<v>`` or ``</v>``.
    """
    if _MARK.search(text):
        raise DataError(f"the text holds {_BEGIN} or {_END}, which marks errors in this format")
    pieces, done = [], 0
    for start, end in intervals:
        pieces += [text[done:start], _BEGIN, text[start:end], _END]
        done = end
    return "".join([*pieces, text[done:]])


def unmark(text: str) -> _Marked:
    """Remove the marks from a text, and return their offsets.

    Raises `DataError` if a mark is not closed, closed without being open, or nested.
    """
    pieces = _MARK.split(text)
    for number, tag in enumerate(pieces[1::2]):
        if tag != (_BEGIN, _END)[number % 2]:
            raise DataError(f"got {tag} as mark {number + 1}, expected {_BEGIN} and {_END} in turn")
    edges = [*accumulate(len(piece) for piece in pieces[::2])][:-1]
    if len(edges) % 2:
        raise DataError(f"got {_BEGIN} without {_END}")
    return "".join(pieces[::2]), tuple(zip(edges[::2], edges[1::2], strict=True))


def escaped(text: str) -> str:
    """Return `text` escaped for a cell."""
    return text.translate(_ESCAPES)


def unescaped(cell: str) -> str:
    """Return the text of a cell."""
    return _ESCAPE.sub(lambda match: _ESCAPED[match[0]], cell)
