"""Write MQM tables: what `mqm.read_mqm` reads, for the programs of WMT."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from spanjury.adapters.files.annotations.gathering import annotators_of
from spanjury.adapters.files.annotations.mqm import (
    COLUMNS,
    NEUTRAL,
    NO_ERROR,
    SOURCE,
    SOURCE_MARKS,
    WORDS,
    is_non_translation,
)
from spanjury.adapters.files.annotations.mqm_text import escaped, mark
from spanjury.adapters.files.line_writer import LineWriter
from spanjury.adapters.files.reading.gold import SEVERITIES
from spanjury.judges.core import DataError, ErrorSpan, Segment

__all__ = ["write_mqm"]

_Places = Sequence[tuple[int, int]]


_NAMELESS = "Other"
"""The category of errors that have none: an empty cell would say that nobody rated."""


class _Error(NamedTuple):
    source: _Places
    target: _Places
    category: str
    severity: str


def write_mqm(path: Path, segments: Iterable[Segment]) -> int:
    """Write the gold spans of `segments`, a line each; return how many lines.

    An annotator who marked nothing gets a ``No-error``. Severities 1 and 2 are Minor, 3 and 4
    Major, 5 is Critical, or Major for a Non-translation; none is an empty cell. Explanations,
    references and scores have no place in the format. The source is the input called
    ``Source``, or the first one. Document and numbers are ``doc``, ``doc_id`` and ``seg_id``
    of the meta; without the last, ``seg_id`` is the segment's id.

    Raises
    ------
    StoreError
        If the file cannot be written.
    DataError
        If a text holds ``<v>`` or what UTF-8 cannot; names the segment.
    """
    with LineWriter(path, keep_part=False) as lines:
        lines.append(_line(COLUMNS))
        for segment in segments:
            try:
                for cells in _rows(segment):
                    lines.append(_line(cells))
            except (DataError, UnicodeEncodeError) as error:
                raise DataError(f"row {segment.segment_id!r} cannot be written: {error}") from error
        return lines.lines - 1


def _line(cells: Iterable[str]) -> bytes:
    return ("\t".join(map(escaped, cells)) + "\n").encode()


def _rows(segment: Segment) -> Iterator[tuple[str, ...]]:
    source = segment.inputs.get(SOURCE, next(iter(segment.inputs.values()), ""))
    doc, number = (str(segment.meta.get(key, "")) for key in ("doc", "doc_id"))
    about = (segment.system, doc, number, str(segment.meta.get("seg_id", segment.segment_id)))
    for rater in annotators_of(segment) or ("",):
        errors = [*_errors(segment, rater), *_neutral(segment, rater)]
        for one in errors or [_Error((), (), NO_ERROR, NO_ERROR)]:
            texts = (mark(source, one.source), mark(segment.output, one.target))
            yield (*about, rater, *texts, one.category, one.severity)


def _errors(segment: Segment, rater: str) -> Iterator[_Error]:
    sources = _source_marks(segment.meta)
    for number, span in enumerate(segment.gold):
        if ";".join(span.found_by) == rater:
            target = [span.interval] if span.interval else []
            yield _Error(sources[number], target, span.category or _NAMELESS, _word(span))


def _word(span: ErrorSpan) -> str:
    if span.severity is None:
        return ""
    if is_non_translation(span.category):
        return WORDS["major"]
    return WORDS[
        next(word for word in ("minor", "major", "critical") if span.severity <= SEVERITIES[word])
    ]


def _source_marks(meta: Mapping[str, object]) -> defaultdict[int, list[tuple[int, int]]]:
    """Return the marks in the source that go with a span, by its number."""
    sources: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    marks = meta.get(SOURCE_MARKS)
    for number, start, end in marks if isinstance(marks, list) else []:
        sources[number].append((start, end))
    return sources


def _neutral(segment: Segment, rater: str) -> Iterator[_Error]:
    """Yield the opinions that are no errors."""
    told = segment.meta.get(NEUTRAL)
    for one in told if isinstance(told, list) else []:
        if one["annotator"] == rater:
            yield _Error(
                one.get("source", ()), one.get("target", ()), one["category"], NEUTRAL.capitalize()
            )
