"""A meta-evaluation in pictures, as far as there is something to draw."""

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from spanjury.orchestration.services.agreement import Gathered
from spanjury.orchestration.services.annotators import Marker
from spanjury.orchestration.studies.agreement.aspects import AspectFindings
from spanjury.orchestration.studies.agreement.findings import Agreement as Finding
from spanjury.orchestration.studies.agreement.rankings import PEOPLE, Ranking
from spanjury.orchestration.studies.agreement.ratings import Ratings
from spanjury.orchestration.studies.agreement.seat_findings import SeatFindings
from spanjury.orchestration.studies.agreement.whole import MetaFindings
from spanjury.orchestration.wiring.plots import (
    Agreement,
    CorrelationMap,
    EnsembleCurve,
    ScorerCost,
    SystemScore,
    require,
)
from spanjury.orchestration.wiring.plots import meta as plots

__all__ = ["draw_meta"]

Drawing = tuple[str, Callable[[Path], None]]
"""Name of a picture, and what draws it."""

_ENDINGS = (".png", ".svg")
_SCATTERED = 2
"""How many scorers are drawn against people, the nearest first."""


def draw_meta(folder: Path, findings: MetaFindings, told: Gathered) -> list[Path]:
    """Draw what can be drawn into `folder`, each picture as PNG and as SVG.

    Returns
    -------
    list of Path
        What was written.

    Raises
    ------
    ConfigError
        If matplotlib is not installed.
    """
    require(plots)
    drawn: list[Path] = []
    for name, draw in _drawings(findings, told):
        for ending in _ENDINGS:
            drawn.append(folder / f"{name}{ending}")
            draw(drawn[-1])
    return drawn


def _drawings(findings: MetaFindings, told: Gathered) -> Iterator[Drawing]:
    measure = f"{findings.settings.method}, {findings.settings.level}"
    if findings.aspects:
        correlations = _with_people(findings.agreements, measure)
        yield "agreement", partial(plots.draw_correlations, correlations=correlations)
    yield from _costs(findings, told.markers, measure=measure)
    names = _file_names([one.aspect for one in findings.aspects])
    for one, ratings in zip(findings.aspects, told.ratings, strict=True):
        name = names[one.aspect]
        for place, agreement in enumerate(_scatters(one, ratings), start=1):
            draw = partial(plots.draw_agreement, agreement=agreement)
            yield f"scatter-{name}-{place}", draw
        for place, ranking in enumerate(one.rankings):
            systems, said = _systems(ranking)
            by = "scorer" if place else PEOPLE
            draw = partial(plots.draw_ranking, systems=systems, measure=said)
            yield f"ranking-{name}-{by}", draw
        if one.seats:
            curves = [_curve(seats, several=len(one.seats) > 1) for seats in one.seats]
            draw = partial(plots.draw_ensembles, curves=curves, measure=measure)
            yield f"ensembles-{name}", draw
        for number, seats in enumerate(one.seats, start=1):
            draw = partial(plots.draw_correlations, correlations=_between(seats))
            yield f"seats-{name}-{number}", draw


def _with_people(agreements: Sequence[Finding], measure: str) -> CorrelationMap:
    scorers = tuple(dict.fromkeys(one.scorer for one in agreements))
    aspects = tuple(dict.fromkeys(one.aspect for one in agreements))
    values = np.full((len(scorers), len(aspects)), np.nan)
    for one in agreements:
        values[scorers.index(one.scorer), aspects.index(one.aspect)] = one.value
    return CorrelationMap(
        measure=measure,
        rows=scorers,
        columns=aspects,
        values=values,
        clustered=len(aspects) > 1,  # of one, the nearest stands first as it is
    )


def _between(seats: SeatFindings) -> CorrelationMap:
    values = np.eye(len(seats.seats))
    for pair in seats.agreement.pairs:
        first, second = seats.seats.index(pair.first), seats.seats.index(pair.second)
        values[[first, second], [second, first]] = pair.spearman
    return CorrelationMap(
        measure="spearman, over all outputs at once",
        rows=seats.seats,
        columns=seats.seats,
        values=values,
        clustered=True,
    )


