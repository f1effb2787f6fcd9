"""Findings of a meta-evaluation: seats of a panel, rankings of systems, and all that was found."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import get_args

import numpy as np
from numpy.random import default_rng

from spanjury.judges.core import VERSION
from spanjury.orchestration.engine.aggregation import (
    majority,
    mean,
    mean_without_far_seats,
    mean_without_outliers,
    median,
    minimum,
)
from spanjury.orchestration.report.json import plain
from spanjury.orchestration.studies.agreement.scorers import (
    Agreement,
    Ratings,
    Scorer,
    Settings,
    agreements,
)
from spanjury.orchestration.studies.agreement.spans.findings import AspectSpans
from spanjury.orchestration.studies.agreement.spans.measures import PairFinding
from spanjury.stats.arrays import FloatArray, safe_divide
from spanjury.stats.correlations.correlation import correlation
from spanjury.stats.correlations.grouping import level_correlation
from spanjury.stats.raters.agreement import Agreement as Chance
from spanjury.stats.raters.agreement import (
    AlphaLevel,
    KappaWeights,
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
)
from spanjury.stats.raters.ensembles import ensemble_curve, leave_one_out
from spanjury.stats.resampling import bootstrap, percentile_interval
from spanjury.stats.weighted import mean_drop

_MOST_RATINGS = 1_000
"""Different scores from which on those that are alike by chance say nothing, and tables of
all pairs of scores become large."""
_TOO_MANY = "too many different scores"
_OWN = "as in the run"
"""Name of the aggregation by which the run itself computed its scores."""
_AGGREGATIONS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "mean": mean,
    "mean-without-outliers": mean_without_outliers,
    "mean-without-far-seats": mean_without_far_seats,
    "median": median,
    "majority": majority,
    "minimum": minimum,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatTable:
    """The scores of the seats of one run."""

    run: str
    seats: tuple[str, ...]
    scores: FloatArray
    """Shape ``(seats, systems, inputs)``; NaN if missing."""
    panel: FloatArray | None = None
    """Scores of the panel in its run, shape ``(systems, inputs)``; None without a panel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficient:
    """Agreement beyond chance: 1 if perfect, 0 as by chance; NaN where it is undefined."""

    value: float
    outputs: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatPair:
    """Agreement of two seats on the outputs that both scored."""

    first: str
    second: str
    outputs: int
    spearman: float
    """Correlation of their scores over all outputs; NaN if it is undefined."""
    kappa: Mapping[KappaWeights, Coefficient]
    """Weights -> Cohen's kappa."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatAgreement:
    """Agreement of all seats, and of each two of them."""

    fleiss: Coefficient
    """Fleiss' kappa: only where every output has as many scores."""
    alpha: Mapping[AlphaLevel, Coefficient]
    """Level of measurement -> Krippendorff's alpha."""
    pairs: tuple[SeatPair, ...]
    """Two by two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnsembleSize:
    """Agreement of panels of one size with people; a panel's score is the mean of its seats'.

    `panels`, `undefined`: number of panels, and of those without a correlation.
    `mean`, `least`, `greatest`: mean and extremes of the others' correlations; NaN without any.
    """

    size: int
    panels: int
    undefined: int
    mean: float
    least: float
    greatest: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatGain:
    """Contribution of a seat to its panel."""

    seat: str
    alone: float
    """Its own correlation with people."""
    without: float
    """That of the other seats' mean."""
    gain: float
    """By how much it raises the whole panel's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatFindings:
    """Findings on the seats of a run on one aspect."""

    run: str
    aspect: str
    seats: tuple[str, ...]
    agreement: SeatAgreement
    sizes: tuple[EnsembleSize, ...]
    whole: float
    """The correlation with people of all seats' mean."""
    gains: tuple[SeatGain, ...]
    aggregations: tuple[Agreement, ...]
    """With people, by how scores are put together: `Agreement.scorer` names the aggregation."""


def seat_findings(ratings: Ratings, settings: Settings) -> Iterator[SeatFindings]:
    """Yield findings on each run in which two seats or more scored what people rated."""
    level, method = settings.level, settings.method
    for table in seat_tables(ratings):
        left_out = leave_one_out(ratings.human, table.scores, level=level, method=method)
        alone = [
            level_correlation(ratings.human, own, level=level, method=method).value
            for own in table.scores
        ]
        figures = (table.seats, alone, left_out.without.tolist(), left_out.gain.tolist())
        yield SeatFindings(
            run=table.run,
            aspect=ratings.aspect,
            seats=table.seats,
            agreement=seat_agreement(table),
            sizes=_sizes(ratings, table, settings),
            whole=left_out.whole,
            gains=tuple(
                SeatGain(seat=seat, alone=own, without=rest, gain=gain)
                for seat, own, rest, gain in zip(*figures, strict=True)
            ),
            aggregations=_aggregations(ratings, table, settings),
        )


