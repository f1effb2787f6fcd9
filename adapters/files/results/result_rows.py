"""Result rows read back, for what joins files of them and what makes tables of them."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from spanjury.adapters.files.line_writer import PART
from spanjury.judges.core import DataError, ErrorSpan, Outcome, Usage

__all__ = [
    "ResultLine",
    "ResultName",
    "ResultRow",
    "RowOutcomes",
    "SeatRow",
    "read_lines",
    "read_results",
]


class ResultName(BaseModel):
    """What a result row is about, and who judged."""

    id: str
    system: str
    task: str
    aspect: str
    signature: str

    @property
    def segment(self) -> tuple[str, str, str]:
        """Id, system and task: what the rows of one segment have in common."""
        return self.id, self.system, self.task


class SeatRow(BaseModel):
    """One seat's part of a result row."""

    judge: str
    score: int | float | None
    usage: Usage


class ResultRow(ResultName):
    """A result row, as far as tables show it."""

    score: int | float | None
    outcome: Outcome
    reason: str
    spans: tuple[ErrorSpan, ...]
    seats: tuple[SeatRow, ...]


class SeatOutcome(BaseModel):
    """The end of one seat's assessment."""

    judge: str
    outcome: Outcome


class RowOutcomes(ResultName):
    """The end of the assessment in a result row, for the panel and for each seat."""

    outcome: Outcome
    seats: tuple[SeatOutcome, ...]


RowT = TypeVar("RowT", bound=BaseModel)


class ResultLine(NamedTuple, Generic[RowT]):
    """A line of a results file, its end included, and what it holds."""

    line: bytes
    row: RowT


def read_results(path: Path, kind: type[RowT]) -> Iterator[ResultLine[RowT]]:
    """Yield each row of the results file `path`, as much of it as `kind` has fields for.

    Half a row at the end of a part file, as a run that is killed or still going on leaves
    it, is no row yet.

    Raises
    ------
    DataError
        If the file cannot be read, or a line of it is no result row; the message names
        file and line.
    """
    try:
        with path.open("rb") as file:
            yield from read_lines(file, kind, name=str(path))
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from error


def read_lines(
    lines: Iterable[bytes], kind: type[RowT], *, name: str
) -> Iterator[ResultLine[RowT]]:
    """Yield the rows of a results file called `name` that is open already.

    Raises
    ------
    DataError
        If a line is no result row.
    """
    number = 0
    try:
        for number, line in enumerate(lines, start=1):
            if not line.endswith(b"\n"):
                _end_within(name, number)
                return
            yield ResultLine(line, kind.model_validate_json(line))
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, problem["loc"]))
        raise DataError(
            f"{name}, line {number}: is no result row: {place + ': ' if place else ''}"
            f"{problem['msg']}"
        ) from error


def _end_within(name: str, number: int) -> None:
    if not name.endswith(PART):
        raise DataError(f"{name}, line {number}: breaks off, so rows are missing")
