"""Scores of systems' texts as arrays: their means, and differences in pairs."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from string import ascii_lowercase
from types import MappingProxyType
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from spanjury.judges.core import Scale
from spanjury.orchestration.studies.agreement.scorers import Grid
from spanjury.orchestration.studies.estimates import bounded, numbered
from spanjury.stats.arrays import FloatArray
from spanjury.stats.powered_estimates import PoweredEstimate, student_p
from spanjury.stats.resampling import Estimate
from spanjury.stats.sampling_design import weighted_mean

Ends = tuple[float, float]
"""The lowest and the highest score of a scale."""
NO_ENDS: Ends = (-math.inf, math.inf)
"""Ends of a scale that is not known."""
POWER = 0.8
"""The chance that two systems are shown to differ, if they do as they seem to."""
CONFIDENCE = 0.95
_STEPS = 20
"""Until the number of inputs stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedText:
    """A text of a system, with its scores on one aspect."""

    system: str
    source: str
    """The input that it is for: texts of one source are compared with each other."""
    score: float | None
    """The panel's; None where it gave none."""
    people: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    """Annotator -> score."""
    chance: float | None = None
    """With which it was drawn to be marked; None where nothing says so."""
    scale: Scale | None = None
    """The panel's; None where nothing says which."""

    @property
    def mark(self) -> float | None:
        """The mean of people's scores; None without any."""
        scores = self.people.values()
        return sum(scores) / len(scores) if scores else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoreTable:
    """Scores on one aspect, in arrays of the shape ``(systems, columns)``.

    A column is an input; the second text of a system for an input stands in one of its own.

    `judged`, `people`: NaN where there is no text, or no score.
    """

    aspect: str
    systems: tuple[str, ...]
    inputs: NDArray[np.intp]
    """Shape ``(columns,)``: the number of the input of each column."""
    texts: NDArray[np.intp]
    """Shape ``(systems,)``: how many texts each system has."""
    judged: FloatArray
    people: FloatArray
    weights: FloatArray
    """One over the chance that a text had to be marked; all alike where no chance is known."""
    is_weighted: bool
    without_chance: int
    """Marks that were left out, because others have a chance and these have none."""
    judged_ends: Ends = NO_ENDS
    """Ends of the panel's scale; unknown if tasks differ in it, or a score lies beyond it."""
    people_ends: Ends = NO_ENDS
    """Ends of people's scale: the panel's if all their scores are on it, and otherwise unknown."""

    @property
    def marked(self) -> int:
        """Texts that people scored and the panel did, too."""
        return int(np.count_nonzero(~np.isnan(self.people + self.judged)))


def score_table(
    texts: Sequence[RankedText], *, aspect: str, is_drawn: bool | None = None
) -> ScoreTable:
    """Put the scores of texts on one aspect into arrays; systems and inputs as they come.

    `is_drawn`: whether marks count by their chances, and those without one do not. None: if a mark
    on this aspect has a chance.
    """
    grid = Grid.of([text.system for text in texts], [text.source for text in texts])
    inputs, _ = numbered([name for name, _ in grid.columns])

    def table(values: Iterable[float | None]) -> FloatArray:
        return grid.table([math.nan if value is None else value for value in values])

    people, chances = table(text.mark for text in texts), table(text.chance for text in texts)
    unknown = ~np.isnan(people) & np.isnan(chances)
    has_chance = bool((~np.isnan(people) & ~np.isnan(chances)).any())
    is_weighted = has_chance if is_drawn is None else is_drawn
    judged = table(text.score for text in texts)
    ends = {
        (float(scale.low), float(scale.high)) for scale in {text.scale for text in texts} if scale
    }
    return ScoreTable(
        aspect=aspect,
        systems=grid.systems,
        inputs=inputs,
        texts=np.bincount(grid.cells[0]).astype(np.intp),
        judged=judged,
        people=np.where(unknown, np.nan, people) if is_weighted else people,
        weights=np.where(np.isnan(chances), 1.0, 1 / chances)
        if is_weighted
        else np.ones_like(people),
        is_weighted=is_weighted,
        without_chance=int(np.count_nonzero(unknown)) if is_weighted else 0,
        judged_ends=_ends_of(judged, ends),
        people_ends=_ends_of(people, ends),
    )


def _ends_of(scores: FloatArray, ends: Collection[Ends]) -> Ends:
    """Return the only one of `ends`, unless a score lies beyond it."""
    if len(ends) != 1:
        return NO_ENDS
    ((low, high),) = ends
    given = scores[~np.isnan(scores)]
    return (low, high) if ((given >= low) & (given <= high)).all() else NO_ENDS


def within_difference(ends: Ends) -> Ends:
    """Return the ends of differences between two scores of a scale."""
    low, high = ends
    return low - high, high - low


class JudgedMean(NamedTuple):
    """A mean of judges' scores or of differences between them, with its 95 % interval.

    The interval is NaN if all inputs have the same value, which says nothing of other inputs.
    """

    value: float
    low: float
    high: float
    error: float
    p: float
    """Two-sided, that it is 0."""
    inputs: int
    """Inputs with a value."""


_BOUNDED = frozenset(("value", "low", "high", "plain_low", "plain_high"))
E = TypeVar("E", JudgedMean, PoweredEstimate)


