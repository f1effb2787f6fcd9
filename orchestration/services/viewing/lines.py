"""Lines of results, read in pieces: as much of each row as columns, search and checks need."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import IO

import msgspec

from spanjury.judges.core import DataError, Decision
from spanjury.orchestration.services.viewing.sources import PART

PIECE = 2_000
"""Lines of a piece."""
_NAMED = 3
"""Number of damaged lines that are named; the others are counted."""


class Span(msgspec.Struct):
    """An error span, as far as it is counted, searched and checked."""

    text: str
    start: int | None
    end: int | None
    explanation: str
    severity: int | None
    category: str
    found_by: list[str] = []


class Usage(msgspec.Struct):
    """The calls of a seat."""

    calls: int = 0


class SeatRow(msgspec.Struct):
    """A seat, as far as it is counted."""

    judge: str
    score: float | None
    usage: Usage


class Row(msgspec.Struct):
    """A row of results."""

    id: str
    system: str
    task: str
    aspect: str
    score: float | None
    outcome: str
    reason: str
    signature: str
    spans: list[Span]
    seats: list[SeatRow]
    decision: Decision | None = None  # rows of earlier runs have none


class Name(msgspec.Struct):
    """The names in a row."""

    id: str
    aspect: str


_ROW = msgspec.json.Decoder(Row)
_NAME = msgspec.json.Decoder(Name)


@dataclass(slots=True)
class ResultLines:
    """The whole lines of a file of results that is open.

    Half a line at the end of a part file, as a run that goes on leaves it, is not read. A line
    that is no row is passed over, and `damaged` says which.
    """

    path: Path
    file: IO[bytes]
    damaged: list[str] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    def pieces(self) -> Iterator[list[tuple[int, Row]]]:
        """Yield the rows, each with the place of its line, some thousands at a time.

        Raise `DataError` if the file cannot be read, or has rows in none of its lines.
        """
        offset = number = 0
        is_any = False
        piece: list[tuple[int, Row]] = []
        for number, line in enumerate(self._all(), start=1):
            row = self._row(line, number=number)
            if row is not None:
                piece.append((offset, row))
                is_any = True
            offset += len(line)
            if len(piece) == PIECE:
                yield piece
                piece = []
        if not is_any:
            raise DataError(self._nothing(number))
        yield piece

    def _all(self) -> Iterator[bytes]:
        try:
            with self.path.open("rb") as file:
                yield from file
        except OSError as error:
            raise DataError(f"{self.path}: cannot be read: {error.strerror}") from error

    def _row(self, line: bytes, *, number: int) -> Row | None:
        if not line.endswith(b"\n"):
            if self.path.suffix != PART:
                self.damaged.append(f"{self.path}, line {number}: breaks off, so rows are missing")
            return None
        try:
            return _ROW.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            self.damaged.append(f"{self.path}, line {number}: is not a result row: {error}")
            return None

    def _nothing(self, lines: int) -> str:
        if self.damaged:
            return f"{self.damaged[0]}; expected the results of a run"
        if lines or self.path.suffix == PART:
            return f"{self.path} holds no complete row yet"
        return f"{self.path} is empty"

    def line(self, offset: int, *, of: tuple[str, str]) -> bytes:
        """Return the line at a place, which is that of an id and an aspect.

        Raise `DataError` if another is there now, as where the run was begun again.
        """
        with self._lock:
            self.file.seek(offset)
            line = self.file.readline()
        try:
            name = _NAME.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            name = None
        if name is None or (name.id, name.aspect) != of:
            raise DataError(f"{self.path} was written again meanwhile: open the view again")
        return line

    def notes(self) -> Iterator[str]:
        """Say which lines are damaged."""
        yield from self.damaged[:_NAMED]
        if (more := len(self.damaged) - _NAMED) > 0:
            yield f"{self.path}: {more} more lines are no result rows"
