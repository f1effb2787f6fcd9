"""Ratings: scores of segments, beside people's, as arrays."""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spanjury.judges.core import Segment
from spanjury.stats.arrays import FloatArray

K = TypeVar("K", bound=Hashable)
L = TypeVar("L", bound=Hashable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorer:
    """A scorer of segments: a metric, a judge, a panel."""

    name: str
    scores: Mapping[str, float]
    """Segment id -> score; a segment that got none is absent."""
    aspect: str = ""
    """The quality that is scored; empty for a scorer of no aspect, as a metric, which is compared
    with people's scores on each."""
    lower_is_better: bool = False
    signature: str = ""
    run: str = ""
    """Run of the panel in which the judge was one of several seats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratings:
    """Scores by people and by scorers of the outputs that people rated on one aspect."""

    aspect: str
    systems: tuple[str, ...]
    inputs: tuple[str, ...]
    human: FloatArray
    """Shape ``(systems, inputs)``: the mean over the raters of each output; NaN where there is no
    output, or no person rated it."""
    scorers: tuple[Scorer, ...]
    scores: FloatArray
    """Shape ``(scorers, systems, inputs)``, higher for better; NaN where there is no score."""

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


class Grid(NamedTuple, Generic[K, L]):
    """Cells of texts in a table of systems and inputs, both numbered as they come.

    The second text of a system for an input stands in a column of its own.
    """

    systems: tuple[K, ...]
    columns: tuple[tuple[L, int], ...]
    """The input of each, and how many texts of a system for it stand in columns before it."""
    cells: tuple[NDArray[np.intp], NDArray[np.intp]]
    """Rows and columns of the texts."""

    @classmethod
    def of(cls, systems: Iterable[K], inputs: Iterable[L]) -> "Grid[K, L]":
        """Give each text a cell."""
        taken: Counter[tuple[K, L]] = Counter()
        rows: dict[K, int] = {}
        columns: dict[tuple[L, int], int] = {}
        pairs = []
        for system, about in zip(systems, inputs, strict=True):
            column = columns.setdefault((about, taken[system, about]), len(columns))
            pairs.append((rows.setdefault(system, len(rows)), column))
            taken[system, about] += 1
        at_rows, at_columns = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
        return cls(tuple(rows), tuple(columns), (at_rows, at_columns))

    def table(self, values: ArrayLike) -> FloatArray:
        """Return values of shape ``(..., texts)`` as ``(..., systems, columns)``; NaN for none."""
        given = np.asarray(values, dtype=np.float64)
        filled = np.full((*given.shape[:-1], len(self.systems), len(self.columns)), np.nan)
        filled[..., *self.cells] = given
        return filled


def rated_aspects(segments: Sequence[Segment]) -> tuple[str, ...]:
    """Return the aspects that people rated, in the order in which they first come."""
    return tuple(dict.fromkeys(aspect for segment in segments for aspect in segment.human))


def ratings(segments: Sequence[Segment], scorers: Sequence[Scorer], *, aspect: str) -> Ratings:
    """Collect the scores of the outputs that people rated on `aspect`.

    Raise `ValueError` if people rated nothing on it.

    `segments`: with human scores; those without one on `aspect`, or whose score is no number, are
    skipped. Segments with the same inputs are outputs for one input; the second output of a system
    for an input stands in a column of its own.
    """
    rated = [(segment, segment.human_score(aspect)) for segment in segments]
    kept = [(text, score) for text, score in rated if score is not None and math.isfinite(score)]
    if not kept:
        raise ValueError(f"no person rated {aspect!r}")
    outputs = [text for text, _ in kept]
    grid = Grid.of([text.system for text in outputs], map(input_of, outputs))
    about = tuple(scorer for scorer in scorers if scorer.aspect in {"", aspect})
    human = grid.table([score for _, score in kept])
    scores = [grid.table(_scores(scorer, outputs)) for scorer in about]
    return Ratings(
        aspect=aspect,
        systems=grid.systems,
        inputs=tuple(f"{name} (again, {again})" if again else name for name, again in grid.columns),
        human=human,
        scorers=about,
        scores=np.array(scores).reshape(len(about), *human.shape),
    )


def _scores(scorer: Scorer, segments: Sequence[Segment]) -> list[float]:
    sign = -1.0 if scorer.lower_is_better else 1.0
    return [sign * scorer.scores.get(segment.segment_id, math.nan) for segment in segments]


def input_of(segment: Segment) -> str:
    """Return the input that an output is of: its document's id, or else the texts themselves.

    A text without either counts as its own input.
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
