"""Ratings: scores of segments, beside people's, as arrays."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from spanjury.judges.core import Segment
from spanjury.stats.arrays import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorer:
    """A scorer of segments: a metric, a judge, a panel.

    Parameters
    ----------
    scores
        Segment id -> score; a segment that got none is absent.
    aspect
        The quality that is scored; empty for a scorer of no aspect, as a metric, which is
        compared with people's scores on each.
    run
        Run of the panel in which the judge was one of several seats.
    """

    name: str
    scores: Mapping[str, float]
    aspect: str = ""
    lower_is_better: bool = False
    signature: str = ""
    run: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratings:
    """Scores by people and by scorers of the outputs that people rated on one aspect.

    Parameters
    ----------
    human
        Shape ``(systems, inputs)``: the mean over the raters of each output; NaN where there
        is no output, or no person rated it.
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
        """Number of outputs that people rated."""
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
    """Collect the scores of the outputs that people rated on `aspect`.

    Raise `ValueError` if people rated nothing on it.

    Parameters
    ----------
    segments
        With human scores; those without one on `aspect`, or whose score is no number, are
        skipped. Segments with the same inputs are outputs for one input; the second output of a
        system for an input stands in a column of its own.
    """
    rated = [(segment, segment.human_score(aspect)) for segment in segments]
    kept = [(text, score) for text, score in rated if score is not None and math.isfinite(score)]
    if not kept:
        raise ValueError(f"no person rated {aspect!r}")
    outputs = [text for text, _ in kept]
    layout = _layout(outputs)
    about = tuple(scorer for scorer in scorers if scorer.aspect in {"", aspect})
    human = layout.table([score for _, score in kept])
    scores = [layout.table(_scores(scorer, outputs)) for scorer in about]
    return Ratings(
        aspect=aspect,
        systems=layout.systems,
        inputs=layout.inputs,
        human=human,
        scorers=about,
        scores=np.array(scores).reshape(len(about), *human.shape),
    )


class _Layout(NamedTuple):
    """Rows and columns of a table, and those of each output."""

    systems: tuple[str, ...]
    inputs: tuple[str, ...]
    rows: Sequence[int]
    columns: Sequence[int]

    def table(self, values: Sequence[float]) -> FloatArray:
        filled = np.full((len(self.systems), len(self.inputs)), np.nan)
        filled[self.rows, self.columns] = values
        return filled


def _layout(segments: Sequence[Segment]) -> _Layout:
    rows, columns = _Numbers(), _Numbers()
    cells: list[tuple[int, int]] = []
    taken: Counter[tuple[str, str]] = Counter()
    for segment in segments:
        key = input_of(segment)
        number = taken[segment.system, key]
        taken[segment.system, key] += 1
        column = key if not number else f"{key} (again, {number})"
        cells.append((rows.of(segment.system), columns.of(column)))
    return _Layout(
        systems=tuple(rows.numbers),
        inputs=tuple(columns.numbers),
        rows=[row for row, _ in cells],
        columns=[column for _, column in cells],
    )


@dataclass(slots=True)
class _Numbers:
    """Names, numbered in the order in which they come."""

    numbers: dict[str, int] = field(default_factory=dict)

    def of(self, name: str) -> int:
        return self.numbers.setdefault(name, len(self.numbers))


def _scores(scorer: Scorer, segments: Sequence[Segment]) -> list[float]:
    sign = -1.0 if scorer.lower_is_better else 1.0
    return [sign * scorer.scores.get(segment.segment_id, math.nan) for segment in segments]


def input_of(segment: Segment) -> str:
    """Return the input that an output is of: its document's id, or else the texts themselves.

    A text of which nothing says it is of an input of its own.
    """
    known_input = known_input_of(segment)
    return segment.segment_id if known_input is None else known_input


def known_input_of(segment: Segment) -> str | None:
    """Return the input that an output is of; None where nothing says it."""
    for key in ("doc_id", "input_id"):
        if key in segment.meta:
            return str(segment.meta[key])
    if segment.inputs:
        return "\n".join(f"{header}\n{text}" for header, text in segment.inputs.items())
    return None
