"""Result rows read back: unchanged, as scores, or as spans with the cost of each seat."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from spanjury.adapters.files.line_writer import PART
from spanjury.judges.core import (
    DataError,
    Decision,
    ErrorSpan,
    Outcome,
    Unasked,
    Usage,
    first_problem,
)

RowT = TypeVar("RowT", bound=BaseModel)


class ResultLine(NamedTuple, Generic[RowT]):
    """A line of a results file, its line end included, and the parsed row."""

    line: bytes
    row: RowT


def read_results(path: Path, kind: type[RowT]) -> Iterator[ResultLine[RowT]]:
    """Yield each row of the results file `path`, parsed as far as `kind` has fields.

    An incomplete row at the end of a part file is ignored: a killed or running run leaves one.

    Raises `DataError`, naming file and line, if the file cannot be read or a line is not a result
    row.
    """
    try:
        with path.open("rb") as file:
            yield from read_lines(file, kind, name=str(path))
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from error


def read_lines(
    lines: Iterable[bytes], kind: type[RowT], *, name: str
) -> Iterator[ResultLine[RowT]]:
    """Yield the rows of an open results file called `name`.

    Raises `DataError` if a line is not a result row.
    """
    number = 0
    try:
        for number, line in enumerate(lines, start=1):
            if not line.endswith(b"\n"):
                if name.endswith(PART):
                    return
                raise DataError(f"{name}, line {number}: breaks off, so rows are missing")
            yield ResultLine(line, kind.model_validate_json(line))
    except ValidationError as error:
        raise DataError(
            f"{name}, line {number}: is not a result row: {first_problem(error)}"
        ) from error


class ResultName(BaseModel):
    """The identifiers in a result row: the segment, the aspect and the panel."""

    id: str
    system: str
    task: str
    aspect: str
    signature: str

    @property
    def segment(self) -> tuple[str, str, str]:
        """Id, system and task, which all rows of one segment share."""
        return self.id, self.system, self.task


def read_result_names(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the id and the system of each row of a results file; raise as `read_results` does."""
    return ((row.id, row.system) for _, row in read_results(path, ResultName))


class SeatRow(BaseModel):
    """One seat's part of a result row."""

    judge: str
    score: int | float | None
    usage: Usage


class BasisRow(BaseModel):
    """The basis of a decision in a result row, with the fields that tables show."""

    false_alarms: float | None
    misses: float | None = None


class ResultRow(ResultName):
    """A result row with the fields that tables show."""

    score: int | float | None
    outcome: Outcome
    reason: str
    spans: tuple[ErrorSpan, ...]
    seats: tuple[SeatRow, ...]
    decision: Decision | None = None  # absent in rows of earlier runs
    error_probability: float | None = None
    decision_basis: BasisRow | None = None
    unverified: tuple[object, ...] | None = None  # only counted; absent in rows of earlier runs


class SeatOutcome(BaseModel):
    """The outcome of one seat's assessment."""

    judge: str
    outcome: Outcome


class RowOutcomes(ResultName):
    """The outcomes in a result row, for the panel and for each seat."""

    outcome: Outcome
    seats: tuple[SeatOutcome, ...]


class ResultScores(NamedTuple):
    """Scores of a panel and its seats on one aspect of one segment; None if unscored.

    The decision is that of the panel, and None without one.
    """

    segment_id: str
    system: str
    task: str
    aspect: str
    signature: str
    score: float | None
    seats: Mapping[str, float | None]
    signatures: Mapping[str, str]
    spans: int
    decision: Decision | None


class _ScoredSeat(BaseModel):
    judge: str
    score: float | None
    signature: str = ""


class _ScoredRow(ResultName):
    score: float | None
    spans: tuple[object, ...]
    seats: tuple[_ScoredSeat, ...]
    decision: Decision | None = None  # absent in rows of earlier runs


def read_result_scores(path: Path) -> Iterator[ResultScores]:
    """Yield the scores of each row of a results file; raise as `read_results` does."""
    return (_scores(row) for _, row in read_results(path, _ScoredRow))


class SeatWork(NamedTuple):
    """The cost of a seat's work on one aspect of one segment."""

    seconds: float
    """Seconds of wall-clock time."""
    tokens: int
    """Tokens read and written; 0 for a judge that calls no model."""


class ResultSpans(NamedTuple):
    """Scores and spans of a panel and its seats on one aspect of one segment.

    Spans are None if there is no score.
    """

    scores: ResultScores
    spans: tuple[ErrorSpan, ...] | None
    seats: Mapping[str, tuple[ErrorSpan, ...] | None]
    work: Mapping[str, SeatWork]


def read_result_spans(path: Path) -> Iterator[ResultSpans]:
    """Yield the scores and spans of each row of a results file; raise as `read_results` does."""
    for _, row in read_results(path, ReportedRow):
        yield ResultSpans(
            scores=_scores(row),
            spans=_marked(row.outcome, row.spans),
            seats={seat.judge: _marked(seat.outcome, seat.spans) for seat in row.seats},
            work={
                seat.judge: SeatWork(seat.seconds, seat.usage.prompt + seat.usage.completion)
                for seat in row.seats
            },
        )


class ReportedSeat(BaseModel):
    """All that a result row holds about one seat, except the texts it wrote."""

    judge: str
    signature: str = ""
    outcome: Outcome
    score: float | None
    spans: tuple[ErrorSpan, ...]
    usage: Usage
    seconds: float
    error_probability: float | None = None


class ReportedRow(ResultName):
    """A result row: the report of a panel on one aspect of one segment, and those of its seats."""

    outcome: Outcome
    score: float | None
    spans: tuple[ErrorSpan, ...]
    seats: tuple[ReportedSeat, ...]
    aggregation: str = ""
    consolidator: str = ""
    error_probability: float | None = None
    decision: Decision | None = None
    unasked: Unasked | None = None

    @property
    def in_score(self) -> frozenset[str]:
        """Seats whose scores, actual or expected, enter the panel's score."""
        given = {seat.judge for seat in self.seats if seat.score is not None}
        expected = self.unasked.seats if self.unasked and self.unasked.score is not None else ()
        return frozenset((*given, *expected))


def read_reported_rows(path: Path) -> Iterator[ReportedRow]:
    """Yield the rows of a results file with their seats; raise as `read_results` does."""
    return (row for _, row in read_results(path, ReportedRow))


def _scores(row: _ScoredRow | ReportedRow) -> ResultScores:
    return ResultScores(
        segment_id=row.id,
        system=row.system,
        task=row.task,
        aspect=row.aspect,
        signature=row.signature,
        score=row.score,
        seats={seat.judge: seat.score for seat in row.seats},
        signatures={seat.judge: seat.signature for seat in row.seats},
        spans=len(row.spans),
        decision=row.decision,
    )


def _marked(outcome: Outcome, spans: tuple[ErrorSpan, ...]) -> tuple[ErrorSpan, ...] | None:
    return spans if outcome is Outcome.SCORED else None
