"""Findings of a study of a panel's seats: lean, redundancy, weights, and all that was found."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from operator import itemgetter
from types import MappingProxyType

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray
from scipy.optimize import nnls

from spanjury.judges.core import VERSION, DataError
from spanjury.orchestration.engine.families import Families
from spanjury.orchestration.report.json import plain
from spanjury.orchestration.studies.estimates import bounded, grouped, resampled
from spanjury.orchestration.studies.panel_study.seats import (
    Agreement,
    IntArray,
    PanelSeats,
    SeatPrices,
    Settings,
    Unit,
    mean_scores,
    source_folds,
    splits,
)
from spanjury.orchestration.studies.panel_study.subsets import (
    Frontier,
    SubsetFindings,
    frontier,
    subset_findings,
)
from spanjury.stats.arrays import FloatArray, mean_of_defined, safe_divide
from spanjury.stats.correlations.grouping import Level
from spanjury.stats.correlations.resampled_correlations import Over
from spanjury.stats.ranks import midranks
from spanjury.stats.raters.graded import ordinal_scores
from spanjury.stats.raters.latent import dawid_skene
from spanjury.stats.redundancy import rater_redundancy
from spanjury.stats.resampling import Estimate, estimates
from spanjury.stats.weighted import mean_drop

FEWEST_TEXTS = 5
"""Texts with people's scores from which on something is said of seats."""
_FEW_TEXTS = 50
_LEAST_SEATS = 2
_NEARLY_ALL = 0.98
"""Share of texts from which on what a seat did not score is not worth a line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lean:
    """The lean of a seat towards systems of its own family, on the scale of its scores."""

    seat: str
    family: str
    systems: tuple[str, ...]
    texts: int
    """Theirs that it scored."""
    beyond_people: Estimate
    """By how much its scores of its family's texts are above what people's scores of them predict,
    less the same of other texts."""
    beyond_seats: Estimate
    """The same, beside the mean of the seats of other families; NaN without any."""


def leans(seats: PanelSeats, settings: Settings, families: Families) -> Iterator[Lean]:
    """Yield the lean of each seat that judged systems of its own family and others."""
    of_system = [families.of(name) for name in seats.system_names]
    of_seat = [families.of(model) for model in seats.models]
    for number, family in enumerate(of_seat):
        own_systems = np.array([family is not None and other == family for other in of_system])
        own = own_systems[seats.systems]
        if not own.any() or own.all():
            continue
        scores = seats.scores[number]
        others = [other for other, its in enumerate(of_seat) if its != family]
        beside = mean_scores(seats.scores[others]) if others else np.full(seats.texts, np.nan)
        yield Lean(
            seat=seats.names[number],
            family=family or "",
            systems=tuple(
                name for name, is_own in zip(seats.system_names, own_systems, strict=True) if is_own
            ),
            texts=int((own & ~np.isnan(scores)).sum()),
            beyond_people=_contrast(seats, _beyond(scores, seats.human), own, settings=settings),
            beyond_seats=_contrast(seats, scores - beside, own, settings=settings),
        )


def _beyond(scores: FloatArray, people: FloatArray) -> FloatArray:
    """Return what a line through people's scores does not predict of a seat's."""
    scored = ~np.isnan(scores + people)
    if scored.sum() < 2 or np.ptp(people[scored]) == 0:  # noqa: PLR2004  a line takes two points
        return scores - np.nanmean(scores) if scored.any() else scores
    slope, start = np.polyfit(people[scored], scores[scored], 1)
    left: FloatArray = scores - (start + slope * people)
    return left


def _contrast(
    seats: PanelSeats, values: FloatArray, own: NDArray[np.bool_], *, settings: Settings
) -> Estimate:
    """Return the mean over own texts minus that over others, with sources resampled."""
    means = mean_drop(np.where([own, ~own], values, np.nan))
    drawn = resampled(
        lambda counts: np.subtract(*means(counts).T),
        seats.sources,
        seed=settings.seed,
        draws=max(settings.draws, 1),
    )
    return bounded(estimates(drawn)[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class RedundantPair:
    """Two seats, and how far they agree where people's scores do not explain it."""

    first: str
    second: str
    family: str | None
    """That of both; None where they are of different ones or a model's family is unknown."""
    texts: int
    partial: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class RedundancyFindings:
    """Redundancy of all pairs of seats, the most redundant first.

    `within`, `between`: mean partial correlation of pairs of one family, and of different known
    families; NaN without any.
    """

    pairs: tuple[RedundantPair, ...]
    effective: Estimate
    """The number of independent seats that would err as little together: a lower bound, as what
    people's noisy scores miss counts as the seats' redundancy."""
    within: float
    between: float


