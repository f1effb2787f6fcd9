"""Roads: by which protocol scores came about, and how many did not."""

from collections import Counter
from collections.abc import Iterable, Mapping

from spanjury.orchestration.studies.faithfulness.changes import Fate
from spanjury.orchestration.studies.faithfulness.score_arrays import Evidence

__all__ = ["outcomes", "roads"]


def roads(evidence: Iterable[Evidence]) -> Mapping[str, Mapping[str, int]]:
    """Count, judge by judge, how often scores came about by each road."""
    told: dict[str, Counter[str]] = {}
    for one in evidence:
        counted = told.setdefault(one.judge, Counter())
        counted.update(change.road.value for change in one.changes if change.road is not None)
    return told


def outcomes(evidence: Iterable[Evidence]) -> Mapping[str, Mapping[str, int]]:
    """Count, judge by judge, how rescorings ended."""
    told: dict[str, Counter[str]] = {}
    for one in evidence:
        counted = told.setdefault(one.judge, Counter())
        counted.update(
            change.outcome.value for change in one.changes if change.fate is Fate.RESCORED
        )
    return told
