"""Result rows read back, for what joins files of them and what makes tables of them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from spanjury.adapters.files.line_writer import PART
from spanjury.judges.core import DataError, ErrorSpan, Outcome, Usage

__all__ = ["ResultLine", "ResultName", "ResultRow", "SeatRow", "read_results"]


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
    number = 0
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    _end_within(path, number)
                    return
                yield ResultLine(line, kind.model_validate_json(line))
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, problem["loc"]))
        raise DataError(
            f"{path}, line {number}: is no result row: {place + ': ' if place else ''}"
            f"{problem['msg']}"
        ) from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from error


def _end_within(path: Path, number: int) -> None:
    if path.suffix != PART:
        raise DataError(f"{path}, line {number}: breaks off, so rows are missing")
