"""The report of a meta-evaluation: pages, findings as JSON, and plots."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from spanjury.orchestration.report.files import PICTURES, write_report
from spanjury.orchestration.services.people.agreement import Annotator, Collected
from spanjury.orchestration.studies.agreement.findings import (
    PEOPLE,
    AspectFindings,
    MetaFindings,
    Ranking,
    SeatFindings,
    meta_json,
)
from spanjury.orchestration.studies.agreement.scorers import Agreement as ScorerAgreement
from spanjury.orchestration.studies.agreement.scorers import Ratings
from spanjury.orchestration.studies.agreement.tables import agreement_report
from spanjury.orchestration.studies.estimates import grouped
from spanjury.orchestration.wiring.plots import (
    Agreement,
    CorrelationMap,
    Drawing,
    EnsembleCurve,
    ScorerCost,
    SystemScore,
    draw,
)
from spanjury.orchestration.wiring.plots import meta as plots
from spanjury.stats.arrays import mean_of_defined

_SCATTERED = 2
"""Number of scorers that are plotted against people, in order of agreement."""


def write_meta(folder: Path, findings: MetaFindings, collected: Collected) -> list[Path]:
    """Write pages and values into `folder`; with matplotlib, also plots below it.

    The files are ``meta.md``, ``meta.html``, ``meta.json`` and plots.

    Raise `StoreError` if a file cannot be written.
    """
    drawn = draw(folder / PICTURES, _drawings(findings, collected), by=plots)
    report = agreement_report(findings, pictures=[picture for picture, _ in drawn])
    written = write_report(folder, report, data=meta_json(findings), page="meta", values="meta")
    return [*written, *(path for _, paths in drawn for path in paths)]


def _drawings(findings: MetaFindings, collected: Collected) -> Iterator[Drawing]:
    measure = f"{findings.settings.method}, {findings.settings.level}"
    if findings.aspects:
        correlations = _with_people(findings.agreements, measure)
        drawer = partial(plots.draw_correlations, correlations=correlations)
        yield Drawing("agreement", "Agreement of each scorer with people", drawer)
    yield from _costs(findings, collected.annotators, measure=measure)
    # Names of files that are valid in any file system; they are numbered unless they differ.
    names = [re.sub(r"[^\w.-]+", "-", aspect.aspect)[:40] for aspect in findings.aspects]
    if len({*names}) < len(names):
        names = [f"{number}-{name}" for number, name in enumerate(names, 1)]
    parts = zip(findings.aspects, collected.ratings, names, strict=True)
    for aspect_findings, ratings, name in parts:
        yield from _of_scores(aspect_findings, ratings, name=name)
        yield from _of_seats(aspect_findings, name=name, measure=measure)


def _of_scores(findings: AspectFindings, ratings: Ratings, *, name: str) -> Iterator[Drawing]:
    for number, agreement in enumerate(_scatters(findings, ratings), start=1):
        alt = f"Scores of {agreement.scorer} against people's on {findings.aspect}"
        drawer = partial(plots.draw_agreement, agreement=agreement)
        yield Drawing(f"scatter-{name}-{number}", alt, drawer)
    for number, ranking in enumerate(findings.rankings):
        systems, scores = _systems(ranking)
        by = "scorer" if number else PEOPLE
        drawer = partial(plots.draw_ranking, systems=systems, measure=scores)
        alt = f"Systems by {findings.aspect}, as {ranking.by} score them"
        yield Drawing(f"ranking-{name}-{by}", alt, drawer)


def _of_seats(findings: AspectFindings, *, name: str, measure: str) -> Iterator[Drawing]:
    if findings.seats:
        several = len(findings.seats) > 1
        curves = [
            EnsembleCurve(
                name=f"{seats.aspect}, {seats.run}" if several else seats.aspect,
                sizes=tuple(size.size for size in seats.sizes),
                mean=tuple(size.mean for size in seats.sizes),
                low=tuple(size.least for size in seats.sizes),
                high=tuple(size.greatest for size in seats.sizes),
            )
            for seats in findings.seats
        ]
        drawer = partial(plots.draw_ensembles, curves=curves, measure=measure)
        alt = f"Agreement with people on {findings.aspect} by the number of seats"
        yield Drawing(f"ensembles-{name}", alt, drawer)
    for number, seats in enumerate(findings.seats, start=1):
        drawer = partial(plots.draw_correlations, correlations=_between(seats))
        alt = f"Agreement between the seats of {seats.run} on {findings.aspect}"
        yield Drawing(f"seats-{name}-{number}", alt, drawer)


def _with_people(agreements: Sequence[ScorerAgreement], measure: str) -> CorrelationMap:
    scorers = tuple(dict.fromkeys(agreement.scorer for agreement in agreements))
    aspects = tuple(dict.fromkeys(agreement.aspect for agreement in agreements))
    values = np.full((len(scorers), len(aspects)), np.nan)
    for agreement in agreements:
        values[scorers.index(agreement.scorer), aspects.index(agreement.aspect)] = agreement.value
    return CorrelationMap(
        measure=measure,
        rows=scorers,
        columns=aspects,
        values=values,
        clustered=len(aspects) > 1,  # a single column is already sorted
    )


def _between(seats: SeatFindings) -> CorrelationMap:
    values = np.eye(len(seats.seats))
    for pair in seats.agreement.pairs:
        first, second = seats.seats.index(pair.first), seats.seats.index(pair.second)
        values[[first, second], [second, first]] = pair.spearman
    return CorrelationMap(
        measure="Spearman's correlation over all outputs at once",
        rows=seats.seats,
        columns=seats.seats,
        values=values,
        clustered=True,
    )


def _scatters(findings: AspectFindings, ratings: Ratings) -> Iterator[Agreement]:
    numbers = {scorer.name: number for number, scorer in enumerate(ratings.scorers)}
    for agreement in findings.agreements[:_SCATTERED]:
        number = numbers[agreement.scorer]
        sign = -1.0 if ratings.scorers[number].lower_is_better else 1.0
        scores, human = sign * ratings.scores[number].ravel(), ratings.human.ravel()
        rated = ~np.isnan(human)
        yield Agreement(
            scorer=agreement.scorer,
            aspect=findings.aspect,
            scores=scores[rated],
            human=human[rated],
            correlations=tuple(
                (name, agreement.others[name])
                for name in ("pearson", "spearman", "tau-b")
                if name in agreement.others
            ),
        )


def _systems(ranking: Ranking) -> tuple[list[SystemScore], str]:
    """Return systems oriented so that higher is better, and a description of their scores."""
    first, last = ranking.systems[0].score, ranking.systems[-1].score
    turned = first < last  # a metric for which lower is better
    systems = [
        SystemScore(
            name=system.system,
            score=-system.score if turned else system.score,
            low=-system.high if turned else system.low,
            high=-system.low if turned else system.high,
        )
        for system in ranking.systems
    ]
    if ranking.by == PEOPLE:
        return systems, f"{ranking.aspect}: people's mean score"
    minus = "minus the " if turned else ""
    return systems, f"{ranking.aspect}: {minus}mean of {ranking.by}"


def _costs(
    findings: MetaFindings, annotators: Sequence[Annotator], *, measure: str
) -> Iterator[Drawing]:
    """Yield plots of agreement by cost: in tokens if judges used any, and in seconds."""
    groups = grouped(findings.agreements, lambda agreement: agreement.scorer)
    values = {scorer: [each.value for each in own] for scorer, own in groups.items()}
    judges = [annotator for annotator in annotators if annotator.name in values]
    panels = {judge.name for judge in judges if judge.is_panel}
    for unit, costs in (
        ("thousand tokens", {(judge.name, judge.aspect): judge.tokens / 1000 for judge in judges}),
        ("seconds", {(judge.name, judge.aspect): judge.seconds for judge in judges}),
    ):
        if any(costs.values()):
            drawer = partial(
                plots.draw_costs,
                scorers=_priced(costs, values, panels=panels),
                unit=f"{unit} an aspect",
                measure=f"{measure}, mean of aspects",
            )
            name = f"cost-{unit.split()[-1]}"
            yield Drawing(name, f"Agreement with people by cost in {unit}", drawer)


def _priced(
    costs: Mapping[tuple[str, str], float],
    values: Mapping[str, Sequence[float]],
    *,
    panels: Collection[str],
) -> list[ScorerCost]:
    """Return costs per 1,000 texts and aspect, each the mean over a scorer's aspects."""
    by_name = grouped(costs, lambda key: key[0])
    return [
        ScorerCost(
            name=name,
            kind="panel" if name in panels else "judge",
            cost=1000 * sum(costs[key] for key in keys) / len(keys),
            correlation=float(mean_of_defined(values[name])),
        )
        for name, keys in by_name.items()
    ]
