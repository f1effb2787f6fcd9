"""The texts of runs: read from their data as far as rows need them, and stored on disk."""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import IO, NamedTuple

import msgspec

from spanjury.judges.core import DataError, Decision, ErrorSpan, EvaluationError, Segment
from spanjury.orchestration.services.viewing.sources import Texts
from spanjury.orchestration.wiring.runs import PART, Spool
from spanjury.orchestration.wiring.sources import as_trajectory, trajectory_row

PIECE = 2_000
"""Lines in a piece."""
_NAMED = 3
"""Most damaged lines that are named; the others are counted."""
_RECENT = 4_096
"""Most segments kept in memory while the matching rows are read."""

_JSON = msgspec.json.Encoder()


class Span(msgspec.Struct):
    """The fields of an error span that are counted, searched and checked."""

    text: str
    start: int | None
    end: int | None
    explanation: str
    severity: int | None
    category: str
    found_by: list[str] = []

    def overlaps(self, start: int, end: int) -> bool:
        """Return whether the span shares a character with an interval."""
        if self.start is None or self.end is None:
            return False
        return self.start < end and start < self.end


class Usage(msgspec.Struct):
    """The calls of a seat."""

    calls: int = 0


class SeatRow(msgspec.Struct):
    """The fields of a seat that are counted."""

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
    error_probability: float | None = None


class Name(msgspec.Struct):
    """The fields that identify a row."""

    id: str
    aspect: str


_ROW = msgspec.json.Decoder(Row)
_NAME = msgspec.json.Decoder(Name)


@dataclass(slots=True)
class ResultLines:
    """The complete lines of an open results file.

    An incomplete line at the end of a part file, which a running run leaves, is not read. A line
    that is not a result row is skipped and recorded in `damaged`.
    """

    path: Path
    file: IO[bytes]
    damaged: list[str] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    def pieces(self) -> Iterator[list[tuple[int, Row]]]:
        """Yield the rows with the offsets of their lines, in pieces of `PIECE`.

        Raise `DataError` if the file cannot be read, or has no result rows.
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
        if self.damaged and not is_any:
            raise DataError(f"{self.damaged[0]}; expected the results of a run")
        if not is_any and (number or self.path.suffix == PART):
            advice = "if the run was stopped, 'spanjury resume' writes its results again"
            raise DataError(f"{self.path} holds no complete row yet: {advice}")
        if not is_any:
            raise DataError(f"{self.path} is empty")
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

    def line(self, offset: int, *, of: tuple[str, str]) -> bytes:
        """Return the line at `offset`, which must have the given id and aspect.

        Raise `DataError` if another line is there now, because the run was begun again.
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
        """Yield notes on damaged lines."""
        yield from self.damaged[:_NAMED]
        if (more := len(self.damaged) - _NAMED) > 0:
            yield f"{self.path}: {more} more lines are no result rows"


class Caught(IntEnum):
    """Share of the gold spans of a text that the panel caught."""

    NONE = 0
    SOME = 1
    ALL = 2


class Origin(NamedTuple):
    """The origin of a text in an exam; empty if unknown.

    `condition` is the damage done to it, `clean_id` the id of the text that it is compared with.
    `caught` is the exam's own count, aspect by aspect; None if there is none.
    """

    condition: str = ""
    clean_id: str = ""
    caught: Mapping[str, Caught] | None = None


UNKNOWN_ORIGIN = Origin()


class _Kept(msgspec.Struct, array_like=True):
    """A segment in its stored form."""

    id: str
    system: str
    task: str
    source: int
    output: str
    references: list[str]
    human: dict[str, dict[str, float]]
    gold: list[dict[str, object]]
    trajectory: dict[str, object] | None


_KEPT = msgspec.json.Decoder(_Kept)
_INPUTS = msgspec.json.Decoder(dict[str, str])