def within(estimate: E, ends: Ends) -> E:
    """Return the same with values and intervals cut at the ends of the scale [1]_.

    An interval holds the mean as often as before, since no mean of scores lies beyond the ends; the
    panel's help can put an estimate there.

    References
    ----------
    .. [1] Mandelkern (2002), Statistical Science 17(2):149-172, doi:10.1214/ss/1030550859
    """
    low, high = ends
    cut = _BOUNDED.intersection(estimate._fields)
    return estimate._replace(**{name: min(max(getattr(estimate, name), low), high) for name in cut})


def judged_mean(values: FloatArray, inputs: NDArray[np.intp]) -> JudgedMean:
    """Return the mean of values, some of which may be NaN, over inputs like these.

    Texts for one input are correlated: several of them count as one input.
    """
    scored = ~np.isnan(values)
    alike = np.ones(np.count_nonzero(scored))
    mean = weighted_mean(values[scored], alike, clusters=inputs[scored], confidence=CONFIDENCE)
    p = student_p(mean.value, mean.error, freedom=mean.clusters - 1)
    shown = bounded(Estimate(mean.value, mean.low, mean.high))
    return JudgedMean(*shown, mean.error, max(p, least_p(mean.clusters)), mean.clusters)


def least_p(inputs: int) -> float:
    """Return the least p-value that flipped signs of so many inputs can show.

    Student's falls to 0 where few inputs happen to agree.
    """
    return 2.0 ** min(0, 1 - inputs)


def more_inputs(difference: JudgedMean, *, confidence: float = CONFIDENCE) -> float:
    """Return how many more inputs show the difference with a power of 80 %, if it stays.

    Infinite if there is none; NaN where its error is unknown.
    """
    if math.isnan(difference.error):
        return math.nan
    if difference.value == 0:
        return math.inf
    share = difference.inputs * (difference.error / difference.value) ** 2
    power = float(ndtri(POWER))
    needed = share * (float(ndtri((1 + confidence) / 2)) + power) ** 2
    for _ in range(_STEPS):  # Student's reach falls as inputs grow in number
        freedom = max(1.0, needed - 1)
        needed = share * (float(stdtrit(freedom, (1 + confidence) / 2)) + power) ** 2
    least = inputs_to_show(confidence=confidence)
    return max(0.0, math.ceil(max(needed, least)) - difference.inputs)


def inputs_to_show(*, confidence: float) -> int:
    """Return how many inputs can show anything at all, by `least_p`."""
    return 1 + math.ceil(-math.log2(1 - confidence))


class Rank(NamedTuple):
    """The rank of a system: from `best` to `worst`, 1 for the first; letters of its groups."""

    best: int
    worst: int
    groups: str

    @property
    def text(self) -> str:
        """The rank as a table has it: ``1``, or ``1-3`` if it is open."""
        return f"{self.best}" if self.best == self.worst else f"{self.best}-{self.worst}"


def ranks(
    systems: Sequence[str], apart: Iterable[tuple[str, str, float]], *, order: Sequence[int]
) -> list[Rank]:
    """Return the rank of each system.

    `apart`: pairs that are shown to differ, each with the first one's lead over the second.
    `order`: the systems, the best first: groups are named in this order.
    """
    number, size = {name: row for row, name in enumerate(systems)}, len(systems)
    higher = np.zeros((size, size), dtype=np.bool_)
    for first, second, lead in apart:
        above, below = (first, second) if lead > 0 else (second, first)
        higher[number[above], number[below]] = True
    ahead, behind = higher.sum(axis=0), higher.sum(axis=1)
    letters = _group_letters(higher | higher.T, order=order)
    return [
        Rank(int(ahead[index]) + 1, size - int(behind[index]), letters[index])
        for index in range(size)
    ]


def _group_letters(apart: NDArray[np.bool_], *, order: Sequence[int]) -> list[str]:
    """Return the letters of each system's groups: those that share none are shown to differ [1]_.

    `apart`: shape ``(systems, systems)``, symmetric: whether two are shown to differ.
    `order`: the systems, those first that are named first.

    References
    ----------
    .. [1] Piepho (2004), Journal of Computational and Graphical Statistics 13(2):456-466
    """
    groups: list[frozenset[int]] = [frozenset(order)]
    for index, system in enumerate(order):
        for other in order[index + 1 :]:
            if apart[system, other]:
                groups = _parted(groups, system, other)
    rank = {system: index for index, system in enumerate(order)}
    named = sorted(groups, key=lambda group: sorted(rank[system] for system in group))
    rounds = range(1, 2 + len(named) // len(ascii_lowercase))
    letters = [f"{each}{'' if n == 1 else n}" for n in rounds for each in ascii_lowercase]
    return [
        "".join(letter for letter, group in zip(letters, named, strict=False) if index in group)
        for index in range(len(order))
    ]


def _parted(groups: list[frozenset[int]], first: int, second: int) -> list[frozenset[int]]:
    """Have no group hold both; a group within another is none."""
    kept = [group for group in groups if not {first, second} <= group]
    halves = [
        group - {gone} for group in groups if {first, second} <= group for gone in (first, second)
    ]
    for half in halves:
        if not any(half <= group for group in kept):
            kept.append(half)
    return kept