def redundancy_findings(agreement: Agreement, families: Families) -> RedundancyFindings:
    """Measure the redundancy of two seats or more where the level compares texts."""
    seats, settings = agreement.seats, agreement.settings
    shared = rater_redundancy(
        _ranked_within(seats.human, agreement.blocks),
        np.array([_ranked_within(line, agreement.blocks) for line in seats.scores]),
        rng=default_rng(settings.seed),
        clusters=seats.sources,
        draws=max(settings.draws, 1),
    )
    family = {name: families.of(m) for name, m in zip(seats.names, seats.models, strict=True)}
    pairs = [
        RedundantPair(
            first=first,
            second=second,
            family=family[first] if family[first] == family[second] else None,
            texts=int(shared.items[cell]),
            partial=bounded(Estimate(*(float(part[cell]) for part in shared[:3]))),
        )
        for cell in combinations(range(len(seats.names)), 2)
        for first, second in [(seats.names[cell[0]], seats.names[cell[1]])]
    ]
    apart = [
        pair.partial.value
        for pair in pairs
        if not pair.family and family[pair.first] and family[pair.second]
    ]
    return RedundancyFindings(
        pairs=tuple(
            sorted(pairs, key=lambda pair: (np.isnan(pair.partial.value), -pair.partial.value))
        ),
        effective=bounded(Estimate(shared.effective, shared.effective_low, shared.effective_high)),
        within=float(mean_of_defined([pair.partial.value for pair in pairs if pair.family])),
        between=float(mean_of_defined(apart)),
    )


def _ranked_within(values: FloatArray, blocks: IntArray) -> FloatArray:
    """Return ranks within each block as shares: what differs between blocks is no agreement."""
    if not blocks.any():
        return values
    ranked = np.full(values.shape, np.nan)
    for block in np.unique(blocks):
        here = (blocks == block) & ~np.isnan(values)
        ranked[here] = midranks(values[here]) / max(int(here.sum()), 1)
    return ranked


_MOST_LABELS = 10
"""Different scores from which on they are cut into `_BINS` labels."""
_BINS = 5
_LEAST_TEXTS = 10
"""Texts to fit weights to, at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighing:
    """A way to make one score of the seats', beside the plain mean."""

    name: str
    uses_people: bool
    """True if weights are fitted to people's scores, on all folds but the one that is scored."""
    agreement: Estimate
    gain: Estimate
    """By how much it agrees more with people than the plain mean."""
    weights: Mapping[str, float]
    """Weights of the seats, fitted to all texts; empty if none are given."""


def weighings(agreement: Agreement) -> tuple[Weighing, ...]:
    """Compare weights of two seats or more."""
    seats = agreement.seats
    plain = mean_scores(seats.scores)
    whole = np.arange(seats.texts)
    ordinal = ordinal_scores(seats.scores.T)
    given: list[tuple[str, bool, FloatArray, FloatArray | None]] = [
        ("plain mean", False, plain, np.full(len(seats.names), 1 / len(seats.names))),
        ("Dawid-Skene", False, _dawid_skene(seats.scores), None),
        ("ordinal", False, _where_scored(ordinal.quality, seats.scores), ordinal.discrimination),
    ]
    if seats.texts >= _LEAST_TEXTS:
        given.append(("stacking", True, _held_out(agreement), _stacked(agreement, whole)))
    scores = np.array([row[2] for row in given])
    estimates, gains = agreement.estimates(scores), agreement.gains(scores, base=plain)
    figures = zip(given, estimates, gains, strict=True)
    return tuple(
        Weighing(
            name=name,
            uses_people=uses_people,
            agreement=estimate,
            gain=gain,
            weights=MappingProxyType(
                {} if weights is None else dict(zip(seats.names, weights.tolist(), strict=True))
            ),
        )
        for (name, uses_people, _, weights), estimate, gain in figures
    )


