"""Outcomes of a condition: scores before and after, and how they differ from the control.

The paper's caption calls a report inconsistent whose score one step changes and two steps do
not. The figures beneath it count more: all that is neither "nothing moves" nor "both move as
they should" nor "only two steps move it, as they should" [1]. Both are given.

References
----------
.. [1] Terentowicz, Lango, Dušek (2025), How (Un)faithful are Explainable LLM-based NLG Metrics?,
   Figures 1 and 5 to 25, and the code behind them
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanjury.judges.core import MAX_SEVERITY, MIN_SEVERITY, Outcome, RescoringMethod
from spanjury.orchestration.studies.estimates import grouped, numbered
from spanjury.perturbations.explanation.perturbation import Unchanged
from spanjury.stats.arrays import FloatArray, cluster_sums
from spanjury.stats.resampling import Estimate
from spanjury.stats.significance.sign_flip import paired_test
from spanjury.stats.significance.sign_test import sign_test

Direction = Literal["falls", "rises"]
"""Direction in which the score of a judge that follows its list should go."""

CONTROL = "null-control"
"""The condition that changes nothing: the score is asked for again."""
REPEAT = "null-repeat"
"""The same once more."""
SMALLEST_MOVE = 0.1
"""Smallest difference of two scores that counts as a move, in points of the scale: a reader of
one decimal sees no smaller one. Integer labels, as in the paper, move by 1 or not at all."""
_ROUNDING = 1e-9
"""Differences of scores are off by this much through rounding."""
_ADDING = frozenset({"addition", "critical"})
"""Families that change a list without errors too."""
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
    `before`, `after`: scores of the list as it was and as it is; None if there is none.
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
    source: str | None = None
    """Digest of the text's inputs, the same for all texts about one source; None where the record
    does not say: the text then counts as its own source."""

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
    def is_control(self) -> bool:
        """True for the controls, in which the list is not changed."""
        return self.condition in (CONTROL, REPEAT)

    @property
    def why_unchanged(self) -> str:
        """Why the list could not be changed; records from elsewhere often do not say."""
        if self.unchanged is not None:
            return self.unchanged.value
        is_error_free = self.list_outcome is ListOutcome.ERROR_FREE
        return Unchanged.NO_ERRORS.value if is_error_free else "not recorded"

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
    """Return what is added to `severities` in all when each moves `by` steps, clipped to 1-5."""
    graded = [severity for severity in severities if severity is not None]
    moved = [min(MAX_SEVERITY, max(MIN_SEVERITY, severity + by)) for severity in graded]
    return sum(moved) - sum(graded)


_UNKNOWN = frozenset({ListOutcome.ABSENT, ListOutcome.FAILED})
"""Outcomes of lists after which the next score is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoreArrays:
    """The scores of one judge on one aspect of one dataset, before and after.

    `before`, `after`: shape ``(conditions, texts)``: scores, NaN if missing. Of a report
    that was not rescored since nothing could be changed, `after` is `before`.
    `recorded`, `rescored`: the same shape: whether there is a report with a score and a word on
    what became of it; whether its list was changed and it was asked for another score.
    """

    judge: str
    dataset: str
    aspect: str
    conditions: tuple[Change, ...]
    """A change under each condition: its name, family, steps, direction and writer are read."""
    texts: tuple[str, ...]
    sources: tuple[str, ...]
    """Name of each text's source; that of the text itself where the record has none."""
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
                room[row] = moves(scores - self.low if is_down else self.high - scores) > 0
        return room

    @property
    def owner(self) -> NDArray[np.intp]:
        """Number of each text's source, shape ``(texts,)``."""
        return numbered(self.sources)[0]

    def row(self, name: str) -> int | None:
        """Return the row of the condition called `name`; None if there is none."""
        names = [change.condition for change in self.conditions]
        return names.index(name) if name in names else None


def collect_scores(changes: Iterable[Change]) -> tuple[ScoreArrays, ...]:
    """Put changes into arrays, one set for each judge, dataset and aspect.

    `changes`: rows in any order; of a text under a condition that comes twice, the last one.
    """
    groups = grouped(changes, lambda change: (change.judge, change.dataset, change.aspect))
    return tuple(map(_score_arrays, groups.values()))


def _score_arrays(changes: Sequence[Change]) -> ScoreArrays:
    conditions = {change.condition: change for change in changes}
    columns = {text: n for n, text in enumerate(dict.fromkeys(change.text for change in changes))}
    sources = {change.text: change.source for change in changes if change.source}
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
        sources=tuple(sources.get(text, text) for text in columns),
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


PATTERNS = ("unmoved", "two steps only", "both", "inconsistent")
"""Effects of one step and of two steps of severity on a score."""