def _scatters(one: AspectFindings, ratings: Ratings) -> Iterator[Agreement]:
    places = {scorer.name: place for place, scorer in enumerate(ratings.scorers)}
    for agreement in one.agreements[:_SCATTERED]:
        place = places[agreement.scorer]
        sign = -1.0 if ratings.scorers[place].falls else 1.0
        scores, human = sign * ratings.scores[place].ravel(), ratings.human.ravel()
        rated = ~np.isnan(human)
        yield Agreement(
            scorer=agreement.scorer,
            aspect=one.aspect,
            scores=scores[rated],
            human=human[rated],
            correlations=tuple(
                (name, agreement.others[name])
                for name in ("pearson", "spearman", "tau-b")
                if name in agreement.others
            ),
        )


def _systems(ranking: Ranking) -> tuple[list[SystemScore], str]:
    """Return systems so that higher is better, and what their scores are."""
    first, last = ranking.systems[0].score, ranking.systems[-1].score
    turned = first < last  # of a metric of which lower is better
    systems = [
        SystemScore(
            name=one.system,
            score=-one.score if turned else one.score,
            low=-one.high if turned else one.low,
            high=-one.low if turned else one.high,
        )
        for one in ranking.systems
    ]
    if ranking.by == PEOPLE:
        return systems, f"{ranking.aspect}: people's mean score"
    minus = "minus the " if turned else ""
    return systems, f"{ranking.aspect}: {minus}mean of {ranking.by}"


def _curve(seats: SeatFindings, *, several: bool) -> EnsembleCurve:
    return EnsembleCurve(
        name=f"{seats.aspect}, {seats.run}" if several else seats.aspect,
        sizes=tuple(one.size for one in seats.sizes),
        mean=tuple(one.mean for one in seats.sizes),
        low=tuple(one.least for one in seats.sizes),
        high=tuple(one.greatest for one in seats.sizes),
    )


def _costs(findings: MetaFindings, markers: Sequence[Marker], *, measure: str) -> Iterator[Drawing]:
    """Draw judges by what they took, in tokens if they took any, and in seconds."""
    values: dict[str, list[float]] = {}
    for one in findings.agreements:
        values.setdefault(one.scorer, []).append(one.value)
    judges = [one for one in markers if one.name in values]
    panels = {one.name for one in judges if one.is_panel}
    for unit, told in (
        ("thousand tokens", {(one.name, one.aspect): one.tokens / 1000 for one in judges}),
        ("seconds", {(one.name, one.aspect): one.seconds for one in judges}),
    ):
        if any(told.values()):
            scorers = _priced(told, values, panels=panels)
            said = f"{measure}, mean of aspects"
            yield (
                f"cost-{unit.split()[-1]}",
                partial(plots.draw_costs, scorers=scorers, unit=f"{unit} an aspect", measure=said),
            )


def _priced(
    told: Mapping[tuple[str, str], float],
    values: Mapping[str, Sequence[float]],
    *,
    panels: Collection[str],
) -> list[ScorerCost]:
    """Return costs for 1,000 texts and one aspect, each the mean of a scorer's aspects."""
    names = dict.fromkeys(name for name, _ in told)
    costs = {name: [cost for (who, _), cost in told.items() if who == name] for name in names}
    return [
        ScorerCost(
            name=name,
            kind="panel" if name in panels else "judge",
            cost=1000 * sum(costs[name]) / len(costs[name]),
            correlation=_mean(values[name]),
        )
        for name in names
    ]


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan


def _file_names(aspects: Sequence[str]) -> dict[str, str]:
    """Return names that any file system takes, one an aspect."""
    names = {aspect: re.sub(r"[^\w.-]+", "-", aspect)[:40] for aspect in aspects}
    if len({*names.values()}) == len(names):
        return names
    return {aspect: f"{number}-{name}" for number, (aspect, name) in enumerate(names.items(), 1)}