def _where_scored(values: FloatArray, scores: FloatArray) -> FloatArray:
    return np.where(np.isnan(scores).all(axis=0), np.nan, values)


def _dawid_skene(scores: FloatArray) -> FloatArray:
    labels = _labels(scores)
    count = int(np.nanmax(labels)) + 1
    if count < 2:  # noqa: PLR2004  all scores are alike
        return _where_scored(np.zeros(scores.shape[1]), scores)
    fitted = dawid_skene(labels.T, categories=count)
    return _where_scored(fitted.posterior @ np.arange(count), scores)


def _labels(scores: FloatArray) -> FloatArray:
    """Return scores as labels from 0: as they are if few differ, or else cut into `_BINS`."""
    defined = scores[~np.isnan(scores)]
    different = np.unique(defined)
    if different.size <= _MOST_LABELS:
        labels = np.searchsorted(different, np.nan_to_num(scores)).astype(np.float64)
    else:
        edges = np.linspace(defined.min(), defined.max(), _BINS + 1)[1:-1]
        labels = np.digitize(np.nan_to_num(scores), edges).astype(np.float64)
    return np.where(np.isnan(scores), np.nan, labels)


def _held_out(agreement: Agreement) -> FloatArray:
    """Return the score of each text by weights that were fitted without its fold."""
    seats = agreement.seats
    scores = np.full(seats.texts, np.nan)
    for training, test in splits(source_folds(seats, agreement.settings)):
        scores[test] = _weighted(seats.scores[:, test], _stacked(agreement, training))
    return scores


