"""The scores of a results file, without the spans."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel

from spanjury.adapters.files.results.result_rows import ResultName, read_results

__all__ = ["ResultScores", "read_result_scores"]


class ResultScores(NamedTuple):
    """What a panel and its seats say of one aspect of one segment; None without a score."""

    segment_id: str
    system: str
    aspect: str
    signature: str
    score: float | None
    seats: Mapping[str, float | None]
    spans: int


class _Seat(BaseModel):
    judge: str
    score: float | None


class _Row(ResultName):
    score: float | None
    spans: tuple[object, ...]
    seats: tuple[_Seat, ...]


def read_result_scores(path: Path) -> Iterator[ResultScores]:
    """Yield the scores of each row of a results file.

    Raises
    ------
    DataError
        If the file cannot be read, or a line of it is no result row; names file and line.
    """
    for _, row in read_results(path, _Row):
        yield ResultScores(
            segment_id=row.id,
            system=row.system,
            aspect=row.aspect,
            signature=row.signature,
            score=row.score,
            seats={seat.judge: seat.score for seat in row.seats},
            spans=len(row.spans),
        )