def moves(shifts: FloatArray) -> FloatArray:
    """Return the sign of each shift: 0 for less than `SMALLEST_MOVE`, NaN for NaN.

    Examples
    --------
    >>> moves(np.array([-1.0, 0.05, 3.3 - 3.2])).tolist()
    [-1.0, 0.0, 1.0]
    """
    signs: FloatArray = np.where(np.abs(shifts) < SMALLEST_MOVE - _ROUNDING, 0.0, np.sign(shifts))
    return signs


def share(part: int, whole: int) -> float:
    """Return `part` of `whole`, NaN of nothing."""
    return part / whole if whole else math.nan


class Rates(NamedTuple):
    """The scores of some reports after their lists were changed."""

    reports: int
    """Reports with a score to begin with."""
    lost: int
    """Those of them that were to be scored again, and have no second score."""
    fell: int
    rose: int
    average: Estimate
    """Score afterwards less the one before, over the reports with both."""

    @property
    def scored(self) -> int:
        """Return the number of reports that have both scores."""
        return self.reports - self.lost

    @property
    def changed(self) -> float:
        """Share of changed scores, in ``[0, 1]``, among the reports with both."""
        return share(self.fell + self.rose, self.scored)

    @property
    def changed_as_printed(self) -> float:
        """The same as the paper counts: a score that is lost is a changed one."""
        return share(self.fell + self.rose + self.lost, self.reports)


def rates(shifts: FloatArray, among: BoolArray, *, average: Estimate) -> Rates:
    """Count how the scores of the reports `among` all moved.

    `shifts`: shape ``(texts,)``: score afterwards less the one before, NaN where one is missing.
    `among`: the same shape: which reports count.
    """
    chosen = shifts[among]
    return Rates(
        reports=int(among.sum()),
        lost=int(np.isnan(chosen).sum()),
        fell=int((moves(chosen) < 0).sum()),
        rose=int((moves(chosen) > 0).sum()),
        average=average,
    )


MEASURES = ("changed", "toward", "against", "average")
"""The measures that are compared with the control, in the order of the arrays."""


class NetOfControl(NamedTuple):
    """Figures of a condition minus those of the null control, on the same reports.

    Where the control was repeated, they are minus the mean of both.
    """

    used: int
    """Reports whose list was changed, with a score after that and after the control."""
    control: float
    """Share of these whose score the control changed: the noise of the judge."""
    changed: Estimate
    """Share of changed scores, minus that of the control."""
    toward: Estimate
    """The same of scores that moved as they should."""
    against: Estimate
    """The same of scores that moved the other way."""
    average: Estimate
    """The same of the average change, counted positive where it is as it should be."""
    p_changed: float
    """One-sided: more scores changed than under the first control; McNemar's exact test, of the
    sums by source."""
    p_average: float
    """The same of how far scores moved as they should; the exact signed-rank test."""


def differences(
    score_arrays: ScoreArrays, row: int, *, controls: Sequence[str] = (CONTROL, REPEAT)
) -> FloatArray:
    """Return condition minus control for each report, shape ``(len(MEASURES), texts)``.

    It is NaN for reports that cannot be compared, all without a control, and for a control itself.

    `controls`: what is subtracted: the first of them or, of a report that has a score under others
    too, the mean.
    """
    if score_arrays.conditions[row].direction is None:
        return np.full((len(MEASURES), len(score_arrays.texts)), np.nan)
    measured = _measures(score_arrays, row, of=row)
    measured[:, ~score_arrays.applied[row]] = np.nan
    return measured - _control(score_arrays, row, controls)


def net_of_control(
    score_arrays: ScoreArrays, row: int, *, estimates: tuple[Estimate, ...]
) -> NetOfControl | None:
    """Test a condition against the null control; None where there is nothing to compare.

    The tests take the first control alone: of two draws by the same chances either is as
    likely to be the one that changes, of a draw and the mean of two others it is not.
    """
    compared = differences(score_arrays, row, controls=(CONTROL,))
    by_source = cluster_sums(compared, score_arrays.owner)
    used = ~np.isnan(compared[0])
    if not used.any():
        return None
    changed, toward, against, average = estimates
    return NetOfControl(
        used=int(used.sum()),
        control=float(np.mean(_control(score_arrays, row, (CONTROL, REPEAT))[0][used])),
        changed=changed,
        toward=toward,
        against=against,
        average=average,
        p_changed=math.exp(sign_test(by_source[0]).log_p),
        p_average=math.exp(paired_test(by_source[-1]).log_p),
    )


