"""MQM tables, as WMT publishes them: one line for each error that a rater marked.

======== =====================================================================================
severity what becomes of it
======== =====================================================================================
Neutral  worth 0, no error: it is kept in the segment's meta, under ``neutral``
Minor    2
Major    4; 5 where the category is Non-translation, which counts five times as much there
Critical 5
(empty)  None
======== =====================================================================================

A ``<v>`` in the target says where an error is. One without it is an omission and has no place,
but a Non-translation is the whole target; marks in the source are kept in the meta, under
``source_marks``, as ``[number of the span, start, end]``. The lines of all raters of a segment
become one: the rater is who found a span, and ``annotators`` in the meta lists all of them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from spanjury.adapters.files.annotations.gathering import ANNOTATORS, gathered, joined
from spanjury.adapters.files.annotations.mqm_text import unescaped, unmark
from spanjury.adapters.files.limits import USUAL, DataLimits
from spanjury.adapters.files.lines import read_lines
from spanjury.adapters.files.reading.gold import SEVERITIES
from spanjury.judges.core import MAX_SEVERITY, DataError, ErrorSpan, Located, Segment

__all__ = [
    "COLUMNS",
    "NEUTRAL",
    "NO_ERROR",
    "SOURCE",
    "SOURCE_MARKS",
    "WORDS",
    "is_non_translation",
    "read_mqm",
]

COLUMNS = (
    "system",
    "doc",
    "doc_id",
    "seg_id",
    "rater",
    "source",
    "target",
    "category",
    "severity",
)
SOURCE = "Source"
"""The header of the input."""
NO_ERROR = "No-error"
NEUTRAL, SOURCE_MARKS = "neutral", "source_marks"
WORDS = MappingProxyType({"minor": "Minor", "major": "Major", "critical": "Critical", "": ""})
"""The severities of errors as we know them -> as they are written."""

_OTHER_NAMES = MappingProxyType({"docSegId": "doc_id", "globalSegId": "seg_id"})
_NON_TRANSLATION = "non-translation"


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


def read_mqm(path: Path, /, *, limits: DataLimits = USUAL) -> Iterator[Segment | DataError]:
    """Read a table in UTF-8, plain or gzip, with or without a row that names the columns.

    Columns are those of `COLUMNS`, or the MQM Viewer's ``docSegId``, ``globalSegId`` and further
    ones, which are not read. Escapes are those of `mqm_text`.

    Returns
    -------
    Iterator
        First every fault, then the segments in the order of their first lines; the file is in
        memory as a whole.

    Raises
    ------
    DataError
        At once, if there is no such file, it cannot be read, or it has no rows.
    """
    return gathered(path, _rows(path, limits), merge=_merged)


def is_non_translation(category: str) -> bool:
    """Tell whether an error is that nothing in the text is a translation."""
    return category.casefold().startswith(_NON_TRANSLATION)


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
        told = f"there is no column {', '.join(lacking)}, only {', '.join(header)}"
        raise DataError(f"{path}, line 1: {told}")
    return [names.index(name) for name in COLUMNS]


def _row(cells: Sequence[str], order: Sequence[int]) -> _Row:
    if len(cells) <= max(order):
        raise DataError(f"got {len(cells)} cells, expected {', '.join(COLUMNS)}")
    return _Row(*(unescaped(cells[place]) for place in order))


def _segment(row: _Row) -> Segment:
    """Return what one line says: at most one error, or none, or several marks of one."""
    source, source_marks = unmark(row.source)
    target, marks = unmark(row.target)
    category, severity = row.category.strip(), row.severity.strip().casefold()
    meta: dict[str, object] = {"doc": row.doc, "doc_id": row.doc_id, "seg_id": row.seg_id}
    segment = Segment(
        segment_id=f"{row.system}/{row.doc}/{row.doc_id}/{row.seg_id}",
        output=target,
        inputs={SOURCE: source},
        task="translation",
        system=row.system,
        meta=meta,
    )
    if row.rater:
        meta[ANNOTATORS] = [row.rater]
    if NO_ERROR.casefold() in {category.casefold(), severity} or not (row.rater or category):
        return segment
    if severity == NEUTRAL:
        told = {"annotator": row.rater, "category": category}
        places = {
            "target": [list(one) for one in marks],
            "source": [list(one) for one in source_marks],
        }
        meta[NEUTRAL] = [told | {key: value for key, value in places.items() if value}]
        return segment
    if source_marks:
        meta[SOURCE_MARKS] = [[0, *place] for place in source_marks]
    return replace(segment, gold=_spans(row, target, marks, category=category, severity=severity))


def _spans(
    row: _Row,
    target: str,
    marks: Sequence[tuple[int, int]],
    *,
    category: str,
    severity: str,
) -> tuple[ErrorSpan, ...]:
    if severity not in WORDS:
        known = ", ".join(filter(None, (*WORDS.values(), "Neutral", NO_ERROR)))
        raise DataError(f"got the severity {row.severity!r}, expected one of {known}")
    number = SEVERITIES[severity] if severity else None
    places: list[tuple[int, int] | None] = [place for place in marks if place[0] < place[1]]
    if is_non_translation(category):
        number = MAX_SEVERITY
        places = places or [(0, len(target))] * bool(target)

    def span(place: tuple[int, int] | None) -> ErrorSpan:
        start, end = place or (None, None)
        return ErrorSpan(
            text=target[start:end] if place else "",
            start=start,
            end=end,
            explanation="",
            severity=number,
            category=category,
            located=Located.EXACT if place else Located.UNLOCATED,
            found_by=(row.rater,) if row.rater else (),
        )

    return tuple(span(place) for place in places or [None])


def _merged(first: Segment, second: Segment) -> Segment:
    """Join two lines of a segment; spans of the second are numbered on."""
    marks = second.meta.get(SOURCE_MARKS)
    if isinstance(marks, list):
        moved = [[number + len(first.gold), *place] for number, *place in marks]
        second = replace(second, meta={**second.meta, SOURCE_MARKS: moved})
    return joined(first, second)
