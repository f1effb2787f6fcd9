"""Export people's marks as rows of data, factgenie lines, or MQM tables."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from spanjury.judges.core import ConfigError, DataError, Segment
from spanjury.orchestration.services.people.marks.mark import MarkedSpan
from spanjury.orchestration.services.people.marks.marked_run import (
    MarkedRun,
    Reading,
    read_readings,
)
from spanjury.orchestration.wiring.marks import (
    ANNOTATORS,
    FORMS,
    MARKS,
    NEUTRAL,
    READINGS,
    SEGMENT_ID,
    SOURCE_MARKS,
    SPANS,
    marked_row,
)

NO_ERROR = "No-error"
"""Follows the name of an aspect if the annotator found no error."""
_OF_MARKS = frozenset(
    {ANNOTATORS, "annotator", MARKS, NEUTRAL, READINGS, SEGMENT_ID, SOURCE_MARKS, SPANS}
)
"""Keys of a text's meta that describe other marks."""
_OF_EXAMPLES = ("output", "inputs", "human", SPANS)
"""Keys of a row that an example keeps; other keys may hold data not to be stored with a run."""


class Written(NamedTuple):
    """The marks that a file holds, and its lines."""

    marks: int
    lines: int


def write_marks(path: Path, readings: Iterable[Reading], *, form: str) -> Written:
    """Write readings in one of `FORMS`, without those that the form cannot hold.

    Raise `ConfigError` if the form is unknown, `StoreError` if the file cannot be written, and
    `DataError` if a text cannot be written in the form.
    """
    if form not in FORMS:
        raise ConfigError(f"cannot export {form!r}; known: {', '.join(FORMS)}")
    held = [
        reading
        for reading in readings  # only rows say that no one looked for all errors
        if form == "rows" or (reading.mark.is_done and not reading.mark.scores_only)
    ]
    return Written(len(held), FORMS[form](path, marked_texts(held, form=form)))


def example_rows(run: Path) -> list[dict[str, object]]:
    """Return the texts of a run with people's finished marks, as rows of examples for a judge.

    Raise `DataError` if no one has finished a text, and the errors of `read_readings`.
    """
    readings = read_readings(MarkedRun(run)).chosen()
    if not readings:
        raise DataError(f"no one has finished marking a text of {run}")
    texts = [(text, marked_row(text)) for text in marked_texts(readings, form="rows")]
    return [
        {key: row[key] for key in _OF_EXAMPLES if key in row} | {MARKS: text.meta[MARKS]}
        for text, row in texts
    ]


def marked_texts(readings: Iterable[Reading], *, form: str) -> Iterator[Segment]:
    """Yield each marked text with all its readings, as `form` needs them.

    In ``rows`` a span has an aspect field. The other forms lack one, so the aspect is put before
    the category, as in ``fluency/spelling``.
    """
    for _, group in groupby(readings, key=lambda reading: reading.text.segment.segment_id):
        # An annotator's spans are adjacent, in the order of the aspects.
        together = sorted(group, key=lambda reading: reading.annotator)
        yield _row_text(together) if form == "rows" else _joined_text(together, form=form)


def _row_text(readings: Sequence[Reading]) -> Segment:
    """Return a text whose scores and spans are those of finished marks, which studies count."""
    spans = [
        _filled(span, annotator=reading.annotator, aspect=reading.aspect)
        for reading in readings
        if reading.mark.is_done
        for span in reading.mark.spans
    ]
    bare, looked = bare_text(readings[0].text.segment), _who_looked(readings)
    about: dict[str, object] = {MARKS: [_about(reading) for reading in readings]}
    if looked:
        about[ANNOTATORS] = looked
    if looked or spans:
        about[SPANS] = spans
    scores: dict[str, dict[str, float]] = {aspect: {} for aspect in readings[0].text.aspects}
    for reading in readings:
        score = reading.mark.score
        if reading.aspect in scores and reading.mark.is_done and score is not None:
            scores[reading.aspect][reading.annotator] = score
    human = {aspect: by_rater for aspect, by_rater in scores.items() if by_rater}
    return replace(bare, human=human, meta={**bare.meta, **about})


def _who_looked(readings: Sequence[Reading]) -> list[str]:
    """Return the annotators who looked for errors in the whole text."""
    looked = (each for each in readings if each.mark.is_done and not each.mark.scores_only)
    return [*dict.fromkeys(each.annotator for each in looked)]


def _filled(span: MarkedSpan, **about: str) -> dict[str, object]:
    """Return the fields of a span that hold something, and what else is said about it."""
    row: dict[str, object] = {
        "start": span.start,
        "end": span.end,
        "text": span.text,
        "severity": span.severity,
        "category": span.category,
        "explanation": span.explanation,
        **about,
    }
    return {key: value for key, value in row.items() if value not in {None, ""}}


def _about(reading: Reading) -> dict[str, object]:
    about: dict[str, object] = {"annotator": reading.annotator, "aspect": reading.aspect}
    if reading.mark.note:
        about["note"] = reading.mark.note
    if reading.mark.scores_only:
        about["scores_only"] = True
    if not reading.mark.is_done:
        about["is_done"] = False
        if reading.mark.score is not None:
            about["score"] = reading.mark.score
        if reading.mark.spans:
            about[SPANS] = [_filled(span) for span in reading.mark.spans]
    return about


def _joined_text(readings: Sequence[Reading], *, form: str) -> Segment:
    bare = bare_text(readings[0].text.segment)
    spans = (
        span.error_span(reading.annotator, category=_prefixed(reading.aspect, span.category))
        for reading in readings
        for span in reading.mark.spans
    )
    about: dict[str, object] = {ANNOTATORS: _who_looked(readings)}
    if form == "mqm":
        # The opinion that a text has no error of an aspect, which is not itself an error.
        clean = [
            {"annotator": each.annotator, "category": _prefixed(each.aspect, NO_ERROR)}
            for each in readings
            if not each.mark.spans
        ]
        about[NEUTRAL] = clean
        names = [str(bare.meta.get(key, "")) for key in ("doc", "doc_id", "seg_id")]
        if "/".join([bare.system, *names]) != bare.segment_id:  # else the row has its names
            about |= {"doc": "", "doc_id": "", "seg_id": bare.segment_id}
    else:
        about[SEGMENT_ID] = bare.segment_id
        about[READINGS] = [[reading.annotator, reading.aspect] for reading in readings]
    # In the order in which factgenie's lines are read.
    gold = tuple(sorted(spans, key=lambda span: (span.found_by, span.start is None)))
    return replace(bare, gold=gold, meta={**bare.meta, **about})


def _prefixed(aspect: str, category: str) -> str:
    category = category.strip()  # a cell of a table keeps no blanks at its ends
    return f"{aspect}/{category}" if category else aspect


def bare_text(segment: Segment) -> Segment:
    """Return the text without other people's marks in its meta."""
    meta = {key: value for key, value in segment.meta.items() if key not in _OF_MARKS}
    return replace(segment, human={}, gold=(), meta=meta)
