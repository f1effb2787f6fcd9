"""Score arrays: the scores of one judge's reports before and after, side by side."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from spanjury.judges.core import MAX_SEVERITY, MIN_SEVERITY, Outcome, RescoringMethod
from spanjury.perturbations.explanation.perturbation import Unchanged

Direction = Literal["falls", "rises"]
"""Direction in which the score of a judge that follows its list should go."""

CONTROL = "null-control"
"""The condition that changes nothing: the score is asked for again."""
REPEAT = "null-repeat"
"""The same once more."""
_ADDING = frozenset({"addition", "critical"})
"""Families that change a list without errors too."""
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


class ListOutcome(StrEnum):
    """The outcome of changing a report's error list."""

    RESCORED = "rescored"
    """The judge was asked for the score of the changed list, whether or not it gave one."""
    ERROR_FREE = "error-free"
    """The report lists no error that could be changed."""
    CLIPPED = "clipped"
    """The list cannot be changed for another reason: it would come out as it was."""
    UNSCORED = "unscored"
    """The report has no score to begin with."""
    FAILED = "failed"
    """The model that was asked to change the list did not manage to."""
    ABSENT = "absent"
    """The record says nothing of this report under this condition."""


UNCHANGED = frozenset({ListOutcome.ERROR_FREE, ListOutcome.CLIPPED})
"""Outcomes of lists that could not be changed, so that the score stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One changed list of one judge, and the score that followed.

    Raises `ValueError` if a score lies off its scale, a report that was not rescored has
    another score, or one whose list was changed says why it was not.

    `judge`, `dataset`, `aspect`, `text`: whose report it is, and of what; `text` is a segment id.
    `before`, `after`: scores of the list as it was and as it is; None where there is none.
    `errors`, `errors_after`: how many errors the two lists have; None where the record does not
    say.
    """

    judge: str
    dataset: str
    aspect: str
    text: str
    condition: str
    family: str = ""
    """Kind of condition, as ``"severity"``; empty for the controls."""
    by: int | None = None
    """Steps of severity, for conditions that come in steps; None for others."""
    direction: Direction | None = None
    """The expected direction of the score; None where nothing was changed."""
    before: float | None = None
    after: float | None = None
    list_outcome: ListOutcome = ListOutcome.RESCORED
    outcome: Outcome = Outcome.SCORED
    """Outcome of the rescoring, or of the report if it was not rescored."""
    reason: str = ""
    unchanged: Unchanged | None = None
    """Why the list could not be changed; None where it could, or the record does not say."""
    written_by: str = ""
    """Name of the model that was to write what this condition puts on lists; empty for a rule."""
    errors: int | None = None
    errors_after: int | None = None
    severity_change: int | None = None
    """Sum of what was added to severities; None where the record does not say."""
    expected: float | None = None
    """Mean score over the probabilities of its labels afterwards; None where they are not known."""
    method: RescoringMethod | None = None
    """The source of the score; None where the record does not say."""
    low: int = 1
    high: int = 5

    def __post_init__(self) -> None:
        for score in (self.before, self.after):
            if score is not None and not self.low <= score <= self.high:
                raise ValueError(f"score {score!r} is not from {self.low} to {self.high}")
        if not self.is_rescored and self.after is not None:
            raise ValueError(f"{self.list_outcome.value}, with a score afterwards: {self.after!r}")
        if self.list_outcome is ListOutcome.UNSCORED and self.before is not None:
            raise ValueError("an unscored report has a score")
        if self.unchanged is not None and self.list_outcome not in UNCHANGED:
            problem = f"{self.list_outcome.value}, but its list has {self.unchanged.value}"
            raise ValueError(problem)

    @property
    def is_rescored(self) -> bool:
        """True if the judge was asked for another score."""
        return self.list_outcome is ListOutcome.RESCORED

    @property
    def shift(self) -> float | None:
        """Score after less the one before, of a report that was rescored; None without both."""
        if not self.is_rescored or self.before is None or self.after is None:
            return None
        return self.after - self.before


def severity_moved(severities: Iterable[int | None], *, by: int) -> int:
    """Return what is added to `severities` in all when each moves `by` steps, clipped to 1-5.

    Examples
    --------
    >>> severity_moved([4, 5, None], by=2)
    1
    """
    graded = [severity for severity in severities if severity is not None]
    moved = [min(MAX_SEVERITY, max(MIN_SEVERITY, severity + by)) for severity in graded]
    return sum(moved) - sum(graded)


_UNKNOWN = frozenset({ListOutcome.ABSENT, ListOutcome.FAILED})
"""Outcomes of lists after which the next score is unknown."""


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

    `before`, `after`: shape ``(conditions, texts)``: scores, NaN where there is none. Of a report
    that was not rescored since nothing could be changed, `after` is `before`.
    `recorded`, `rescored`: the same shape: whether there is a report with a score and a word on
    what became of it; whether its list was changed and it was asked for another score.
    """

    judge: str
    dataset: str
    aspect: str
    conditions: tuple[ConditionRow, ...]
    texts: tuple[str, ...]
    before: FloatArray
    after: FloatArray
    errors: FloatArray
    """The same shape: how many errors the report lists, NaN where the record does not say."""
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

    `changes`: rows in any order; of a text under a condition that comes twice, the last one.
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