def _weighted(scores: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the weighted mean of what seats gave; the plain one where no seat with weight did."""
    scored = ~np.isnan(scores)
    sums = (weights[:, np.newaxis] * np.where(scored, scores, 0.0)).sum(axis=0)
    totals = (weights[:, np.newaxis] * scored).sum(axis=0)
    return np.where(totals > 0, safe_divide(sums, totals), mean_scores(scores))


def _stacked(agreement: Agreement, training: IntArray) -> FloatArray:
    """Return weights of least squares, none below 0, that sum to 1.

    Scores are centred where the level compares texts: what differs beyond that is no agreement.
    """
    seats = agreement.seats
    scores = seats.scores[:, training]
    filled = np.where(np.isnan(scores), mean_scores(scores), scores)
    usable = ~np.isnan(filled).any(axis=0)
    rows = np.concatenate([filled, seats.human[np.newaxis, training]])[:, usable]
    blocks = agreement.blocks[training][usable]
    parts = [rows[:, blocks == block] for block in np.unique(blocks)]
    centred = np.concatenate([here - here.mean(axis=1, keepdims=True) for here in parts], axis=1)
    even = np.full(len(seats.names), 1 / len(seats.names))
    if centred.shape[1] <= len(seats.names):
        return even
    weights, _ = nnls(centred[:-1].T, centred[-1])
    total = weights.sum()
    return weights / total if total > 0 else even


@dataclass(frozen=True, slots=True, kw_only=True)
class AspectStudy:
    """Findings on the seats of a panel on one aspect.

    `texts`, `sources`: that people scored, and what they were made from.
    """

    aspect: str
    seats: tuple[str, ...]
    texts: int
    sources: int
    groups: tuple[str, ...]
    """Within which agreement is taken, where there are several."""
    level: Level
    resampled: Over
    """Units that intervals resample."""
    subsets: SubsetFindings
    redundancy: RedundancyFindings
    families: Mapping[str, str]
    """Seat -> the family of its model, where it is known."""
    leans: tuple[Lean, ...]
    weighings: tuple[Weighing, ...]
    frontier: Frontier
    prices: SeatPrices
    """By which dollars are counted."""
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyFindings:
    """Findings on all aspects, and where the scores are from."""

    settings: Settings
    results: tuple[str, ...]
    human: str
    aspects: tuple[AspectStudy, ...]
    flags: tuple[str, ...] = ()
    """Flags of a command that name people's marks and the texts, as for this study."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """The unit of cost, and what may be spent; None for the unit that suits, and no bound."""

    unit: Unit | None = None
    budget: float | None = None
    """In the unit."""


def study_aspect(
    seats: PanelSeats,
    settings: Settings,
    *,
    families: Families,
    spending: Spending,
    judged: int | None = None,
    notes: Sequence[str] = (),
) -> AspectStudy:
    """Study the seats of a panel on one aspect.

    Raise `DataError` if too little is known: fewer than `FEWEST_TEXTS` texts, fewer than two
    seats with scores, people's scores that are all alike.

    `judged`: the number of the run's texts, also of those that people did not score; None for those
    of `seats`.
    """
    _check(seats)
    agreement = Agreement(seats, settings)
    compared = subset_findings(agreement)
    if np.isnan(compared.whole.value):
        raise DataError(
            f"the agreement with people on {seats.aspect} is undefined at the level"
            f" {agreement.level}: there are too few texts, or all scores are equal"
        )
    priced = frontier(
        agreement, compared.subsets, unit=spending.unit, budget=spending.budget, texts=judged
    )
    of_seats = {
        name: families.of(model) for name, model in zip(seats.names, seats.models, strict=True)
    }
    return AspectStudy(
        aspect=seats.aspect,
        seats=seats.names,
        texts=seats.texts,
        sources=int(seats.sources.max()) + 1,
        groups=seats.group_names if len(seats.group_names) > 1 else (),
        level=agreement.level,
        resampled=agreement.resampled,
        subsets=compared,
        redundancy=redundancy_findings(agreement, families),
        families={name: family for name, family in of_seats.items() if family},
        leans=tuple(leans(seats, settings, families)),
        weighings=weighings(agreement),
        frontier=priced,
        prices=SeatPrices.of(seats.names, seats.costs),
        notes=(*notes, *_notes(seats), *_about_families(seats, families)),
    )


def _check(seats: PanelSeats) -> None:
    if seats.texts < FEWEST_TEXTS:
        raise DataError(
            f"people scored {seats.texts} of the texts on {seats.aspect}: a study of seats needs "
            f"at least {FEWEST_TEXTS}"
        )
    if len(seats.names) < _LEAST_SEATS:
        raise DataError(
            f"a study compares seats, but only {', '.join(seats.names) or 'none'} gave scores of "
            f"{seats.aspect}"
        )
    if np.ptp(seats.human) == 0:
        raise DataError(
            f"people gave all {seats.texts} texts the score {seats.human[0]:g} on {seats.aspect}: "
            "agreement needs texts with different scores"
        )


def _notes(seats: PanelSeats) -> Iterator[str]:
    if seats.texts < _FEW_TEXTS:
        yield (
            f"{seats.texts} texts are few: the intervals show how uncertain the figures are, and "
            "the choice of the best subset is even less certain"
        )
    for name, line in zip(seats.names, seats.scores, strict=True):
        scored = int((~np.isnan(line)).sum())
        if scored < _NEARLY_ALL * seats.texts:
            yield f"{name} scored only {scored} of {seats.texts} texts; its figures cover these"


def _about_families(seats: PanelSeats, families: Families) -> Iterator[str]:
    named = zip(seats.names, map(families.of, seats.models), strict=True)
    for family, members in grouped(named, itemgetter(1)).items():
        own = ", ".join(name for name, _ in members)
        systems = [name for name in seats.system_names if family and families.of(name) == family]
        if family and len(members) > 1:
            yield f"{own} are of one family, {family}, so they tend to agree"
        if systems:
            yield f"{own} judge systems of their own family: {', '.join(systems)}"


def study_json(findings: StudyFindings) -> dict[str, object]:
    """Return the findings for a machine; None for what is undefined."""
    return {
        "spanjury": VERSION,
        "results": list(findings.results),
        "human": findings.human,
        "settings": plain(findings.settings),
        "aspects": plain(findings.aspects),
    }
