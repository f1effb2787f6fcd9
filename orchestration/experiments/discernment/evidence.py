"""Evidence: what was said of clean and of damaged texts, as arrays side by side."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spanjury.judges.core import Aspect, Segment
from spanjury.orchestration.experiments.discernment.exhibits import Exhibit
from spanjury.orchestration.experiments.discernment.hearing import Judgement

__all__ = ["Evidence", "Heard", "gathered", "score_sum"]

_DIGITS = 9
"""Decimals of a sum of scores: 4.1 + 4.3 is to tie with 4.2 + 4.2."""

Heard = Mapping[tuple[str, str], Judgement]
"""``(segment id, aspect name)`` -> what was said."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evidence:
    """Scores, NaN where there is none.

    Parameters
    ----------
    segments, aspects, treatments
        The names along the axes.
    clean, control
        Shape ``(aspects, segments)``: of the clean texts, and of the same a second time.
    damaged
        Shape ``(treatments, aspects, segments)``; NaN also where nothing could be damaged.
    applied
        Shape ``(treatments, segments)``: whether there is a damaged text.
    repeats
        How many scores each number is the sum of: sums have ties where means would have
        differences in their last digit.
    """

    segments: tuple[str, ...]
    aspects: tuple[str, ...]
    treatments: tuple[str, ...]
    clean: NDArray[np.float64]
    control: NDArray[np.float64]
    damaged: NDArray[np.float64]
    applied: NDArray[np.bool_]
    repeats: int

    @property
    def drops(self) -> NDArray[np.float64]:
        """How far the scores fell, summed over repeats: ``(treatments, aspects, segments)``."""
        return self.clean[None] - self.damaged


def gathered(
    segments: Sequence[Segment],
    aspects: Sequence[Aspect],
    shown: Sequence[Exhibit],
    *,
    draws: Sequence[Heard],
    control: Sequence[Heard],
    treatments: Sequence[str],
) -> Evidence:
    """Put what was heard into arrays.

    Parameters
    ----------
    segments, aspects, shown
        What was judged: clean, on what, and damaged.
    draws
        What was said in each repeat, of clean and damaged texts.
    control
        What was said of the clean texts once more, in as many repeats.
    treatments
        Names in the order of the array.
    """
    names = tuple(aspect.name for aspect in aspects)
    rows = {name: number for number, name in enumerate(treatments)}
    columns = {segment.segment_id: number for number, segment in enumerate(segments)}
    damaged = np.full((len(rows), len(names), len(columns)), np.nan)
    applied = np.zeros((len(rows), len(columns)), dtype=bool)
    for exhibit in shown:
        row, column = rows[exhibit.treatment], columns[exhibit.clean.segment_id]
        applied[row, column] = True
        damaged[row, :, column] = _summed(exhibit.damaged.segment_id, names, draws)
    return Evidence(
        segments=tuple(columns),
        aspects=names,
        treatments=tuple(rows),
        clean=np.array([_summed(name, names, draws) for name in columns]).T,
        control=np.array([_summed(name, names, control) for name in columns]).T,
        damaged=damaged,
        applied=applied,
        repeats=len(draws),
    )


def score_sum(key: tuple[str, str], draws: Sequence[Heard]) -> float:
    """Sum the scores under ``(segment id, aspect name)`` over the draws; NaN if one is missing."""
    scores = [heard[key].score for heard in draws]
    known = [score for score in scores if score is not None]
    return round(math.fsum(known), _DIGITS) if len(known) == len(scores) else math.nan


def _summed(segment_id: str, aspects: Sequence[str], draws: Sequence[Heard]) -> NDArray[np.float64]:
    return np.array([score_sum((segment_id, aspect), draws) for aspect in aspects])
