"""Subsets of a panel's seats: agreement with people, what each seat adds, the frontier of cost.

The best of several is corrected for being chosen. Cascades are looked at of the subsets that are
worth their cost by themselves, and of the whole panel. They are those that `panel cascade` fits and
a panel file names.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import NamedTuple

import numpy as np

from spanjury.orchestration.studies.panel_study.cascades import (
    FEWEST_FITTED,
    CascadeOutcome,
    StagedTexts,
    judge_held_out,
    staged,
)
from spanjury.orchestration.studies.panel_study.seats import (
    Agreement,
    PanelSeats,
    Unit,
    source_folds,
    usual_stages,
    usual_unit,
)
from spanjury.stats.arrays import FloatArray
from spanjury.stats.resampling import Estimate, Resampled
from spanjury.stats.shapley import shapley_values

CHOICE_DRAWS = 200
"""Samples in which the best is chosen again, at the most."""
MOST_SEATS = 8
"""The most seats whose every subset is studied; more seats are added one by one."""
_WIDTH = 2 * 1.96  # width of a 95 % interval in standard errors


def flattery(drawn: Resampled) -> float:
    """Return what the best gains by being chosen: make the same choice in resamples [1].

    Each sample's best is compared with what it is worth on all texts. The return value is 0 or
    more, or NaN if no sample defines the agreement of all.

    `drawn`: the agreement of those that are chosen from, in the same samples; draws of shape
    ``(draws, many)``.

    References
    ----------
    .. [1] Harrell, Lee, Mark (1996), Statistics in Medicine 15(4):361-387, section 6.

    Examples
    --------
    >>> from numpy import array
    >>> flattery(Resampled(array([0.5, 0.5]), array([[0.7, 0.5], [0.4, 0.8]])))
    0.15
    """
    moved = drawn.draws - drawn.estimate
    whole = ~np.isnan(moved).any(axis=1)
    if not whole.any():
        return np.nan
    # Draws hold texts twice, which moves all correlations a little: that is no choice's gain.
    gained = moved[whole] - moved[whole].mean(axis=1, keepdims=True)
    chosen = drawn.draws[whole].argmax(axis=1)
    return max(float(gained[np.arange(len(gained)), chosen].mean()), 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subset:
    """Some seats of the panel, whose score is the mean of theirs."""

    members: tuple[int, ...]
    seats: tuple[str, ...]
    agreement: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeFinding:
    """Agreement of panels of one size."""

    size: int
    panels: int
    mean: float
    least: float
    best: Subset
    estimate: Estimate
    corrected: float
    """Agreement of the best, less what it gains by being chosen on the texts that it is measured
    on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatShare:
    """The contribution of a seat."""

    seat: str
    alone: Estimate
    """Its own agreement with people."""
    gain: Estimate
    """By how much it raises the agreement of all others together."""
    shapley: float
    """Average gain from it over all orders in which seats may join; NaN beyond `MOST_SEATS` seats.
    The shares sum to the agreement of the whole panel."""
    coverage: float
    """Share of the texts that it scored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubsetFindings:
    """All subsets of the seats that were looked at, the smallest first, and what they say."""

    subsets: tuple[Subset, ...]
    sizes: tuple[SizeFinding, ...]
    shares: tuple[SeatShare, ...]
    is_complete: bool
    whole: Estimate


def subset_findings(agreement: Agreement) -> SubsetFindings:
    """Look at the subsets of a panel's seats, two of them at least."""
    seats = agreement.seats
    everyone = tuple(range(len(seats.names)))
    is_complete = len(everyone) <= MOST_SEATS
    every = (combinations(everyone, size + 1) for size in everyone)
    members = [*(chain(*every) if is_complete else _forward(agreement, everyone))]
    scores = np.array([seats.mean_of(member) for member in members])
    subsets = tuple(
        Subset(
            members=own,
            seats=tuple(seats.names[member] for member in own),
            agreement=float(value),
        )
        for own, value in zip(members, agreement.of(scores), strict=True)
    )
    whole = agreement.estimates(seats.mean_of(everyone)[np.newaxis])[0]
    return SubsetFindings(
        subsets=subsets,
        sizes=tuple(_sizes(agreement, subsets)),
        shares=tuple(_shares(agreement, subsets, is_complete=is_complete)),
        is_complete=is_complete,
        whole=whole,
    )


