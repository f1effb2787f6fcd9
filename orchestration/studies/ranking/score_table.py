"""Scores of systems' texts as arrays, one aspect at a time: a panel's, and people's on some."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from spanjury.stats.arrays import FloatArray

_NO_PEOPLE: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedText:
    """A text of a system, with its scores on one aspect.

    Parameters
    ----------
    source
        The input that it is for: texts of one source are compared with each other.
    score
        The panel's; None where it gave none.
    people
        Annotator -> score.
    chance
        With which it was drawn to be marked; None where nothing says so.
    """

    system: str
    source: str
    score: float | None
    people: Mapping[str, float] = field(default_factory=lambda: _NO_PEOPLE)
    chance: float | None = None

    @property
    def mark(self) -> float | None:
        """The mean of people's scores; None without any."""
        scores = self.people.values()
        return sum(scores) / len(scores) if scores else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoreTable:
    """Scores on one aspect, in arrays of the shape ``(systems, columns)``.

    A column is an input; the second text of a system for an input stands in one of its own.

    Parameters
    ----------
    inputs
        Shape ``(columns,)``: the number of the input of each column.
    texts
        Shape ``(systems,)``: how many texts each system has.
    judged, people
        NaN where there is no text, or no score.
    weights
        One over the chance that a text had to be marked; all alike where no chance is known.
    without_chance
        Marks that were left out, as others have a chance and no one knows theirs.
    """

    aspect: str
    systems: tuple[str, ...]
    inputs: NDArray[np.intp]
    texts: NDArray[np.intp]
    judged: FloatArray
    people: FloatArray
    weights: FloatArray
    is_weighted: bool
    without_chance: int

    @property
    def marked(self) -> int:
        """Texts that people scored and the panel did, too."""
        return int(np.count_nonzero(~np.isnan(self.people + self.judged)))


def score_table(texts: Sequence[RankedText], *, aspect: str) -> ScoreTable:
    """Put the scores of texts on one aspect into arrays; systems and inputs as they come."""
    systems = {name: number for number, name in enumerate(_distinct(text.system for text in texts))}
    taken = Counter[tuple[str, str]]()
    columns: dict[tuple[str, int], int] = {}
    cells: list[tuple[int, int]] = []
    for text in texts:
        again = taken[text.system, text.source]
        taken[text.system, text.source] += 1
        column = columns.setdefault((text.source, again), len(columns))
        cells.append((systems[text.system], column))
    sources = {name: number for number, name in enumerate(_distinct(key for key, _ in columns))}
    rows = tuple(np.array(cells, dtype=np.intp).reshape(-1, 2).T)

    def table(values: Iterable[float | None]) -> FloatArray:
        filled = np.full((len(systems), len(columns)), np.nan)
        filled[rows] = [math.nan if value is None else value for value in values]
        return filled

    people, chances = table(text.mark for text in texts), table(text.chance for text in texts)
    unknown = ~np.isnan(people) & np.isnan(chances)
    is_weighted = bool((~np.isnan(people) & ~np.isnan(chances)).any())
    return ScoreTable(
        aspect=aspect,
        systems=tuple(systems),
        inputs=np.array([sources[key] for key, _ in columns], dtype=np.intp),
        texts=np.bincount(rows[0], minlength=len(systems)).astype(np.intp),
        judged=table(text.score for text in texts),
        people=np.where(unknown, np.nan, people) if is_weighted else people,
        weights=np.where(np.isnan(chances), 1.0, 1 / chances)
        if is_weighted
        else np.ones_like(people),
        is_weighted=is_weighted,
        without_chance=int(np.count_nonzero(unknown)) if is_weighted else 0,
    )


def _distinct(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
