"""Outcomes of a condition: counts of lists and scores, and how these differ from the control.

The paper's caption calls a report inconsistent whose score one step changes and two steps do
not. The figures beneath it count more: all that is neither "nothing moves" nor "both move as
they should" nor "only two steps move it, as they should" [1]. Both are given.

References
----------
.. [1] Terentowicz, Lango, Dušek (2025), How (Un)faithful are Explainable LLM-based NLG Metrics?,
   Figures 1 and 5 to 25, and the code behind them
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from spanjury.orchestration.studies.faithfulness.score_arrays import (
    CONTROL,
    REPEAT,
    UNCHANGED,
    BoolArray,
    Change,
    Direction,
    FloatArray,
    ListOutcome,
    ScoreArrays,
)
from spanjury.perturbations.explanation.perturbation import Unchanged
from spanjury.stats.significance.sign_flip import paired_test
from spanjury.stats.significance.sign_test import sign_test

_NOT_RECORDED = "not recorded"
PATTERNS = ("unmoved", "two steps only", "both", "inconsistent")
"""Effects of one step and of two steps of severity on a score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeCounts:
    """Numbers of lists by outcome under one condition; the fields are those of `Finding`."""

    absent: int
    unscored: int
    error_free: int
    clipped: int
    unchanged: Mapping[str, int]
    failed: Mapping[str, int]


def outcome_counts(score_arrays: ScoreArrays) -> tuple[OutcomeCounts, ...]:
    """Count lists by outcome, condition by condition."""
    rows: dict[str, dict[str, Change]] = {
        condition.name: {} for condition in score_arrays.conditions
    }
    for change in score_arrays.changes:  # of a text that comes twice, the last one
        rows[change.condition][change.text] = change
    texts = len(score_arrays.texts)
    return tuple(_outcome_counts(changes.values(), texts=texts) for changes in rows.values())


def _outcome_counts(changes: Iterable[Change], *, texts: int) -> OutcomeCounts:
    listed = tuple(changes)
    counts = Counter(change.list_outcome for change in listed)
    return OutcomeCounts(
        absent=texts - len(listed) + counts[ListOutcome.ABSENT],
        unscored=counts[ListOutcome.UNSCORED],
        error_free=counts[ListOutcome.ERROR_FREE],
        clipped=counts[ListOutcome.CLIPPED],
        unchanged=Counter(_why(change) for change in listed if change.list_outcome in UNCHANGED),
        failed=Counter(
            change.reason for change in listed if change.list_outcome is ListOutcome.FAILED
        ),
    )


def _why(change: Change) -> str:
    """Return why a list could not be changed; records from elsewhere often do not say."""
    if change.unchanged is not None:
        return change.unchanged.value
    is_error_free = change.list_outcome is ListOutcome.ERROR_FREE
    return Unchanged.NO_ERRORS.value if is_error_free else _NOT_RECORDED


def share(part: int, whole: int) -> float:
    """Return `part` of `whole`, NaN of nothing."""
    return part / whole if whole else math.nan


class Estimate(NamedTuple):
    """A mean, with its 95 % interval over resampled texts; NaN where there is none."""

    value: float
    low: float
    high: float


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
        fell=int((chosen < 0).sum()),
        rose=int((chosen > 0).sum()),
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
    """One-sided: more scores changed than under the first control; McNemar's exact test."""
    p_average: float
    """The same of how far scores moved as they should; the exact signed-rank test."""


def differences(
    score_arrays: ScoreArrays, row: int, *, controls: Sequence[str] = (CONTROL, REPEAT)
) -> FloatArray:
    """Return condition minus control for each report.

    `controls`: what is subtracted: the first of them or, of a report that has a score under others
    too, the mean.

    Returns
    -------
    FloatArray
        Shape ``(len(MEASURES), texts)``; NaN for reports that cannot be compared, which are
        all without a control, and for a control itself.
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
        p_changed=math.exp(sign_test(compared[0]).log_p),
        p_average=math.exp(paired_test(compared[-1]).log_p),
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
    measures = np.stack([shifts != 0, shifts > 0, shifts < 0, shifts]).astype(np.float64)
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
        reverted = both & (first != 0) & (second == 0)
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
    indices = np.full(first.shape, float(PATTERNS.index("inconsistent")))
    indices[(first == 0) & (second == 0)] = PATTERNS.index("unmoved")
    indices[(first <= 0) & (second > 0)] = PATTERNS.index("two steps only")
    indices[(first > 0) & (second > 0)] = PATTERNS.index("both")
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