def _forward(agreement: Agreement, everyone: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield the subsets that are met where the seat that helps most joins next."""
    seats = agreement.seats
    chosen: tuple[int, ...] = ()
    while len(chosen) < len(everyone):
        asked = [tuple(sorted((*chosen, seat))) for seat in everyone if seat not in chosen]
        yield from asked
        scores = np.array([seats.mean_of(members) for members in asked])
        chosen = asked[_best(agreement.of(scores))]


def _best(values: FloatArray) -> int:
    return int(np.argmax(np.where(np.isnan(values), -np.inf, values)))


def _sizes(agreement: Agreement, subsets: Sequence[Subset]) -> Iterator[SizeFinding]:
    seats = agreement.seats
    by_size = [
        [subset for subset in subsets if len(subset.members) == size]
        for size in range(1, len(seats.names) + 1)
    ]
    best = [same[_best(np.array([subset.agreement for subset in same]))] for same in by_size]
    estimates = agreement.estimates(np.array([seats.mean_of(subset.members) for subset in best]))
    for same, nearest, estimate in zip(by_size, best, estimates, strict=True):
        values = np.array([subset.agreement for subset in same])
        defined = values[~np.isnan(values)]
        yield SizeFinding(
            size=len(nearest.members),
            panels=len(same),
            mean=float(defined.mean()) if defined.size else np.nan,
            least=float(defined.min()) if defined.size else np.nan,
            best=nearest,
            estimate=estimate,
            corrected=_corrected(agreement, same, nearest),
        )


def _corrected(agreement: Agreement, same: Sequence[Subset], best: Subset) -> float:
    """Take off what the best gains by being chosen."""
    if len(same) == 1 or not agreement.settings.draws:
        return best.agreement
    scores = np.array([agreement.seats.mean_of(subset.members) for subset in same])
    draws = min(agreement.settings.draws, CHOICE_DRAWS)
    return best.agreement - flattery(agreement.drawn(scores, draws=draws))


def _shares(
    agreement: Agreement, subsets: Sequence[Subset], *, is_complete: bool
) -> Iterator[SeatShare]:
    seats = agreement.seats
    everyone = range(len(seats.names))
    alone = agreement.estimates(seats.scores)
    without = [seats.mean_of([seat for seat in everyone if seat != left]) for left in everyone]
    losses = agreement.gains(np.array(without), base=seats.mean_of(everyone))
    shares = np.full(len(everyone), np.nan)
    if is_complete:
        worths = np.zeros(2 ** len(everyone))
        for subset in subsets:
            worths[sum(1 << member for member in subset.members)] = subset.agreement
        shares = shapley_values(worths)
    for number in everyone:
        value, low, high = losses[number]
        yield SeatShare(
            seat=seats.names[number],
            alone=alone[number],
            gain=Estimate(-value, -high, -low),
            shapley=float(shares[number]),
            coverage=_coverage(seats.scores[number]),
        )


_SHARES = (0.2, 0.4, 0.6, 0.8)
"""Shares of the cost of its seats that a cascade is fitted to; more would differ by chance."""
_AND = " + "
_THEN = " > "
_COMPARABLE = 0.98
"""Share of the whole panel's texts that a panel on the frontier scores at the least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A panel that could be had, and what it costs."""

    name: str
    """Its seats; of a cascade, stage by stage, and the share of their cost."""
    stages: tuple[tuple[str, ...], ...]
    """Names of its seats, stage by stage; of a panel that always asks all of them, one stage."""
    share: float | None = None
    """Share of its seats' cost that a cascade is fitted to take; None for no cascade."""
    cost: float
    """For one text."""
    agreement: float
    """Agreement with people; a cascade's is measured on sources that it was not fitted to."""
    calls: float
    """Share of the calls that all seats would be asked."""
    coverage: float
    """Share of the texts that get a score."""


def choice_name(stages: Iterable[Iterable[str]], share: float | None) -> str:
    """Return the seats of a panel in a line.

    Examples
    --------
    >>> choice_name([["reader", "grounding"], ["gemma"]], 0.4)
    'reader + grounding > gemma at 40%'
    """
    order = _THEN.join(map(_AND.join, stages))
    return order if share is None else f"{order} at {share:.0%}"


class ScoredChoice(NamedTuple):
    """A choice with its scores, shape ``(texts,)``."""

    choice: Choice
    scores: FloatArray


def subset_choices(
    seats: PanelSeats, subsets: Iterable[Subset], *, unit: Unit
) -> Iterator[ScoredChoice]:
    """Yield the subsets with their costs."""
    costs = np.array([cost.counted_in(unit) for cost in seats.costs])
    for subset in subsets:
        members = list(subset.members)
        scores = seats.mean_of(members)
        choice = Choice(
            name=choice_name([subset.seats], None),
            stages=(subset.seats,),
            cost=float(costs[members].sum()),
            agreement=subset.agreement,
            calls=_calls(seats, np.isin(np.arange(costs.size), members).astype(np.float64)),
            coverage=_coverage(scores),
        )
        yield ScoredChoice(choice, scores)


def cascade_choices(
    agreement: Agreement, subsets: Iterable[Subset], *, unit: Unit
) -> Iterator[ScoredChoice]:
    """Yield cascades of the subsets that ask cheap seats first, judged on folds by source.

    One is fitted to each of `_SHARES` that the first stage does not take by itself; none of a
    subset whose seats cost nothing, or scored fewer than `FEWEST_FITTED` texts.
    """
    seats = agreement.seats
    folds = source_folds(seats, agreement.settings)
    for subset in subsets:
        members = subset.members
        stages = usual_stages([seats.costs[member] for member in members], unit=unit)
        numbers = tuple(tuple(members[number] for number in stage) for stage in stages)
        texts = staged(seats, numbers, unit=unit)
        scored = int((~np.isnan(texts.whole)).sum())
        if not texts.costs[1:].sum() > 0 or scored < FEWEST_FITTED:
            continue
        shares = [share for share in _SHARES if share * texts.costs.sum() > texts.costs[0]]
        if not shares:
            continue
        ended = judge_held_out(texts, folds, shares=shares)
        scores = np.array([outcome.fractions for outcome in ended])
        values = agreement.of(scores)
        named = tuple(tuple(seats.names[seat] for seat in stage) for stage in texts.stages)
        for share, outcome, value in zip(shares, ended, values, strict=True):
            choice = Choice(
                name=choice_name(named, share),
                stages=named,
                share=share,
                cost=float(outcome.costs.mean()),
                agreement=float(value),
                calls=_calls(seats, _asked(texts, outcome, seats=len(seats.names))),
                coverage=_coverage(outcome.fractions),
            )
            yield ScoredChoice(choice, outcome.fractions)


def _asked(texts: StagedTexts, outcome: CascadeOutcome, *, seats: int) -> FloatArray:
    shares = np.zeros(seats)
    for number, stage in enumerate(texts.stages):
        shares[list(stage)] = (outcome.stages >= number).mean()
    return shares


def _calls(seats: PanelSeats, asked: FloatArray) -> float:
    calls = np.array([cost.calls for cost in seats.costs])
    return float(asked @ calls / calls.sum()) if calls.any() else np.nan


def _coverage(scores: FloatArray) -> float:
    return float((~np.isnan(scores)).mean())


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierPoint:
    """A choice that no other beats: none agrees as much for less, also as corrected."""

    choice: Choice
    estimate: Estimate
    corrected: float
    """Its agreement, less what the best of all that cost no more gains by being chosen on the texts
    that it is measured on; NaN without draws."""

    @property
    def shifted(self) -> Estimate:
        """The corrected agreement, with the interval of the other moved by the correction [1]_.

        Without draws it is the other, which has no interval.

        References
        ----------
        .. [1] Noma, Shinozaki, Iba, Teramukai, Furukawa (2021), Confidence intervals of prediction
           accuracy measures for multivariable prediction models based on the bootstrap-based
           optimism correction methods, Statistics in Medicine 40(26):5691-5701
        """
        if math.isnan(self.corrected):
            return self.estimate
        return Estimate(*(bound - self.optimism for bound in self.estimate))

    @property
    def optimism(self) -> float:
        """By how much the agreement is overestimated because it was chosen; NaN without draws."""
        return self.estimate.value - self.corrected

    @property
    def is_shown(self) -> bool:
        """True if the agreement is shown to be above 0; without draws, if it is."""
        value, low, _ = self.shifted
        return (value if math.isnan(self.corrected) else low) > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The panels that a budget buys."""

    amount: float
    unit: Unit
    texts: int
    """The number of texts of the run, also of those that people did not score."""
    best: FrontierPoint | None
    """The nearest to people that judges as many texts; None if there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontier:
    """All choices, and those on the frontier, the cheapest first."""

    unit: Unit
    choices: tuple[Choice, ...]
    points: tuple[FrontierPoint, ...]
    advised: FrontierPoint | None
    """The cheapest within a standard error of the best; None without points."""
    whole: Choice
    uneven: tuple[str, ...]
    """Names of choices without scores of texts that the whole panel scores. Their agreement is of
    other texts than that of the others, so that they are not on the frontier."""
    budget: Budget | None


def frontier(
    agreement: Agreement,
    subsets: Sequence[Subset],
    *,
    unit: Unit | None = None,
    budget: float | None = None,
    texts: int | None = None,
) -> Frontier:
    """Compare subsets, and cascades of the best of them, by cost and agreement.

    `subsets`: the whole panel is the last.
    `unit`: unit of cost; None for dollars if every price is known, else tokens or calls if a seat
    took any, else seconds.
    `budget`: what may be spent, in that unit.
    `texts`: the number of texts of the run; None for those that are studied.
    """
    seats = agreement.seats
    counted = unit or usual_unit(seats.costs)
    plain = list(subset_choices(seats, subsets, unit=counted))
    whole = plain[-1].choice
    first = _undominated([each.choice for each in plain], whole=whole)
    cascaded = sorted({*first, len(subsets) - 1})
    cascades = cascade_choices(agreement, [subsets[number] for number in cascaded], unit=counted)
    scored = [*plain, *cascades]
    points = _points(agreement, scored, whole=whole)
    choices = tuple(each.choice for each in scored)
    return Frontier(
        unit=counted,
        choices=choices,
        points=tuple(points),
        advised=_advised(agreement, points),
        whole=whole,
        uneven=tuple(choice.name for choice in choices if not _is_comparable(choice, whole)),
        budget=_bought(budget, points, unit=counted, texts=seats.texts if texts is None else texts),
    )


def _is_comparable(choice: Choice, whole: Choice) -> bool:
    return choice.coverage >= _COMPARABLE * whole.coverage


def _undominated(choices: Sequence[Choice], *, whole: Choice) -> list[int]:
    """Return the numbers of the choices that none beats, the cheapest first."""
    valid = [
        number
        for number, choice in enumerate(choices)
        if np.isfinite(choice.cost)
        and np.isfinite(choice.agreement)
        and _is_comparable(choice, whole)
    ]
    ordered = sorted(valid, key=lambda number: (choices[number].cost, -choices[number].agreement))
    kept: list[int] = []
    for number in ordered:
        if not kept or choices[number].agreement > choices[kept[-1]].agreement:
            kept.append(number)
    return kept


def _points(
    agreement: Agreement, scored: Sequence[ScoredChoice], *, whole: Choice
) -> dict[FrontierPoint, FloatArray]:
    kept = [scored[n] for n in _undominated([each.choice for each in scored], whole=whole)]
    if not kept:
        return {}
    estimates = agreement.estimates(np.array([each.scores for each in kept]))
    rivals = [each for each in scored if _is_comparable(each.choice, whole)]
    losses = _flatteries(agreement, rivals, [each.choice.cost for each in kept])
    rising: dict[FrontierPoint, FloatArray] = {}
    highest = -math.inf
    for each, estimate, loss in zip(kept, estimates, losses, strict=True):
        corrected = each.choice.agreement - float(loss)
        # Keep points that beat all cheaper ones even without the gain by chance; NaN without draws.
        if not corrected <= highest:
            point = FrontierPoint(choice=each.choice, estimate=estimate, corrected=corrected)
            rising[point], highest = each.scores, corrected
    return rising


def _advised(
    agreement: Agreement, points: Mapping[FrontierPoint, FloatArray]
) -> FrontierPoint | None:
    """Return the cheapest point within a standard error of the best [1]_; the best without draws.

    Points whose agreement is not shown do not count if that of another is.

    References
    ----------
    .. [1] Breiman, Friedman, Olshen, Stone (1984), Classification and Regression Trees, section
       3.4.3 (the 1 SE rule), here for the difference of the two
    """
    shown = [point for point in points if point.is_shown] or list(points)
    if not shown:
        return None
    best = shown[-1]
    for point in shown:
        gain = agreement.gains(points[best][np.newaxis], base=points[point])[0]
        corrected = gain.value - (best.optimism - point.optimism)
        error = 0 if math.isnan(gain.low) else (gain.high - gain.low) / _WIDTH
        if corrected <= error:
            return point
    return best


def _flatteries(
    agreement: Agreement, rivals: Sequence[ScoredChoice], costs: Sequence[float]
) -> FloatArray:
    """Return what the best that costs no more gains by being chosen, for each of `costs`."""
    if not agreement.settings.draws:
        return np.full(len(costs), np.nan)
    draws = min(agreement.settings.draws, CHOICE_DRAWS)
    drawn = agreement.drawn(np.array([rival.scores for rival in rivals]), draws=draws)
    defined = ~np.isnan(drawn.estimate)
    prices = np.array([rival.choice.cost for rival in rivals])
    affordable = [defined & (prices <= cost) for cost in costs]
    return np.array(
        [flattery(Resampled(drawn.estimate[here], drawn.draws[:, here])) for here in affordable]
    )


def _bought(
    amount: float | None, points: Iterable[FrontierPoint], *, unit: Unit, texts: int
) -> Budget | None:
    if amount is None:
        return None
    paid = [point for point in points if point.choice.cost * texts <= amount]
    best = max(paid, key=lambda point: point.choice.agreement, default=None)
    return Budget(amount=amount, unit=unit, texts=texts, best=best)
