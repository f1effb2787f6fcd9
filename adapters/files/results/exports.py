"""Results for other programs: tables, the original rows, or texts marked as by an annotator.

Cells hold their texts unaltered, even if one begins with ``=``, ``+``, ``-`` or ``@``: an altered
quote would no longer be a quote, and its offsets would be wrong. A spreadsheet may read such a
text as a formula, unless its column is imported as text. There is no byte order mark, since most
programs take it for a part of the first column's name. Results do not contain the judged texts,
so these are read from the data.
"""

import csv
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO, NamedTuple

from pydantic import BaseModel, Field

from spanjury.adapters.files.annotations.annotators import ANNOTATORS
from spanjury.adapters.files.annotations.factgenie import write_factgenie
from spanjury.adapters.files.annotations.mqm import NEUTRAL, SOURCE_MARKS, source_header, write_mqm
from spanjury.adapters.files.evidence_rows import evidence_rows
from spanjury.adapters.files.line_writer import LineWriter
from spanjury.adapters.files.results.result_rows import (
    ResultName,
    ResultRow,
    RowOutcomes,
    read_results,
)
from spanjury.adapters.surrogates import without_lone_surrogates
from spanjury.judges.core import ConfigError, ErrorSpan, Outcome, Result, Segment, StoreError, Usage
from spanjury.judges.core.lazy import library
from spanjury.judges.core.transcript import Position, position_in

_NAME = ("id", "system", "task", "aspect")
_TOKENS = ("prompt tokens", "cached tokens", "completion tokens", "reasoning tokens")
_DECISION = ("decision", "false alarms", "error probability", "misses", "unverified")
_SPAN = (
    *("start", "end", "text", "severity", "category", "explanation", "found_by", "located"),
    *("probability", "evidence", "at"),
)
SPAN_COLUMNS = (*_NAME, *_SPAN)
"""Columns of a table of error spans."""
_Cells = Sequence[str | float | None]
MARKED_FORMS: Mapping[str, Callable[[Path, Iterable[Segment]], int]] = MappingProxyType(
    {"factgenie": write_factgenie, "mqm": write_mqm}
)
"""Name of a format of marked texts -> function that writes it and returns the number of lines."""
_PANEL = "panel"
"""The annotator named in a panel's spans."""
_OF_GOLD = frozenset({NEUTRAL, SOURCE_MARKS})


@dataclass(slots=True)
class JudgedTexts:
    """Looks up the judged texts of result rows by id.

    Rows usually come in the order of their data, and then only one text is held at a time. At the
    first row out of order, or without a text, all texts are loaded.

    A text counts as missing if it is no longer in the data, or if a quote of its row is not at
    its offsets; `missing` collects the ids. Only quotes can reveal that a text has changed.

    `read` reads the data from the start, in the order in which they were judged.
    """

    read: Callable[[], Iterator[Segment]]
    _: KW_ONLY
    missing: set[str] = field(default_factory=set)
    _ahead: Iterator[Segment] | None = None
    _here: Segment | None = None
    _all: Mapping[str, Segment] | None = None

    def headers(self) -> tuple[str, ...]:
        """Return the names of all inputs, in the order of their first appearance."""
        return tuple(dict.fromkeys(header for segment in self.read() for header in segment.inputs))

    def of(self, row: ResultRow) -> Segment | None:
        """Return the text that `row` is about; None if it is missing or has changed."""
        segment = self._find(row.id)
        if segment is not None and row.id not in self.missing and _fits(segment, row):
            return segment
        self.missing.add(row.id)
        return None

    def _find(self, name: str) -> Segment | None:
        if self._all is not None:
            return self._all.get(name)
        if self._here is not None and self._here.segment_id == name:
            return self._here
        if self._ahead is None:
            self._ahead = self.read()
        for segment in self._ahead:
            if segment.segment_id == name:
                self._here = segment
                return segment
        self._all = {segment.segment_id: segment for segment in self.read()}
        return self._all.get(name)


def _fits(segment: Segment, row: ResultRow) -> bool:
    """Return whether the text has all quotes of `row` at their offsets."""
    return segment.system == row.system and all(
        span.start is None or segment.output[span.start : span.end] == span.text
        for span in row.spans
    )


def _text_cells(segment: Segment | None, headers: Sequence[str]) -> _Cells:
    """Return the output, each input, and the references as JSON; empty cells if it is missing."""
    if segment is None:
        return (None,) * (len(headers) + 2)
    references = segment.references
    written = json.dumps(references, ensure_ascii=False) if references else None
    cells = (segment.output, *map(segment.inputs.get, headers), written)
    return tuple(cell and without_lone_surrogates(cell) for cell in cells)


def lines_with_texts(results: Path, texts: JudgedTexts) -> Iterator[bytes]:
    """Yield the lines of `results`, each with ``output``, ``inputs`` and ``references`` added.

    They are null for a missing text. Raises `DataError` as `read_results` does.
    """
    for line, row in read_results(results, ResultRow):
        segment = texts.of(row)
        added = {
            "output": segment and segment.output,
            "inputs": segment and dict(segment.inputs),
            "references": segment and segment.references,
        }
        more = without_lone_surrogates(json.dumps(added, ensure_ascii=False))
        yield line.rstrip().removesuffix(b"}") + f", {more.removeprefix('{')}\n".encode()


