"""Scorers beside people: how near each is to them, how sure that is, and which is nearest."""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, Literal, NamedTuple, TypeVar, get_args

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import ArrayLike, NDArray

from spanjury.judges.core import Segment
from spanjury.orchestration.studies.estimates import LEVEL, holm_adjusted
from spanjury.orchestration.studies.sources import source_of
from spanjury.stats.arrays import FloatArray
from spanjury.stats.correlations.correlation import LEAST_ITEMS, Method
from spanjury.stats.correlations.grouping import Level, LevelCorrelation, level_correlation
from spanjury.stats.correlations.metric_permutation import perm_both
from spanjury.stats.correlations.pairwise import tie_calibrated_accuracy
from spanjury.stats.correlations.resampled_correlations import (
    Over,
    correlation_estimate,
    resampled_correlations,
)
from spanjury.stats.correlations.system_pairs import soft_pairwise_accuracy, system_accuracy
from spanjury.stats.resampling import Estimate

K = TypeVar("K", bound=Hashable)
L = TypeVar("L", bound=Hashable)
PANEL = "panel"
"""Name of the panel of a run as a scorer."""


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
    """Run of the panel or seat; empty for a metric, and for a judge that was alone in its run."""
    is_own: bool = False
    """True for the scores of a whole run: those of its panel, or of a judge that was alone."""


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
    def resampled(self) -> Over:
        """Units that intervals resample."""
        inputs = np.nonzero(~np.isnan(self.human))[1]
        return resampled_units(inputs, systems=len(self.systems))

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
    grid = Grid.of([text.system for text in outputs], map(source_of, outputs))
    about = tuple(scorer for scorer in scorers if scorer.aspect in {"", aspect})
    human = grid.table([score for _, score in kept])
    signs = [-1.0 if scorer.lower_is_better else 1.0 for scorer in about]
    scores = [
        sign * grid.table([scorer.scores.get(text.segment_id, math.nan) for text in outputs])
        for sign, scorer in zip(signs, about, strict=True)
    ]
    return Ratings(
        aspect=aspect,
        systems=grid.systems,
        inputs=tuple(f"{name} (again, {again})" if again else name for name, again in grid.columns),
        human=human,
        scorers=about,
        scores=np.array(scores).reshape(len(about), *human.shape),
    )


SEVERAL_SYSTEMS = 5
"""The fewest systems of an input that are compared within it, and resampled."""

LEVELS: Mapping[str, str] = {
    "by-input": "within each input over its systems, then the mean over inputs",
    "pooled": "over all outputs at once",
    "system": "of the systems' mean scores",
}
"""Over what a correlation is taken, in words."""
CORRELATIONS: Mapping[str, str] = {
    "pearson": "Pearson's correlation",
    "spearman": "Spearman's correlation",
    "tau-b": "Kendall's tau-b",
    "tau-c": "Kendall's tau-c",
}
RESAMPLED: Mapping[Over, str] = {
    "both": "systems and inputs",
    "inputs": "inputs",
    "systems": "systems",
}


def has_several_systems(inputs: NDArray[np.intp], *, systems: int) -> bool:
    """Return whether inputs have outputs of enough systems to compare and resample them.

    `inputs`: shape ``(outputs,)``: number of the input of each, from 0.
    """
    return min(systems, float(np.median(np.bincount(inputs, minlength=1)))) >= SEVERAL_SYSTEMS


def resampled_units(inputs: NDArray[np.intp], *, systems: int) -> Over:
    """Return what intervals resample: a few systems do not stand for others."""
    return "both" if has_several_systems(inputs, systems=systems) else "inputs"


def level_for(ratings: Iterable[Ratings]) -> Level:
    """Return ``by-input``, or ``pooled`` if no input has rated texts of enough systems for it."""
    most = (int(np.max(np.count_nonzero(~np.isnan(each.human), axis=0))) for each in ratings)
    return "pooled" if max(most, default=LEAST_ITEMS) < LEAST_ITEMS else "by-input"


Proximity = Literal["nearest", "not told apart", "behind", "untested"]
"""A scorer beside the scorer that is nearest to people on the aspect, by a test at 5 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of the measures of agreement."""

    level: Level = "by-input"
    """Over what a correlation is taken, as `stats.grouping` says."""
    method: Method = "spearman"
    draws: int = 1000
    """Number of resamples in the bootstrap and the permutation test; 0 for neither. The test draws
    more if so few cannot show that any of the compared scorers is behind."""
    seed: int = 1
    """Seed of both; the same seed draws the same outputs for every scorer and aspect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Agreement of one scorer with people on one aspect.

    `low`, `high`: ends of its 95 % interval over resampled outputs; NaN without one.
    `resampled`: ``both`` for systems and inputs (BOOT-BOTH), ``inputs`` with fewer than
    `SEVERAL_SYSTEMS` systems for an input.
    `items`, `groups`, `undefined`: outputs that both scored; correlations whose mean it is, and
    those that are undefined.
    """

    scorer: str
    aspect: str
    value: float
    """The correlation, positive where both find the same better; NaN where it is undefined."""
    reason: str
    low: float
    high: float
    resampled: Over
    items: int
    groups: int
    undefined: int
    coverage: float
    """Share of the outputs that people rated and the scorer scored."""
    behind: float
    """P-value (PERM-BOTH, two-sided, Holm over the scorers) of the null that the nearest scorer on
    this aspect is no nearer than this one; NaN for that one itself, and where no test could be
    run."""
    standing: Proximity
    """The conclusion from the tests; without draws, every scorer is untested."""
    others: Mapping[str, float]
    """The same agreement by other measures: name -> value."""
    signature: str

    @property
    def is_shown(self) -> bool:
        """True if the agreement is shown to be above 0; without an interval, if it is."""
        return (self.value if math.isnan(self.low) else self.low) > 0

    @property
    def is_tied(self) -> bool:
        """True if no other scorer is shown to be nearer to people on the aspect."""
        return self.standing in ("nearest", "not told apart")


