"""Changes: reports whose error list was changed, with the scores before and after."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from spanjury.judges.core import MAX_SEVERITY, MIN_SEVERITY, Outcome, RescoringMethod
from spanjury.perturbations.explanation.perturbation import Unchanged

Direction = Literal["falls", "rises"]
"""Direction in which the score of a judge that follows its list should go."""

CONTROL = "null-control"
"""The condition that changes nothing: the score is asked for again."""
REPEAT = "null-repeat"
"""The same once more."""


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
"""Of reports whose list could not be changed, so that their score stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One changed list of one judge, and the score that followed.

    Raises `ValueError` if a score lies off its scale, a report that was not rescored has
    another score, or one whose list was changed says why it was not.

    Parameters
    ----------
    judge, dataset, aspect, text
        Whose report it is, and of what; `text` is a segment id.
    family
        Kind of condition, as ``"severity"``; empty for the controls.
    by
        Steps of severity, for conditions that come in steps; None for others.
    direction
        Where the score should go; None where nothing was changed.
    before, after
        Scores of the list as it was and as it is; None where there is none.
    outcome
        How the rescoring ended; of a report that was not rescored, how the report did.
    unchanged
        Why the list could not be changed; None where it could, or the record does not say.
    written_by
        Name of the model that was to write what this condition puts on lists; empty for a
        rule.
    errors, errors_after
        How many errors the two lists have; None where the record does not say.
    severity_change
        Sum of what was added to severities; None where the record does not say.
    expected
        Mean score over the probabilities of its labels afterwards; None where they are not
        known.
    method
        How the score came about; None where the record does not say.
    """

    judge: str
    dataset: str
    aspect: str
    text: str
    condition: str
    family: str = ""
    by: int | None = None
    direction: Direction | None = None
    before: float | None = None
    after: float | None = None
    list_outcome: ListOutcome = ListOutcome.RESCORED
    outcome: Outcome = Outcome.SCORED
    reason: str = ""
    unchanged: Unchanged | None = None
    written_by: str = ""
    errors: int | None = None
    errors_after: int | None = None
    severity_change: int | None = None
    expected: float | None = None
    method: RescoringMethod | None = None
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
