"""Seats: the judges of one panel, and how they agree with one another."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import get_args

import numpy as np

from spanjury.orchestration.studies.agreement.ratings import Ratings
from spanjury.stats.arrays import FloatArray
from spanjury.stats.correlations.correlation import correlation
from spanjury.stats.raters.agreement import Agreement as Chance
from spanjury.stats.raters.agreement import (
    AlphaLevel,
    KappaWeights,
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
)

__all__ = ["Coefficient", "SeatAgreement", "SeatPair", "SeatTable", "seat_agreement", "seat_tables"]

_MOST_RATINGS = 1_000
"""Different scores from which on those that are alike by chance say nothing, and tables of
all pairs of scores become large."""
_TOO_MANY = "too many different scores"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatTable:
    """The scores of the seats of one run.

    Parameters
    ----------
    run
        Its path.
    seats
        Their names, two or more.
    scores
        Shape ``(seats, systems, inputs)``; NaN where there is none.
    """

    run: str
    seats: tuple[str, ...]
    scores: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficient:
    """Agreement beyond chance: 1 if perfect, 0 as by chance; NaN where it is undefined.

    Parameters
    ----------
    value
        At most 1.
    outputs
        Those that count.
    reason
        Why the value is undefined; empty if it is not.
    """

    value: float
    outputs: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatPair:
    """Agreement of two seats on the outputs that both scored.

    Parameters
    ----------
    first, second
        Names of the seats.
    outputs
        Number that both scored.
    spearman
        Of their scores, all outputs at once; NaN where it is undefined.
    kappa
        Weights -> Cohen's kappa.
    """

    first: str
    second: str
    outputs: int
    spearman: float
    kappa: Mapping[KappaWeights, Coefficient]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatAgreement:
    """Agreement of all seats, and of each two of them.

    Parameters
    ----------
    fleiss
        Fleiss' kappa: only where every output has as many scores.
    alpha
        Level of measurement -> Krippendorff's alpha.
    pairs
        Two by two.
    """

    fleiss: Coefficient
    alpha: Mapping[AlphaLevel, Coefficient]
    pairs: tuple[SeatPair, ...]


def seat_tables(ratings: Ratings) -> Iterator[SeatTable]:
    """Yield the scores of each run of which two seats or more scored what people rated."""
    is_there = ratings.coverage > 0
    for run in dict.fromkeys(scorer.run for scorer in ratings.scorers if scorer.run):
        places = [
            place
            for place, scorer in enumerate(ratings.scorers)
            if scorer.run == run and is_there[place]
        ]
        if len(places) > 1:
            names = tuple(ratings.scorers[place].name for place in places)
            yield SeatTable(run=run, seats=names, scores=ratings.scores[places])


def seat_agreement(table: SeatTable) -> SeatAgreement:
    """Compare the scores of seats, which must be of one scale, with one another."""
    scores = table.scores.reshape(len(table.seats), -1)
    many = np.unique(scores[~np.isnan(scores)]).size > _MOST_RATINGS

    if many:
        none = Coefficient(value=np.nan, outputs=0, reason=_TOO_MANY)
        fleiss, alpha = none, dict.fromkeys(get_args(AlphaLevel), none)
    else:
        fleiss = _coefficient(fleiss_kappa(_scored_by_any(scores)))
        alpha = {
            level: _coefficient(krippendorff_alpha(scores.T, level=level))
            for level in get_args(AlphaLevel)
        }
    pairs = tuple(
        _pair(names, scores[list(places)], many=many)
        for names, places in zip(
            combinations(table.seats, 2), combinations(range(len(scores)), 2), strict=True
        )
    )
    return SeatAgreement(fleiss=fleiss, alpha=alpha, pairs=pairs)


def _scored_by_any(scores: FloatArray) -> FloatArray:
    """Return scores by output, ``(outputs, seats)``, without those that no seat scored."""
    kept: FloatArray = scores[:, ~np.isnan(scores).all(axis=0)].T
    return kept


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


def _coefficient(found: Chance) -> Coefficient:
    return Coefficient(value=found.value, outputs=found.units, reason=found.reason or "")