class TextStore:
    """The segments of a data file, found by their ids.

    Result rows mostly follow the order of the data, so the data are read only as far as requested
    rows need. One thread reads; any thread may request segments that were read. The spools are
    temporary files of segments, of inputs that segments share, and of text to search.
    """

    def __init__(self, texts: Texts, *, segments: Spool, inputs: Spool, folded: Spool) -> None:
        self.texts = texts
        self.problem = ""
        """Why the file could not be read, or not to its end."""
        self._rows = self._open()
        self._segments, self._inputs, self._folded = segments, inputs, folded
        self._numbers: dict[str, int] = {}
        self._sources: dict[bytes, int] = {}
        self._last_inputs: Mapping[str, str] | None = None
        self._last_source = 0
        self.sources = array("I")
        """Number of each segment's inputs."""
        self.digests = array("q")
        """Hash of each output with its inputs, which is valid in this process only."""
        self._origins: dict[int, Origin] = {}
        self._gold_intervals: dict[int, list[tuple[int, int]]] = {}
        self._recent: dict[int, Segment] = {}

    def _open(self) -> Iterator[Segment]:
        texts = self.texts
        try:
            yield from texts.segments()
        except EvaluationError as error:
            self.problem = str(error)
        except OSError as error:
            self.problem = f"{texts.data}: cannot be read: {error.strerror}"

    def __len__(self) -> int:
        return len(self.digests)

    def number(self, segment_id: str) -> int | None:
        """Return the number of a segment, reading on until it is found; None if it is missing."""
        number = self._numbers.get(segment_id)
        while number is None:
            segment = next(self._rows, None)
            if segment is None:
                return None
            self._keep(segment)
            number = self._numbers.get(segment_id)
        return number

    def _keep(self, segment: Segment) -> None:
        source = self._source(segment.inputs)
        kept = _Kept(
            id=segment.segment_id,
            system=segment.system,
            task=segment.task,
            source=source,
            output=segment.output,
            references=list(segment.references),
            human={name: dict(scores) for name, scores in segment.human.items()},
            gold=list(map(_gold, segment.gold)),
            trajectory=trajectory_row(segment.trajectory) if segment.trajectory else None,
        )
        number = self._segments.put(_JSON.encode(kept))
        self._folded.put(f"{segment.segment_id}\n{segment.output}".casefold().encode())
        self.sources.append(source)
        self.digests.append(hash((segment.output, frozenset(segment.inputs.items()))))
        if (origin := _origin(segment.meta)) != UNKNOWN_ORIGIN:
            self._origins[number] = origin
        if intervals := [span.interval for span in segment.gold if span.interval is not None]:
            self._gold_intervals[number] = intervals
        self._recent[number] = segment
        if len(self._recent) > _RECENT:
            del self._recent[next(iter(self._recent))]
        self._numbers[segment.segment_id] = number

    def _source(self, inputs: Mapping[str, str]) -> int:
        """Return the number of some inputs; equal inputs are stored once."""
        if inputs == self._last_inputs:  # mostly the same text by another system
            return self._last_source
        written = _JSON.encode(dict(inputs))
        digest = blake2b(written, digest_size=16).digest()
        if digest not in self._sources:
            self._sources[digest] = self._inputs.put(written)
        self._last_inputs, self._last_source = inputs, self._sources[digest]
        return self._last_source

    def fits(self, number: int, *, system: str, spans: Sequence[Span]) -> bool:
        """Return whether the spans may have been found in the output of a segment."""
        kept = self._recent.get(number) or self._kept(number)
        output = kept.output
        return kept.system == system and all(
            span.start is None or output[span.start : span.end] == span.text for span in spans
        )

    def segment(self, number: int) -> Segment:
        """Return a segment without its gold spans and without fields that judges never see."""
        kept = self._kept(number)
        return Segment(
            segment_id=kept.id,
            output=kept.output,
            inputs=_INPUTS.decode(self._inputs.get(kept.source)),
            task=kept.task,
            references=tuple(kept.references),
            system=kept.system,
            human=kept.human,
            trajectory=as_trajectory(kept.trajectory) if kept.trajectory else None,
        )

    def gold(self, number: int) -> list[dict[str, object]]:
        """Return the spans that people marked in a segment, ready for JSON."""
        return self._kept(number).gold

    def origin(self, number: int) -> Origin:
        """Return the origin of a segment according to its row."""
        return self._origins.get(number, UNKNOWN_ORIGIN)

    def caught(self, number: int, *, aspect: str, spans: Sequence[Span]) -> Caught | None:
        """Return whether all, some or no gold spans were caught; None if there should be none.

        An exam's own count takes precedence. Otherwise a gold span is caught if one of `spans`
        overlaps it.
        """
        counted = self.origin(number).caught
        intervals = self._gold_intervals.get(number)
        if counted is not None or intervals is None:
            return (counted or {}).get(aspect)
        hits = [any(span.overlaps(*interval) for span in spans) for interval in intervals]
        return Caught.ALL if all(hits) else Caught.SOME if any(hits) else Caught.NONE

    def _kept(self, number: int) -> _Kept:
        return _KEPT.decode(self._segments.get(number))

    def holding(self, needle: bytes) -> Iterator[int]:
        """Yield the numbers of segments whose id or output contains the casefolded `needle`."""
        return self._folded.holding(needle)


def _origin(meta: Mapping[str, object]) -> Origin:
    """Return the origin in a row of an exam or of `spanjury perturb`, which says "treatment"."""
    condition = meta.get("condition", meta.get("treatment", ""))
    clean_id, caught = meta.get("clean_id", ""), meta.get("caught")
    words = {each.name.lower(): each for each in Caught}
    return Origin(
        condition=condition if isinstance(condition, str) else "",
        clean_id=clean_id if isinstance(clean_id, str) else "",
        caught={
            str(aspect): words[word]
            for aspect, word in caught.items()
            if isinstance(word, str) and word in words
        }
        if isinstance(caught, Mapping)
        else None,
    )


def _gold(span: ErrorSpan) -> dict[str, object]:
    return {
        "start": span.start,
        "end": span.end,
        "text": span.text,
        "explanation": span.explanation,
        "severity": span.severity,
        "category": span.category,
        "found_by": list(span.found_by),
    }