def _control(score_arrays: ScoreArrays, row: int, names: Sequence[str]) -> FloatArray:
    """Return the measures of the controls, report by report: the mean over them."""
    first, *others = (
        np.full((len(MEASURES), len(score_arrays.texts)), np.nan)
        if (null := score_arrays.row(name)) is None
        else _measures(score_arrays, null, of=row)
        for name in names
    )
    controls = np.stack([first, *(np.where(np.isnan(other), first, other) for other in others)])
    averaged: FloatArray = np.mean(controls, axis=0)
    return averaged


def _measures(score_arrays: ScoreArrays, source: int, *, of: int) -> FloatArray:
    """Return the measures of the scores of `source`, counted in the direction of `of`."""
    sign = 1.0 if score_arrays.conditions[of].direction == "rises" else -1.0
    shifts = np.where(score_arrays.rescored[source], sign * score_arrays.shifts[source], np.nan)
    signs = moves(shifts)
    measures = np.stack([signs != 0, signs > 0, signs < 0, shifts]).astype(np.float64)
    return np.where(np.isnan(shifts), np.nan, measures)


@dataclass(frozen=True, slots=True, kw_only=True)
class Consistency:
    """One step of a family beside two.

    `reports`, `with_errors`: with a score before, after one step and after two; all of them, and
    those that list errors.
    `reverted`, `reverted_with_errors`: number of these that one step changed and two steps did not.
    `broad`, `broad_with_errors`: number of these that are inconsistent as the authors count.
    """

    judge: str
    dataset: str
    aspect: str
    family: str
    direction: Direction
    reports: int
    with_errors: int
    reverted: int
    reverted_with_errors: int
    broad: int
    broad_with_errors: int

    @property
    def share_reverted(self) -> float:
        """Over the reports that list errors; NaN without any."""
        return share(self.reverted_with_errors, self.with_errors)

    @property
    def share_broad(self) -> float:
        """Over the reports that list errors; NaN without any."""
        return share(self.broad_with_errors, self.with_errors)


def consistencies(score_arrays: ScoreArrays) -> Iterator[Consistency]:
    """Compare one step with two, for every family and direction that has both."""
    for single, double in steps(score_arrays):
        condition = score_arrays.conditions[single]
        assert condition.direction is not None
        first, second = paired_shifts(score_arrays, single, double)
        both = ~np.isnan(first)
        reverted = both & (moves(first) != 0) & (moves(second) == 0)
        broad = both & (patterns(first, second) == PATTERNS.index("inconsistent"))
        with_errors = score_arrays.with_errors[single]
        yield Consistency(
            judge=score_arrays.judge,
            dataset=score_arrays.dataset,
            aspect=score_arrays.aspect,
            family=condition.family,
            direction=condition.direction,
            reports=int(both.sum()),
            with_errors=int((both & with_errors).sum()),
            reverted=int(reverted.sum()),
            reverted_with_errors=int((reverted & with_errors).sum()),
            broad=int(broad.sum()),
            broad_with_errors=int((broad & with_errors).sum()),
        )


def paired_shifts(
    score_arrays: ScoreArrays, single: int, double: int
) -> tuple[FloatArray, FloatArray]:
    """Return how far one step, and two, moved each score, positive where it is as it should be.

    NaN in both where one of the two is missing, or they did not start from the same score.
    """
    sign = 1.0 if score_arrays.conditions[single].direction == "rises" else -1.0
    first, second = sign * score_arrays.shifts[single], sign * score_arrays.shifts[double]
    strange = np.isnan(first + second) | (
        score_arrays.before[single] != score_arrays.before[double]
    )
    return np.where(strange, np.nan, first), np.where(strange, np.nan, second)


def patterns(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the index of each report's pattern in `PATTERNS`; NaN where there is no pair."""
    single, double = moves(first), moves(second)
    indices = np.full(first.shape, float(PATTERNS.index("inconsistent")))
    indices[(single == 0) & (double == 0)] = PATTERNS.index("unmoved")
    indices[(single <= 0) & (double > 0)] = PATTERNS.index("two steps only")
    indices[(single > 0) & (double > 0)] = PATTERNS.index("both")
    indices[np.isnan(first + second)] = np.nan
    return indices


def steps(score_arrays: ScoreArrays) -> Iterator[tuple[int, int]]:
    """Yield the rows of one step and of two that differ in nothing else."""
    rows = {
        (condition.family, condition.direction, abs(condition.by)): row
        for row, condition in enumerate(score_arrays.conditions)
        if condition.by is not None and condition.direction is not None
    }
    for (family, direction, size), row in rows.items():
        double = rows.get((family, direction, 2))
        if size == 1 and double is not None:
            yield row, double
