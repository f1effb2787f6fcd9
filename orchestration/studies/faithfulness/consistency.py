"""Consistency: whether two steps of severity do at least what one step does.

The paper's caption calls a report inconsistent whose score one step changes and two steps do
not. The figures beneath it count more: all that is neither "nothing moves" nor "both move as
they should" nor "only two steps move it, as they should" [1]. Both are given.

References
----------
.. [1] Terentowicz, Lango, Dušek (2025), How (Un)faithful are Explainable LLM-based NLG Metrics?,
   Figures 1 and 5 to 25, and the code behind them
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from spanjury.orchestration.studies.faithfulness.changes import Direction
from spanjury.orchestration.studies.faithfulness.outcomes import share
from spanjury.orchestration.studies.faithfulness.score_arrays import FloatArray, ScoreArrays

PATTERNS = ("unmoved", "two steps only", "both", "inconsistent")
"""Effects of one step and of two steps of severity on a score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Consistency:
    """One step of a family beside two.

    Parameters
    ----------
    reports, with_errors
        With a score before, after one step and after two; all of them, and those that list
        errors.
    reverted, reverted_with_errors
        Of these: changed by one step and not by two.
    broad, broad_with_errors
        Of these: inconsistent as the authors count.
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