def seat_tables(ratings: Ratings) -> Iterator[SeatTable]:
    """Yield the scores of each run in which two seats or more scored what people rated."""
    is_there = ratings.coverage > 0
    for run in dict.fromkeys(scorer.run for scorer in ratings.scorers if scorer.run):
        scored = [
            row for row, scorer in enumerate(ratings.scorers) if scorer.run == run and is_there[row]
        ]
        rows = [row for row in scored if not ratings.scorers[row].is_own]
        panel = next((ratings.scores[row] for row in scored if ratings.scorers[row].is_own), None)
        if len(rows) > 1:
            names = tuple(ratings.scorers[row].name for row in rows)
            yield SeatTable(run=run, seats=names, scores=ratings.scores[rows], panel=panel)


def seat_agreement(table: SeatTable) -> SeatAgreement:
    """Compare the scores of seats, which must be of one scale, with one another."""
    scores = table.scores.reshape(len(table.seats), -1)
    many = np.unique(scores[~np.isnan(scores)]).size > _MOST_RATINGS
    if many:
        none = Coefficient(value=np.nan, outputs=0, reason=_TOO_MANY)
        fleiss, alpha = none, dict.fromkeys(get_args(AlphaLevel), none)
    else:
        scored_by_any = ~np.isnan(scores).all(axis=0)
        fleiss = _coefficient(fleiss_kappa(scores[:, scored_by_any].T))
        alpha = {
            level: _coefficient(krippendorff_alpha(scores.T, level=level))
            for level in get_args(AlphaLevel)
        }
    rows = combinations(zip(table.seats, scores, strict=True), 2)
    pairs = tuple(
        _pair((first, second), np.stack([own, other]), many=many)
        for (first, own), (second, other) in rows
    )
    return SeatAgreement(fleiss=fleiss, alpha=alpha, pairs=pairs)


def _pair(names: tuple[str, str], scores: FloatArray, *, many: bool) -> SeatPair:
    both = scores[:, ~np.isnan(scores).any(axis=0)]
    none = Coefficient(value=np.nan, outputs=both.shape[1], reason=_TOO_MANY)
    kappa: dict[KappaWeights, Coefficient] = {
        weights: none if many else _coefficient(cohen_kappa(*both, weights=weights))
        for weights in get_args(KappaWeights)
    }
    return SeatPair(
        first=names[0],
        second=names[1],
        outputs=both.shape[1],
        spearman=correlation(*both, method="spearman").value,
        kappa=kappa,
    )


def _coefficient(chance: Chance) -> Coefficient:
    return Coefficient(value=chance.value, outputs=chance.units, reason=chance.reason or "")


def _sizes(ratings: Ratings, table: SeatTable, settings: Settings) -> tuple[EnsembleSize, ...]:
    level, method, rng = settings.level, settings.method, default_rng(settings.seed)
    curve = ensemble_curve(ratings.human, table.scores, level=level, method=method, rng=rng)
    rows = zip(*(part.tolist() for part in curve), strict=True)
    return tuple(
        EnsembleSize(
            size=size, panels=panels, undefined=undefined, mean=mid, least=least, greatest=greatest
        )
        for size, mid, least, greatest, panels, undefined in rows
    )


def _aggregations(ratings: Ratings, table: SeatTable, settings: Settings) -> tuple[Agreement, ...]:
    """Compare aggregations as if each were a scorer, also that of the run if it is none of them."""
    flat = table.scores.reshape(len(table.scores), -1)
    (rated,) = np.nonzero(~np.isnan(flat).all(axis=0))
    given = [
        tuple(score for score in row if not math.isnan(score)) for row in flat[:, rated].T.tolist()
    ]
    scores = np.full((len(_AGGREGATIONS), flat.shape[1]), np.nan)
    for aggregated, by in zip(scores, _AGGREGATIONS.values(), strict=True):
        values = {row: by(row) for row in dict.fromkeys(given)}  # few differ, of many outputs
        aggregated[rated] = [values[row] for row in given]
    scores = scores.reshape(len(_AGGREGATIONS), *ratings.human.shape)
    names = [*_AGGREGATIONS]
    own = table.panel
    if own is not None and not any(np.allclose(row, own, equal_nan=True) for row in scores):
        names.append(_OWN)
        scores = np.concatenate([scores, own[np.newaxis]])
    scorers = tuple(Scorer(name=name, scores={}) for name in names)
    return agreements(replace(ratings, scorers=scorers, scores=scores), settings)


