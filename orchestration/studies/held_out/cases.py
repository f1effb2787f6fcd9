"""Cases: texts that were held out of training, each with the report that is due on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spanjury.judges.core import Aspect, Report, Segment

__all__ = ["ALL", "Case", "Seen", "groups_of"]

ALL = ""
"""The group of all cases."""

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One text and one aspect of it.

    Parameters
    ----------
    segment, aspect
        What is asked.
    due
        What is to be found; with a score on the scale of the aspect.
    input_id
        Texts for the same input are drawn together.
    damages
        What was done to the text; empty for one as it was.

    Raises
    ------
    ValueError
        If the report that is due has no score.
    """

    segment: Segment
    aspect: Aspect
    target: Report
    input_id: str
    damages: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.target.score is None:
            raise ValueError(f"no score is due on {self.segment.segment_id!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenInTraining:
    """What a model has met in training.

    Parameters
    ----------
    tasks
        Their names.
    aspects
        Task and aspect: the same word in another task is another aspect.
    damages
        What was done to texts.
    """

    tasks: frozenset[str]
    aspects: frozenset[tuple[str, str]]
    damages: frozenset[str]


def groups_of(cases: Sequence[Case], seen: SeenInTraining | None) -> Mapping[str, BoolArray]:
    """Return which cases are of what a model has seen, and which are of what it has not.

    Parameters
    ----------
    cases
        One or more.
    seen
        None where nobody knows: then there is the group of all cases only.

    Returns
    -------
    dict
        Group -> whether a case is in it, shape ``(cases,)``; `ALL` first, and no empty group.
        A text with any damage that is unseen is among the unseen damages; one without damage
        is in neither group of damages.
    """
    groups = {ALL: np.ones(len(cases), dtype=np.bool_)}
    if seen is not None:
        tasks = [one.aspect.task.name in seen.tasks for one in cases]
        aspects = [(one.aspect.task.name, one.aspect.name) in seen.aspects for one in cases]
        known = [seen.damages.issuperset(one.damages) for one in cases]
        damaged = np.array([bool(one.damages) for one in cases])
        every = groups[ALL]
        for name, met, among in (
            ("tasks", tasks, every),
            ("aspects", aspects, every),
            ("damages", known, damaged),
        ):
            groups[f"seen-{name}"] = among & np.array(met)
            groups[f"unseen-{name}"] = among & ~np.array(met)
    return {name: inside for name, inside in groups.items() if inside.any()}
