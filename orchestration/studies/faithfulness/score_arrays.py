"""Score arrays: the scores of one judge's reports before and after, side by side."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spanjury.orchestration.studies.faithfulness.changes import (
    CONTROL,
    REPEAT,
    UNCHANGED,
    Change,
    Direction,
    ListOutcome,
)

_ADDING = frozenset({"addition", "critical"})
"""Families that change a list without errors too."""

_UNKNOWN = frozenset({ListOutcome.ABSENT, ListOutcome.FAILED})
"""Of reports whose next score cannot be known."""

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionRow:
    """The condition of a row of the arrays; the fields are those of `Change`."""

    name: str
    family: str
    by: int | None
    direction: Direction | None
    written_by: str

    @property
    def is_control(self) -> bool:
        """True if nothing was changed."""
        return self.name in (CONTROL, REPEAT)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoreArrays:
    """The scores of one judge on one aspect of one dataset, before and after.

    Parameters
    ----------
    before, after
        Shape ``(conditions, texts)``: scores, NaN where there is none. Of a report that was
        not rescored since nothing could be changed, `after` is `before`.
    errors
        The same shape: how many errors the report lists, NaN where the record does not say.
    recorded, rescored
        The same shape: whether there is a report with a score and a word on what became of
        it; whether its list was changed and it was asked for another score.
    """

    judge: str
    dataset: str
    aspect: str
    conditions: tuple[ConditionRow, ...]
    texts: tuple[str, ...]
    before: FloatArray
    after: FloatArray
    errors: FloatArray
    recorded: BoolArray
    rescored: BoolArray
    low: int
    high: int
    changes: tuple[Change, ...]

    @property
    def shifts(self) -> FloatArray:
        """Score afterwards less the one before; NaN where one is missing."""
        return np.where(self.recorded, self.after - self.before, np.nan)

    @property
    def with_errors(self) -> BoolArray:
        """Reports that list errors; where the record does not say, those below the best score."""
        assumed = np.isnan(self.errors) & (self.before < self.high)
        return self.recorded & (assumed | (self.errors > 0))

    @property
    def applied(self) -> BoolArray:
        """Reports that had their list changed (or, by a control, kept) and were rescored."""
        adding: BoolArray = np.array(
            [[condition.family in _ADDING] for condition in self.conditions]
        )
        return self.rescored & self.recorded & (self.with_errors | adding)

    @property
    def with_room(self) -> BoolArray:
        """Those of them that could move as they should: not at that end of the scale already."""
        return self.applied & self._room(downwards="falls")

    @property
    def with_room_against(self) -> BoolArray:
        """Scores that could move the wrong way, among those whose list was changed.

        They are others than those of `with_room`: a score at the floor cannot fall, but an
        added error can make it rise.
        """
        return self.applied & self._room(downwards="rises")

    def _room(self, *, downwards: Direction) -> BoolArray:
        """Return which scores can move: down in the direction `downwards`, up in the other.

        Under a control, which has no direction, all can.
        """
        room: BoolArray = np.ones(self.before.shape, dtype=bool)
        for row, condition in enumerate(self.conditions):
            if condition.direction is not None:
                scores = self.before[row]
                is_down = condition.direction == downwards
                room[row] = scores > self.low if is_down else scores < self.high
        return room

    def row(self, name: str) -> int | None:
        """Return the row of the condition called `name`; None if there is none."""
        names = [condition.name for condition in self.conditions]
        return names.index(name) if name in names else None


def collect_scores(changes: Iterable[Change]) -> tuple[ScoreArrays, ...]:
    """Put changes into arrays, one set for each judge, dataset and aspect.

    Parameters
    ----------
    changes
        Rows in any order; of a text under a condition that comes twice, the last one.
    """
    groups: dict[tuple[str, str, str], list[Change]] = {}
    for change in changes:
        groups.setdefault((change.judge, change.dataset, change.aspect), []).append(change)
    return tuple(_score_arrays(rows) for rows in groups.values())


def _score_arrays(changes: Sequence[Change]) -> ScoreArrays:
    conditions = {
        change.condition: ConditionRow(
            name=change.condition,
            family=change.family,
            by=change.by,
            direction=change.direction,
            written_by=change.written_by,
        )
        for change in changes
    }
    columns = {text: n for n, text in enumerate(dict.fromkeys(change.text for change in changes))}
    rows = {name: number for number, name in enumerate(conditions)}
    shape = len(rows), len(columns)
    before, after, errors = (np.full(shape, np.nan) for _ in range(3))
    recorded, rescored = (np.zeros(shape, dtype=bool) for _ in range(2))
    for change in changes:
        at = rows[change.condition], columns[change.text]
        is_unchanged = change.list_outcome in UNCHANGED
        before[at] = _number(change.before)
        after[at] = _number(change.before if is_unchanged else change.after)
        errors[at] = _number(change.errors)
        recorded[at] = change.before is not None and change.list_outcome not in _UNKNOWN
        rescored[at] = change.is_rescored
    first = changes[0]
    return ScoreArrays(
        judge=first.judge,
        dataset=first.dataset,
        aspect=first.aspect,
        conditions=tuple(conditions.values()),
        texts=tuple(columns),
        before=before,
        after=after,
        errors=errors,
        recorded=recorded,
        rescored=rescored,
        low=first.low,
        high=first.high,
        changes=tuple(changes),
    )


def _number(value: float | None) -> float:
    return np.nan if value is None else value
