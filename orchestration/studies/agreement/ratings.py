"""Ratings: what scorers say of segments, beside what people say of them, as arrays."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from spanjury.judges.core import Segment
from spanjury.stats.arrays import FloatArray

__all__ = ["Ratings", "Scorer", "rated_aspects", "ratings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorer:
    """Whoever scores segments: a metric, a judge, a panel.

    Parameters
    ----------
    name
        Unique in an evaluation.
    scores
        Segment id -> score; a segment that got none is absent.
    aspect
        What is scored; empty for a scorer of no aspect, as a metric, which is compared with
        people's scores on each.
    falls
        Whether lower scores are better.
    signature
        Everything that can change a score.
    run
        Of a judge that sat on a panel with others: the run in which it did.
    """

    name: str
    scores: Mapping[str, float]
    aspect: str = ""
    falls: bool = False
    signature: str = ""
    run: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratings:
    """What people and scorers say of the outputs that people rated on one aspect.

    Parameters
    ----------
    aspect
        What people rated.
    systems, inputs
        Names of the rows and columns of the tables.
    human
        Shape ``(systems, inputs)``: the mean over the raters of each output; NaN where there
        is no output, or nobody rated it.
    scorers
        Who else scored.
    scores
        Shape ``(scorers, systems, inputs)``, higher for better; NaN where there is no score.
    """

    aspect: str
    systems: tuple[str, ...]
    inputs: tuple[str, ...]
    human: FloatArray
    scorers: tuple[Scorer, ...]
    scores: FloatArray

    @property
    def items(self) -> int:
        """How many outputs people rated."""
        return int(np.count_nonzero(~np.isnan(self.human)))

    @property
    def coverage(self) -> FloatArray:
        """Share of the rated outputs that each scorer scored, shape ``(scorers,)``."""
        both = ~np.isnan(self.human) & ~np.isnan(self.scores)
        shares: FloatArray = np.count_nonzero(both, axis=(-2, -1)) / self.items
        return shares


def rated_aspects(segments: Sequence[Segment]) -> tuple[str, ...]:
    """Return the aspects that people rated, in the order in which they first come."""
    return tuple(dict.fromkeys(aspect for segment in segments for aspect in segment.human))


def ratings(segments: Sequence[Segment], scorers: Sequence[Scorer], *, aspect: str) -> Ratings:
    """Gather what is known of the outputs that people rated on `aspect`.

    Parameters
    ----------
    segments
        With human scores; those without one on `aspect`, or whose score is no number, are left
        out. Segments with the same inputs are outputs for one input; the second output of a
        system for an input stands in a column of its own.
    scorers
        Those of another aspect are left out.
    aspect
        Name of an aspect.

    Raises
    ------
    ValueError
        If people rated nothing on it.
    """
    rated = [(one, one.human_score(aspect)) for one in segments]
    kept = [(one, score) for one, score in rated if score is not None and math.isfinite(score)]
    if not kept:
        raise ValueError(f"nobody rated {aspect!r}")
    cells = _cells([one for one, _ in kept])
    heard = tuple(scorer for scorer in scorers if scorer.aspect in {"", aspect})
    human = cells.table([score for _, score in kept])
    told = [cells.table(_scores(scorer, [one for one, _ in kept])) for scorer in heard]
    return Ratings(
        aspect=aspect,
        systems=cells.systems,
        inputs=cells.inputs,
        human=human,
        scorers=heard,
        scores=np.array(told).reshape(len(heard), *human.shape),
    )


class _Cells(NamedTuple):
    """Where in a table each output stands."""

    systems: tuple[str, ...]
    inputs: tuple[str, ...]
    rows: Sequence[int]
    columns: Sequence[int]

    def table(self, values: Sequence[float]) -> FloatArray:
        told = np.full((len(self.systems), len(self.inputs)), np.nan)
        told[self.rows, self.columns] = values
        return told


def _cells(segments: Sequence[Segment]) -> _Cells:
    rows, columns = _Numbers(), _Numbers()
    places: list[tuple[int, int]] = []
    taken: Counter[tuple[str, str]] = Counter()
    for one in segments:
        key = _input_of(one)
        number = taken[one.system, key]
        taken[one.system, key] += 1
        column = key if not number else f"{key} (again, {number})"
        places.append((rows.of(one.system), columns.of(column)))
    return _Cells(
        systems=tuple(rows.numbers),
        inputs=tuple(columns.numbers),
        rows=[row for row, _ in places],
        columns=[column for _, column in places],
    )


@dataclass(slots=True)
class _Numbers:
    """Names, numbered in the order in which they come."""

    numbers: dict[str, int] = field(default_factory=dict)

    def of(self, name: str) -> int:
        return self.numbers.setdefault(name, len(self.numbers))


def _scores(scorer: Scorer, segments: Sequence[Segment]) -> list[float]:
    sign = -1.0 if scorer.falls else 1.0
    return [sign * scorer.scores.get(one.segment_id, math.nan) for one in segments]


def _input_of(segment: Segment) -> str:
    """Say which input an output is of: its document's id, or else the texts themselves."""
    for key in ("doc_id", "input_id"):
        if key in segment.meta:
            return str(segment.meta[key])
    if segment.inputs:
        return "\n".join(f"{header}\n{text}" for header, text in segment.inputs.items())
    return segment.segment_id
