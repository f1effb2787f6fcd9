"""Rows without an answer, and the scores that they must not overwrite.

There are two kinds of failure. If a model or a judge did answer, but its answer cannot be scored
(unparseable, refused, truncated, or an abstention), the new row may replace an old one. If there
is no answer at all (a server is down, a key is missing, memory has no reply), it must not.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from spanjury.judges.core import UNANSWERED, DataError, Outcome, counted
from spanjury.judges.core.lazy import lazily

with lazily():
    import pydantic

    from spanjury.adapters.files.results import result_rows

_WORDS = tuple(f'"{outcome.value}"'.encode() for outcome in sorted(UNANSWERED))
"""Every row that lacks an answer contains one of these, and few other rows do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lack:
    """The scores for which a row has no answer: the panel's, or only those of some seats."""

    scored: bool
    seats: frozenset[str]

    def costs(self, old: "result_rows.RowOutcomes") -> bool:
        """Return whether `old` has a score that the new row lacks."""
        if old.outcome is Outcome.SCORED and not self.scored:
            return True
        return any(
            seat.outcome is Outcome.SCORED and seat.judge in self.seats for seat in old.seats
        )


_NO_ANSWER = _Lack(scored=False, seats=frozenset())
"""Lack assumed for every old row if no new row has an answer."""


class UnansweredRows:
    """Collects new rows without an answer, and finds the scores that would be lost to them.

    If no new row has an answer, all old scores would be lost, including those of other assessments.

    Only a digest of each such row is kept. The file to be replaced is read only if there are such
    rows.
    """

    def __init__(self) -> None:
        self._has_answer = False
        self._lacks: dict[bytes, _Lack] = {}
        self._alike: dict[_Lack, _Lack] = {}  # equal lacks share an object

    def note(self, line: bytes) -> None:
        """Record the row in `line` if it lacks an answer."""
        row = _read(line)
        lack = row and _lack(row)
        self._has_answer |= row is None or row.outcome not in UNANSWERED
        if row and lack:
            self._lacks[_digest(row)] = self._alike.setdefault(lack, lack)

    def objection(self, old: Path) -> str:
        """Return a message about the scores in the file `old` that would be lost; empty if none."""
        if not self._lacks:
            return ""
        return self.objection_to(result_rows.read_results(old, result_rows.RowOutcomes))

    def objection_to(self, old: "Iterable[result_rows.ResultLine[result_rows.RowOutcomes]]") -> str:
        """Return a message as `objection` does, for rows that are read from a file."""
        if not self._lacks:
            return ""
        usual = None if self._has_answer else _NO_ANSWER
        lacks = ((row, self._lacks.get(_digest(row), usual)) for _, row in old)
        losses = ((row, lack) for row, lack in lacks if lack and lack.costs(row))
        try:
            first = next(losses, None)
            count = 1 + sum(1 for _ in losses)
        except DataError as error:
            return f"some new rows have no answer, and it is unclear what they replace: {error}"
        return "" if first is None else _words(*first, count=count)


def without_losses(old: Sequence[bytes], new: Sequence[bytes]) -> list[bytes]:
    """Return the `new` rows, or the `old` row where a new one has no answer for its score.

    Both lists are rows of the same assessments by one panel, in the same order. A damaged `old` row
    is never used.
    """
    return [_better(was, row) for was, row in zip(old, new, strict=True)]


def _better(old: bytes, new: bytes) -> bytes:
    row = _read(new)
    lack = row and _lack(row)
    if not row or not lack:
        return new
    try:
        was = result_rows.RowOutcomes.model_validate_json(old)
    except pydantic.ValidationError:
        return new
    return old if _digest(was) == _digest(row) and lack.costs(was) else new


def _read(line: bytes) -> "result_rows.RowOutcomes | None":
    """Return the row in `line`, or None if it cannot lack an answer; most rows are not parsed."""
    if not any(word in line for word in _WORDS):
        return None
    try:
        return result_rows.RowOutcomes.model_validate_json(line)
    except pydantic.ValidationError:  # the row's other readers report it
        return None


def _lack(row: "result_rows.RowOutcomes") -> _Lack | None:
    seats = frozenset(seat.judge for seat in row.seats if seat.outcome in UNANSWERED)
    if not seats and row.outcome not in UNANSWERED:
        return None
    return _Lack(scored=row.outcome is Outcome.SCORED, seats=seats)


def _digest(row: "result_rows.RowOutcomes") -> bytes:
    name = json.dumps([row.id, row.system, row.task, row.aspect]).encode()
    return hashlib.blake2b(name, digest_size=16).digest()


def _words(first: "result_rows.RowOutcomes", lack: _Lack, *, count: int) -> str:
    rows = counted(count, "row has a score", "rows have scores")
    system = f" of {first.system!r}" if first.system else ""
    silent = ", ".join(sorted(lack.seats)) or "the panel"
    return (
        f"{rows} that the new results lack for want of an answer, the first {first.id!r}{system}"
        f" on {first.aspect!r} (no answer from {silent})"
    )
