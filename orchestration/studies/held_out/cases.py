"""Cases: texts that were held out of training, each with the report that a judge should make."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spanjury.judges.core import Aspect, Report, Segment

ALL = ""
"""The group of all cases."""

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One text and one aspect of it.

    Raises `ValueError` if the target has no score.

    Parameters
    ----------
    target
        The report that a judge should make; with a score on the scale of the aspect.
    input_id
        Texts for the same input are drawn together.
    damages
        How the text was damaged; empty for one as it was.
    """

    segment: Segment
    aspect: Aspect
    target: Report
    input_id: str
    damages: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.target.score is None:
            raise ValueError(f"the target of {self.segment.segment_id!r} has no score")


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenInTraining:
    """The tasks, aspects and damages that a model was trained on.

    Parameters
    ----------
    aspects
        Task and aspect: the same word in another task is another aspect.
    """

    tasks: frozenset[str]
    aspects: frozenset[tuple[str, str]]
    damages: frozenset[str]


def groups_of(cases: Sequence[Case], seen: SeenInTraining | None) -> Mapping[str, BoolArray]:
    """Return which cases are like those that a model was trained on, and which are not.

    Parameters
    ----------
    seen
        None where it is not known: then there is the group of all cases only.

    Returns
    -------
    dict
        Group -> whether a case is in it, shape ``(cases,)``; `ALL` first, and no empty group.
        A text with any damage that is unseen is among the unseen damages; one without damage
        is in neither group of damages.
    """
    groups = {ALL: np.ones(len(cases), dtype=np.bool_)}
    if seen is not None:
        tasks = [case.aspect.task.name in seen.tasks for case in cases]
        aspects = [(case.aspect.task.name, case.aspect.name) in seen.aspects for case in cases]
        seen_damage = [seen.damages.issuperset(case.damages) for case in cases]
        damaged = np.array([bool(case.damages) for case in cases])
        every = groups[ALL]
        for name, flags, among in (
            ("tasks", tasks, every),
            ("aspects", aspects, every),
            ("damages", seen_damage, damaged),
        ):
            groups[f"seen-{name}"] = among & np.array(flags)
            groups[f"unseen-{name}"] = among & ~np.array(flags)
    return {name: inside for name, inside in groups.items() if inside.any()}
