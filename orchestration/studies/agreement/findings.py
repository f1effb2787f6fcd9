"""Findings of a meta-evaluation: from scores, from error spans, and between people."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import default_rng

from spanjury.judges.core import VERSION
from spanjury.orchestration.report.json import plain
from spanjury.orchestration.studies.agreement.ratings import Ratings
from spanjury.orchestration.studies.agreement.scorers import Agreement, Settings, agreements
from spanjury.orchestration.studies.agreement.seats import SeatFindings, seat_findings
from spanjury.orchestration.studies.agreement.spans.annotators import PairFinding
from spanjury.orchestration.studies.agreement.spans.aspect import AspectSpans
from spanjury.stats.arrays import FloatArray, safe_divide
from spanjury.stats.resampling import bootstrap, percentile_interval
from spanjury.stats.weighted import mean_drop

PEOPLE = "people"
_FEWEST = 2
"""Systems below which there is nothing to rank."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemMean:
    """The mean score of a system's outputs.

    Parameters
    ----------
    score
        NaN where none of its outputs has a score.
    low, high
        Ends of the 95 % interval over resampled inputs; NaN without one.
    """

    system: str
    score: float
    low: float
    high: float
    outputs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Systems by one scorer.

    Parameters
    ----------
    by
        `PEOPLE`, or the name of a scorer.
    systems
        The highest score first; of a metric of which lower is better, the lowest.
    """

    aspect: str
    by: str
    systems: tuple[SystemMean, ...]


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
    low, high = _interval(scores, means, settings)
    rows = zip(ratings.systems, means, low, high, counts, strict=True)
    systems = [
        SystemMean(
            system=name, score=float(mean), low=float(least), high=float(most), outputs=int(count)
        )
        for name, mean, least, most, count in rows
    ]
    systems.sort(key=lambda system: (np.isnan(system.score), -system.score))
    return Ranking(aspect=ratings.aspect, by=by, systems=tuple(systems))


def _interval(
    scores: FloatArray, means: FloatArray, settings: Settings
) -> tuple[FloatArray, FloatArray]:
    if not settings.draws:
        return np.full_like(means, np.nan), np.full_like(means, np.nan)
    drawn = bootstrap(
        mean_drop(scores),
        items=scores.shape[1],
        rng=default_rng(settings.seed),
        draws=settings.draws,
    )
    low, high = percentile_interval(drawn)
    return np.minimum(low, means), np.maximum(high, means)


def _turned(ranking: Ranking) -> Ranking:
    """Give scores back their own sign, which was changed so that higher is better."""
    systems = tuple(
        SystemMean(
            system=system.system,
            score=-system.score,
            low=-system.high,
            high=-system.low,
            outputs=system.outputs,
        )
        for system in ranking.systems
    )
    return Ranking(aspect=ranking.aspect, by=ranking.by, systems=systems)


@dataclass(frozen=True, slots=True, kw_only=True)
class AspectFindings:
    """Findings from scores on one aspect.

    Parameters
    ----------
    agreements
        Each scorer with people, the nearest first.
    seats
        Run by run; empty where no panel had several seats.
    rankings
        Rankings of the systems by people and by the nearest scorer; empty for a single system.
    """

    aspect: str
    agreements: tuple[Agreement, ...]
    seats: tuple[SeatFindings, ...]
    rankings: tuple[Ranking, ...]


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

    Parameters
    ----------
    data, results
        Where the ratings and the scores are from, as the reader knows the files.
    aspects
        From scores, aspect by aspect.
    spans
        From error spans, aspect by aspect; empty where judges marked none.
    annotators
        People with people; empty where no text was read by two with names.
    notes
        What a reader must know of the texts.
    """

    settings: Settings
    data: str
    results: tuple[str, ...]
    aspects: tuple[AspectFindings, ...]
    spans: tuple[AspectSpans, ...]
    annotators: tuple[PairFinding, ...]
    notes: tuple[str, ...] = ()

    @property
    def agreements(self) -> tuple[Agreement, ...]:
        """Each scorer with people, of all aspects."""
        return tuple(agreement for each in self.aspects for agreement in each.agreements)


def meta_json(findings: MetaFindings) -> dict[str, object]:
    """Return the findings for a machine; None for what is undefined."""
    parts = {
        "seats": tuple(seat for each in findings.aspects for seat in each.seats),
        "systems": tuple(ranking for each in findings.aspects for ranking in each.rankings),
        "spans": findings.spans,
        "annotators": findings.annotators,
    }
    return {
        "spanjury": VERSION,
        "data": findings.data,
        "results": list(findings.results),
        "settings": plain(findings.settings),
        "agreements": plain(findings.agreements, digits=None),
        **{name: plain(part) for name, part in parts.items()},
        "notes": list(findings.notes),
    }
