"""The error spans of a results file, and what each seat took to find them."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel

from spanjury.adapters.files.results.result_rows import ResultName, read_results
from spanjury.judges.core import ErrorSpan, Outcome, Usage

__all__ = ["ResultSpans", "SeatWork", "read_result_spans"]


class SeatWork(NamedTuple):
    """What a seat took for one aspect of one segment."""

    seconds: float
    """Of wall-clock time."""
    tokens: int
    """Read and written; 0 for a judge that asks no model."""


class ResultSpans(NamedTuple):
    """What a panel and its seats marked on one aspect of one segment; None without a score."""

    segment_id: str
    aspect: str
    spans: tuple[ErrorSpan, ...] | None
    seats: Mapping[str, tuple[ErrorSpan, ...] | None]
    work: Mapping[str, SeatWork]


class _Seat(BaseModel):
    judge: str
    outcome: Outcome
    spans: tuple[ErrorSpan, ...]
    usage: Usage
    seconds: float


class _Row(ResultName):
    outcome: Outcome
    spans: tuple[ErrorSpan, ...]
    seats: tuple[_Seat, ...]


def read_result_spans(path: Path) -> Iterator[ResultSpans]:
    """Yield the spans of each row of a results file.

    Raises
    ------
    DataError
        If the file cannot be read, or a line of it is no result row; names file and line.
    """
    for _, row in read_results(path, _Row):
        yield ResultSpans(
            segment_id=row.id,
            aspect=row.aspect,
            spans=_marked(row.outcome, row.spans),
            seats={seat.judge: _marked(seat.outcome, seat.spans) for seat in row.seats},
            work={
                seat.judge: SeatWork(seat.seconds, seat.usage.prompt + seat.usage.completion)
                for seat in row.seats
            },
        )


def _marked(outcome: Outcome, spans: tuple[ErrorSpan, ...]) -> tuple[ErrorSpan, ...] | None:
    return spans if outcome is Outcome.SCORED else None
