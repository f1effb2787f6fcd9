"""Curves: the figures of the paper, worked out of the score arrays."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from spanjury.orchestration.studies.faithfulness.consistency import (
    PATTERNS,
    paired_shifts,
    patterns,
    steps,
)
from spanjury.orchestration.studies.faithfulness.score_arrays import FloatArray, ScoreArrays

_FEWEST = 3
"""A point is the mean of so many changes at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """Shares of reports by their score to begin with.

    Parameters
    ----------
    shares
        Shape ``(scores, parts)``; each row sums to 1, or to 0 where there is no report.
    reports
        Shape ``(scores,)``: how many there are.
    """

    title: str
    scores: tuple[int, ...]
    parts: tuple[str, ...]
    shares: FloatArray
    reports: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A mean at each of some points, and its spread (standard deviation)."""

    name: str
    x: tuple[int, ...]
    mean: tuple[float, ...]
    spread: tuple[float, ...]


Points = defaultdict[str, defaultdict[int, list[float]]]


def by_start(score_arrays: ScoreArrays) -> tuple[Stack, ...]:
    """Return what one and two steps of severity do to a score (the paper's Figure 1)."""
    stacks = (_of_steps(score_arrays, single, double) for single, double in steps(score_arrays))
    return tuple(stack for stack in stacks if stack.reports.any())


def after_critical(score_arrays: ScoreArrays) -> tuple[Stack, ...]:
    """Return which score a critical error leaves (the paper's Figure 4)."""
    stacks = (
        _stack(
            condition.name,
            score_arrays,
            start=np.where(score_arrays.applied[row], score_arrays.before[row], np.nan),
            part=score_arrays.after[row] - score_arrays.low,
            parts=tuple(str(score) for score in _scores(score_arrays)),
        )
        for row, condition in enumerate(score_arrays.conditions)
        if condition.family == "critical"
    )
    return tuple(stack for stack in stacks if stack.reports.any())


def by_severity(score_arrays: ScoreArrays) -> tuple[Curve, ...]:
    """Return how far scores move by how much severities were moved in all (Figure 2)."""
    points: Points = defaultdict(lambda: defaultdict(list))
    for change in score_arrays.changes:
        shift = change.shift
        if change.by is not None and change.severity_change is not None and shift is not None:
            points[change.family][change.severity_change].append(shift)
    return _curves(points)


def by_deleted(score_arrays: ScoreArrays, *, of: tuple[int, ...] = (2, 3, 4)) -> tuple[Curve, ...]:
    """Return the share of changed scores by how many of the errors were deleted (Figure 3)."""
    points: Points = defaultdict(lambda: defaultdict(list))
    for change in score_arrays.changes:
        if change.family != "removal" or change.shift is None or change.errors not in of:
            continue
        if change.errors_after is not None:
            deleted = change.errors - change.errors_after
            points[f"{change.errors} errors"][deleted].append(float(change.shift != 0))
    return _curves(points)


def _of_steps(score_arrays: ScoreArrays, single: int, double: int) -> Stack:
    condition = score_arrays.conditions[single]
    first, second = paired_shifts(score_arrays, single, double)
    return _stack(
        f"{condition.family}, score should {'rise' if condition.direction == 'rises' else 'fall'}",
        score_arrays,
        start=np.where(score_arrays.with_errors[single], score_arrays.before[single], np.nan),
        part=patterns(first, second),
        parts=PATTERNS,
    )


def _stack(
    title: str,
    score_arrays: ScoreArrays,
    *,
    start: FloatArray,
    part: FloatArray,
    parts: tuple[str, ...],
) -> Stack:
    scores = _scores(score_arrays)
    counts = np.zeros((len(scores), len(parts)))
    pairs = ~np.isnan(start + part)
    for score, which in zip(np.rint(start[pairs]), np.rint(part[pairs]), strict=True):
        counts[int(score) - score_arrays.low, int(which)] += 1
    reports = counts.sum(axis=1)
    shares = counts / np.maximum(1, reports)[:, np.newaxis]
    return Stack(title=title, scores=scores, parts=parts, shares=shares, reports=reports)


def _scores(score_arrays: ScoreArrays) -> tuple[int, ...]:
    return tuple(range(score_arrays.low, score_arrays.high + 1))


def _curves(points: Mapping[str, Mapping[int, list[float]]]) -> tuple[Curve, ...]:
    """Make lines of the values at each point; a line without points is dropped."""
    curves = (_curve(name, values) for name, values in points.items())
    return tuple(curve for curve in curves if curve.x)


def _curve(name: str, points: Mapping[int, list[float]]) -> Curve:
    enough = {x: values for x, values in sorted(points.items()) if len(values) >= _FEWEST}
    return Curve(
        name=name,
        x=tuple(enough),
        mean=tuple(float(np.mean(values)) for values in enough.values()),
        spread=tuple(float(np.std(values)) for values in enough.values()),
    )
