"""Roads: by which protocol scores came about, and how many did not."""

from collections import Counter
from collections.abc import Iterable, Mapping

from spanjury.orchestration.studies.faithfulness.changes import Fate
from spanjury.orchestration.studies.faithfulness.score_arrays import ScoreArrays

__all__ = ["methods", "outcomes"]


def methods(score_arrays: Iterable[ScoreArrays]) -> Mapping[str, Mapping[str, int]]:
    """Count, judge by judge, how often scores came about by each road."""
    told: dict[str, Counter[str]] = {}
    for one in score_arrays:
        counted = told.setdefault(one.judge, Counter())
        counted.update(change.method.value for change in one.changes if change.method is not None)
    return told


def outcomes(score_arrays: Iterable[ScoreArrays]) -> Mapping[str, Mapping[str, int]]:
    """Count, judge by judge, how rescorings ended."""
    told: dict[str, Counter[str]] = {}
    for one in score_arrays:
        counted = told.setdefault(one.judge, Counter())
        counted.update(
            change.outcome.value for change in one.changes if change.fate is Fate.RESCORED
        )
    return told
