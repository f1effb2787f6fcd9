"""Join the results of the shards of one run into the results of the whole."""

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from spanjury.adapters.files.line_writer import LineWriter
from spanjury.adapters.files.results.result_rows import ResultLine, ResultName, read_results
from spanjury.adapters.files.results.shard_parts import ShardPart
from spanjury.adapters.files.results.unanswered_rows import UnansweredRows
from spanjury.adapters.files.scratch import open_scratch
from spanjury.judges.core import StoreError, unstamped

__all__ = ["merge_parts"]

_TABLES = """
CREATE TABLE segments (
    id TEXT, system TEXT, task TEXT, part INTEGER NOT NULL, PRIMARY KEY (id, system, task)
) WITHOUT ROWID;
"""
_CLAIM = "INSERT OR IGNORE INTO segments VALUES (?, ?, ?, ?)"
_OWNER = "SELECT part FROM segments WHERE (id, system, task) = (?, ?, ?)"

_Rows = Iterable[ResultLine[ResultName]]


@dataclass(frozen=True, slots=True)
class _Segment:
    """What a part holds of one segment: a row for each aspect."""

    part: ShardPart
    name: tuple[str, str, str]
    rows: _Rows


def merge_parts(parts: Sequence[ShardPart], target: Path) -> int:
    """Join the rows of `parts` in the order of the input; return how many there are.

    Rows were dealt out in turn, so they are taken up in turn: the first segment of each
    part, then the second of each. Rows are copied as they are.

    Parameters
    ----------
    parts
        All the shards of one run, in order, as `find_parts` returns them.
    target
        Where the rows go; written anew, at the end and as a whole.

    Raises
    ------
    DataError
        If a part cannot be read; the message names file and line.
    StoreError
        If the parts are not of one run: panels differ, a segment is there twice, or the
        rows cannot have been dealt out so. If `target` is a part or cannot be written, or
        has scores that these rows lack for want of an answer.

    Notes
    -----
    What must not be there twice is kept in a temporary file, 100 bytes a segment or so.
    """
    if os.path.realpath(target) in {os.path.realpath(part.path) for part in parts}:
        raise StoreError(f"{target} is one of the shards: name another file for the whole")
    unanswered = UnansweredRows()
    lines = LineWriter(target, keep_part=False, objection=unanswered.objection)
    with lines, open_scratch(_TABLES) as scratch:
        check = _Check(parts, scratch)
        for segment in _in_turn(parts):
            check.segment(segment)
            for line, row in segment.rows:
                check.panel(row, segment.part)
                unanswered.note(line)
                lines.append(line)
    return lines.lines


def _in_turn(parts: Sequence[ShardPart]) -> Iterator[_Segment]:
    """Take a segment of each part in turn; when one has no more, none may have."""
    all_segments = [_segments(part) for part in parts]
    while True:
        for part, segments in zip(parts, all_segments, strict=True):
            segment = next(segments, None)
            if segment is None:
                _check_ended(part, all_segments)
                return
            yield segment


def _segments(part: ShardPart) -> Iterator[_Segment]:
    rows = read_results(part.path, ResultName)
    for name, group in groupby(rows, key=lambda line: line.row.segment):
        yield _Segment(part, name, group)


def _check_ended(ended: ShardPart, all_segments: Iterable[Iterator[_Segment]]) -> None:
    for segments in all_segments:
        if more := next(segments, None):
            raise StoreError(
                f"{ended.path} has no more segments, but {more.part.path} has"
                f" {more.name[0]!r} still: they are not shards of one run over the same data"
            )


@dataclass(frozen=True, slots=True)
class _Check:
    """Sees that every segment is of one part, and that all parts are of one run."""

    parts: Sequence[ShardPart]
    scratch: sqlite3.Connection
    panels: dict[tuple[str, str], tuple[str, ShardPart]] = field(default_factory=dict)

    def segment(self, segment: _Segment) -> None:
        """Raise `StoreError` if the segment was there before."""
        number = segment.part.number
        if self.scratch.execute(_CLAIM, (*segment.name, number)).rowcount:
            return
        (owner,) = self.scratch.execute(_OWNER, segment.name).fetchone()
        raise StoreError(
            f"segment {segment.name[0]!r} is in {self.parts[owner - 1].path} and again in"
            f" {segment.part.path}: they are not shards of one run"
        )

    def panel(self, row: ResultName, part: ShardPart) -> None:
        """Raise `StoreError` if another panel judged the same aspect elsewhere."""
        known, where = self.panels.setdefault((row.task, row.aspect), (row.signature, part))
        if unstamped(row.signature) != unstamped(known):
            raise StoreError(
                f"{part.path} and {where.path} were judged by different panels on {row.aspect!r}:"
                f" {row.signature} and {known}"
            )