class ExportForm(StrEnum):
    """The format of an export."""

    CSV = "csv"
    TSV = "tsv"
    JSONL = "jsonl"


class ExportUnit(StrEnum):
    """The records of a table."""

    ASSESSMENTS = "assessments"
    SPANS = "spans"


_DELIMITERS = {ExportForm.CSV: ",", ExportForm.TSV: "\t"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """An export of a results file, or of the complete rows of a part file.

    The format ``jsonl`` copies the rows unchanged, and exists only for assessments. ``csv`` and
    ``tsv`` are tables in UTF-8 with a header and CRLF line ends. Cells that contain a quote, a
    delimiter or a line end are quoted, with inner quotes doubled. `unit` is the record of a table:
    an assessment or an error span. With `texts`, each record also has the judged text.

    Raises `ConfigError` if form and unit do not go together.
    """

    results: Path
    form: ExportForm = ExportForm.CSV
    unit: ExportUnit = ExportUnit.ASSESSMENTS
    texts: JudgedTexts | None = None

    def __post_init__(self) -> None:
        if self.form is ExportForm.JSONL and self.unit is ExportUnit.SPANS:
            raise ConfigError("got jsonl for spans, expected csv or tsv: jsonl has whole rows")

    def to_file(self, target: Path) -> int:
        """Write the file `target`, completely or not at all; return the number of records.

        Raises `DataError`, naming file and line, if the results cannot be read. Raises `StoreError`
        if the file cannot be written, or is the results file itself.
        """
        if os.path.realpath(target) == os.path.realpath(self.results):
            raise StoreError(f"{target} holds the results themselves: name another file")
        with LineWriter(target) as lines:
            return self._write(lines.append_line)

    def to_stream(self, stream: BinaryIO) -> int:
        """Write to `stream`; return the number of records.

        Raises `DataError`, naming file and line, if the results cannot be read. Raises `StoreError`
        if the stream cannot be written (a full disk), and `BrokenPipeError` if its reader has left.
        """
        try:
            count = self._write(stream.write)
            stream.flush()
        except OSError as error:
            if isinstance(error, BrokenPipeError):
                raise
            raise StoreError(f"the output cannot be written: {error.strerror}") from error
        return count

    def to_dataset(self, folder: Path) -> int:
        """Write a dataset of the library ``datasets`` to a new `folder`; return the record count.

        Its columns are those of the table; all records are held in memory.

        Raises `ConfigError` if the library is not installed. Raises `DataError` as `to_file` does.
        Raises `StoreError` if the folder is not empty or cannot be written.
        """
        table = self._table()
        records = [*table.records]
        cells = zip(*records, strict=True) if records else ((),) * len(table.columns)
        datasets = library("datasets", extra="datasets")
        dataset = datasets.Dataset.from_dict(
            {name: [*column] for name, column in zip(table.columns, cells, strict=True)}
        )
        try:
            if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
                raise StoreError(f"{folder} holds something already: name a new folder")
            progress = datasets.is_progress_bar_enabled()
            datasets.disable_progress_bars()
            try:
                dataset.save_to_disk(folder)
            finally:
                if progress:
                    datasets.enable_progress_bars()
        except OSError as error:
            raise StoreError(f"{folder} cannot be written: {error}") from error
        return len(records)

    def _write(self, put: Callable[[bytes], object]) -> int:
        count = 0
        for count, line in enumerate(self._lines(put), start=1):  # noqa: B007
            put(line)
        return count

    def _lines(self, put: Callable[[bytes], object]) -> Iterable[bytes]:
        """Pass the header, if there is one, to `put`; return the other lines."""
        if self.form is ExportForm.JSONL:
            if self.texts is not None:
                return lines_with_texts(self.results, self.texts)
            return (line for line, _ in read_results(self.results, ResultName))
        table = self._table()
        writer = csv.writer(_Encoder(), delimiter=_DELIMITERS[self.form], lineterminator="\r\n")
        put(writer.writerow(table.columns))
        return map(writer.writerow, table.records)

    def _table(self) -> "_Table":
        make = _spans if self.unit is ExportUnit.SPANS else _assessments
        columns, records = make(self.results)
        texts = self.texts
        if texts is None:
            return _Table(columns, (cells for _, cells in records))
        headers = texts.headers()
        names = ("output", *(f"input.{header}" for header in headers), "references")
        return _Table(
            (*columns, *names),
            ((*cells, *_text_cells(texts.of(row), headers)) for row, cells in records),
        )


class _Encoder:
    """A file object for `csv.writer` that returns each record instead of writing it."""

    def write(self, record: str) -> bytes:
        return record.encode()


class _Table(NamedTuple):
    columns: tuple[str, ...]
    records: Iterable[_Cells]


_Records = tuple[tuple[str, ...], Iterator[tuple[ResultRow, _Cells]]]
"""The columns of a table without texts, and its records, each with its row."""


def _assessments(results: Path) -> _Records:
    """Return the assessments; the file is read twice, first for the names of all seats."""
    seated = read_results(results, RowOutcomes)
    seats = tuple(dict.fromkeys(seat.judge for _, row in seated for seat in row.seats))
    scores = tuple(f"score: {seat}" for seat in seats)
    columns = (*_NAME, "score", "outcome", "spans", "reason", *scores, *_TOKENS, *_DECISION)
    rows = read_results(results, ResultRow)
    return columns, ((row, _assessment(row, seats)) for _, row in rows)


def _assessment(row: ResultRow, seats: Sequence[str]) -> _Cells:
    scores = {seat.judge: seat.score for seat in row.seats}
    usage = sum((seat.usage for seat in row.seats), Usage())
    tokens = (usage.prompt, usage.cached, usage.completion, usage.reasoning)
    outcome = (row.score, row.outcome.value, len(row.spans), row.reason)
    basis = row.decision_basis
    decision = (
        *(row.decision.value if row.decision else None, basis.false_alarms if basis else None),
        *(row.error_probability, basis.misses if basis else None),
        None if row.unverified is None else len(row.unverified),
    )
    return (*_name(row), *outcome, *map(scores.get, seats), *tokens, *decision)


def _spans(results: Path) -> _Records:
    """Return the error spans; assessments without any are left out."""
    records = (
        (row, (*_name(row), *_span(span, positioned.at)))
        for _, row in read_results(results, _SpansRow)
        for span, positioned in zip(row.spans, row.positions, strict=True)
    )
    return SPAN_COLUMNS, records


def span_records(result: Result) -> Iterator[_Cells]:
    """Yield the record of each error span of a result, in the columns `SPAN_COLUMNS`."""
    segment, aspect = result.segment, result.aspect
    name = (segment.segment_id, segment.system, aspect.task.name, aspect.name)
    for span in result.report.spans:
        yield (*name, *_span(span, position_in(segment, span)))


class _Positioned(BaseModel):
    """The position of a span in a trajectory, as stored in its row; rows of texts have none."""

    at: Position | None = None


class _SpansRow(ResultRow):
    positions: tuple[_Positioned, ...] = Field(validation_alias="spans")


def _span(span: ErrorSpan, position: Position | None) -> _Cells:
    located = (span.start, span.end, span.text)
    details = (span.severity, span.category, span.explanation)
    finders = (";".join(span.found_by), span.located.value)
    evidence = json.dumps(evidence_rows(span), ensure_ascii=False) if span.evidence else None
    at = None if position is None else str(position)
    return (*located, *details, *finders, span.probability, evidence, at)


def _name(row: ResultName) -> tuple[str, str, str, str]:
    return row.id, row.system, row.task, row.aspect


def marked_segments(segments: Iterable[Segment], results: Path) -> Iterator[Segment]:
    """Yield the judged `segments` with the spans of a results file in place of their gold ones.

    Results do not contain the texts, so the segments must be those that were judged. All rows of
    `results` are held in memory.

    Only segments with a score on some aspect are yielded, because an unscored text must not look
    like one without errors. Their spans are found by `_PANEL`, and their categories are prefixed
    with the aspect, as in ``fluency/spelling``. Evidence in the input that MQM calls the source
    becomes marks there.

    Raises `DataError`, naming file and line, if the results cannot be read.
    """
    spans_of: dict[str, list[ErrorSpan]] = {}
    for _, row in read_results(results, ResultRow):
        if row.outcome is Outcome.SCORED:
            spans = spans_of.setdefault(row.id, [])
            for span in row.spans:
                category = f"{row.aspect}/{span.category}" if span.category else row.aspect
                spans.append(replace(span, category=category, found_by=(_PANEL,)))
    for segment in segments:
        if segment.segment_id in spans_of:
            gold = tuple(spans_of[segment.segment_id])
            meta = {key: value for key, value in segment.meta.items() if key not in _OF_GOLD}
            if marks := _source_marks(segment, gold):
                meta[SOURCE_MARKS] = marks
            yield replace(segment, gold=gold, meta={**meta, ANNOTATORS: [_PANEL]})


def _source_marks(segment: Segment, spans: Sequence[ErrorSpan]) -> list[list[int]]:
    """Return ``[index of the span, start, end]`` for its evidence; marks cannot overlap in MQM."""
    header = source_header(segment)
    source = segment.inputs.get(header, "")
    marks: list[list[int]] = []
    for number, span in enumerate(spans):
        done = 0
        for evidence in sorted(span.evidence, key=lambda evidence: (evidence.start, evidence.end)):
            is_there = (
                evidence.input == header and source[evidence.start : evidence.end] == evidence.text
            )
            if is_there and evidence.start >= done:
                done = evidence.end
                marks.append([number, evidence.start, evidence.end])
    return marks