def agreements(ratings: Ratings, settings: Settings) -> tuple[Agreement, ...]:
    """Measure how far each scorer agrees with people, the nearest first and undefined ones last."""
    rng = default_rng(settings.seed)
    values = [
        level_correlation(ratings.human, scores, level=settings.level, method=settings.method)
        for scores in ratings.scores
    ]
    intervals = _intervals(ratings, settings, values=values, rng=rng)
    correlations = [result.value for result in values]
    is_tested = settings.draws and not np.all(np.isnan(correlations))
    nearest = int(np.nanargmax(correlations)) if is_tested else None
    behind = _behind(ratings, settings, values=correlations, nearest=nearest, rng=rng)
    compared = [
        Agreement(
            scorer=scorer.name,
            aspect=ratings.aspect,
            value=value.value,
            reason=_reason(value, ratings.human, ratings.scores[number], settings=settings),
            low=intervals[number].low,
            high=intervals[number].high,
            resampled=ratings.resampled,
            items=value.items,
            groups=value.groups,
            undefined=value.undefined,
            coverage=float(ratings.coverage[number]),
            behind=behind[number],
            standing=_standing(behind[number], is_nearest=number == nearest),
            others=dict(_others(ratings, ratings.scores[number], settings)),
            signature=scorer.signature,
        )
        for number, (scorer, value) in enumerate(zip(ratings.scorers, values, strict=True))
    ]
    return tuple(sorted(compared, key=lambda each: (math.isnan(each.value), -each.value)))


def _reason(
    value: LevelCorrelation, human: FloatArray, scores: FloatArray, *, settings: Settings
) -> str:
    """Return the reason why a correlation is undefined; empty where it is defined."""
    if value.reason != "constant scores":
        return value.reason or ""
    both = ~np.isnan(human + scores)
    for whose, part in (("people's", human), ("its", scores)):
        own = np.where(both, part, np.nan)
        varies = level_correlation(own, own, level=settings.level, method=settings.method)
        if math.isnan(varies.value):
            return f"{whose} scores are constant"
    return value.reason


def _intervals(
    ratings: Ratings, settings: Settings, *, values: Sequence[LevelCorrelation], rng: Generator
) -> list[Estimate]:
    """Resample for one scorer at a time: each on the outputs that it scored itself."""
    if not settings.draws:
        return [Estimate()] * len(values)
    resampled = partial(
        resampled_correlations,
        ratings.human,
        level=settings.level,
        method=settings.method,
        over=ratings.resampled,
        draws=settings.draws,
    )
    generators = _same_draws(rng, len(values))
    return [
        correlation_estimate(resampled(scores, rng=same), groups=value.groups)
        for scores, value, same in zip(ratings.scores, values, generators, strict=True)
    ]


def _same_draws(rng: Generator, count: int) -> Iterator[Generator]:
    """Yield generators that all draw the same."""
    seed = int(rng.integers(2**32))
    return (default_rng(seed) for _ in range(count))


def _behind(
    ratings: Ratings,
    settings: Settings,
    *,
    values: Sequence[float],
    nearest: int | None,
    rng: Generator,
) -> list[float]:
    """Return for each scorer the probability that the nearest is nearer by chance alone."""
    p = np.full(len(values), np.nan)
    # The smallest p-value is 1 / (draws + 1), which Holm's method multiplies by the tests.
    tests = np.count_nonzero(~np.isnan(values)) - 1
    draws = max(settings.draws, math.ceil(tests / LEVEL))
    if nearest is not None:
        for number, drawn in enumerate(_same_draws(rng, len(p))):
            if number != nearest and not math.isnan(values[number]):
                p[number] = perm_both(
                    ratings.human,
                    ratings.scores[[nearest, number]],
                    level=settings.level,
                    method=settings.method,
                    rng=drawn,
                    draws=draws,
                ).p_two_sided
    behind: list[float] = holm_adjusted(p).tolist()
    return behind


def _standing(behind: float, *, is_nearest: bool) -> Proximity:
    if is_nearest:
        return "nearest"
    if math.isnan(behind):
        return "untested"
    return "behind" if behind < LEVEL else "not told apart"


def _others(
    ratings: Ratings, scores: FloatArray, settings: Settings
) -> Iterator[tuple[str, float]]:
    for method in get_args(Method):
        value = level_correlation(ratings.human, scores, level=settings.level, method=method)
        yield method, value.value
    yield "tie-calibrated accuracy", tie_calibrated_accuracy(ratings.human, scores).value
    yield "system accuracy", system_accuracy(ratings.human, scores).value
    if settings.draws:
        soft = soft_pairwise_accuracy(
            ratings.human, scores, rng=default_rng(settings.seed), draws=settings.draws
        )
        yield "soft pairwise accuracy", soft.value