PEOPLE = "people"
_FEWEST = 2
"""Systems below which there is nothing to rank."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemMean:
    """The mean score of a system's outputs.

    `low`, `high`: ends of the 95 % interval over resampled inputs; NaN without one.
    """

    system: str
    score: float
    """NaN where none of its outputs has a score."""
    low: float
    high: float
    outputs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Systems by one scorer."""

    aspect: str
    by: str
    """`PEOPLE`, or the name of a scorer."""
    systems: tuple[SystemMean, ...]
    """The best score first: the highest, or the lowest of a metric whose low scores are good."""


def rankings(
    ratings: Ratings, agreements: Sequence[Agreement], settings: Settings
) -> Iterator[Ranking]:
    """Rank the systems by people, and by the first of `agreements`: the nearest scorer."""
    if len(ratings.systems) < _FEWEST:
        return
    yield _ranking(ratings, ratings.human, by=PEOPLE, settings=settings)
    for number, scorer in enumerate(ratings.scorers):
        if agreements and scorer.name == agreements[0].scorer:
            scores = ratings.scores[number]
            ranking = _ranking(ratings, scores, by=scorer.name, settings=settings)
            yield _turned(ranking) if scorer.lower_is_better else ranking


def _ranking(ratings: Ratings, scores: FloatArray, *, by: str, settings: Settings) -> Ranking:
    counts = np.count_nonzero(~np.isnan(scores), axis=1)
    means = safe_divide(np.nansum(scores, axis=1), counts)
    low = high = np.full_like(means, np.nan)
    if settings.draws:
        rng, inputs = default_rng(settings.seed), scores.shape[1]
        drawn = bootstrap(mean_drop(scores), items=inputs, rng=rng, draws=settings.draws)
        interval = percentile_interval(drawn)
        low, high = np.minimum(interval.low, means), np.maximum(interval.high, means)
    columns = (part.tolist() for part in (means, low, high, counts))
    systems = [
        SystemMean(system=name, score=score, low=least, high=most, outputs=count)
        for name, score, least, most, count in zip(ratings.systems, *columns, strict=True)
    ]
    systems.sort(key=lambda system: (np.isnan(system.score), -system.score))
    return Ranking(aspect=ratings.aspect, by=by, systems=tuple(systems))


def _turned(ranking: Ranking) -> Ranking:
    """Give scores back their own sign, which was changed so that higher is better."""
    systems = (
        replace(each, score=-each.score, low=-each.high, high=-each.low) for each in ranking.systems
    )
    return replace(ranking, systems=tuple(systems))


@dataclass(frozen=True, slots=True, kw_only=True)
class AspectFindings:
    """Findings from scores on one aspect."""

    aspect: str
    agreements: tuple[Agreement, ...]
    """Each scorer with people, the nearest first."""
    seats: tuple[SeatFindings, ...]
    """Run by run; empty where no panel had several seats."""
    rankings: tuple[Ranking, ...]
    """Rankings of the systems by people and by the nearest scorer; empty for a single system."""


def aspect_findings(ratings: Ratings, settings: Settings) -> AspectFindings:
    """Measure how scorers agree on one aspect, with people and with one another."""
    scorers = agreements(ratings, settings)
    return AspectFindings(
        aspect=ratings.aspect,
        agreements=scorers,
        seats=tuple(seat_findings(ratings, settings)),
        rankings=tuple(rankings(ratings, scorers, settings)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MetaFindings:
    """Findings on how judges and metrics agree with people.

    `data`, `results`: where the ratings and the scores are from, as the reader knows the files.
    """

    settings: Settings
    data: str
    results: tuple[str, ...]
    aspects: tuple[AspectFindings, ...]
    """From scores, aspect by aspect."""
    spans: tuple[AspectSpans, ...]
    """From error spans, aspect by aspect; empty where judges marked none."""
    annotators: tuple[PairFinding, ...]
    """People with people; empty where no text was read by two with names."""
    notes: tuple[str, ...] = ()

    @property
    def agreements(self) -> tuple[Agreement, ...]:
        """Each scorer with people, of all aspects."""
        return tuple(agreement for each in self.aspects for agreement in each.agreements)


def meta_json(findings: MetaFindings) -> dict[str, object]:
    """Return the findings for a machine; None for what is undefined."""
    return {
        "spanjury": VERSION,
        "data": findings.data,
        "results": list(findings.results),
        "settings": plain(findings.settings),
        "agreements": plain(findings.agreements, digits=None),
        "seats": plain([seat for each in findings.aspects for seat in each.seats]),
        "systems": plain([ranking for each in findings.aspects for ranking in each.rankings]),
        "spans": plain(findings.spans),
        "annotators": plain(findings.annotators),
        "notes": list(findings.notes),
    }
