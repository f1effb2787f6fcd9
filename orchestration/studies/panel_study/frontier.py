"""The frontier of cost and agreement: which panels are worth their cost, and what a budget buys."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from spanjury.orchestration.studies.panel_study.agreement import Agreement, Estimate
from spanjury.orchestration.studies.panel_study.seats import PanelSeats, SeatCost, mean_scores
from spanjury.orchestration.studies.panel_study.subsets import Subset
from spanjury.stats.arrays import FloatArray

Unit = Literal["dollars", "tokens", "calls", "seconds"]

_MOST_CASCADES = 8
"""Seats of which cascades are looked at."""
_NEAR = 0.125
"""Share of the range of all scores from which on two seats differ: half a grade of five."""
_AND = " + "


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A panel that could be had, and what it costs.

    Parameters
    ----------
    name
        Its seats; of a cascade those that are asked first, and those that follow if they differ.
    cost
        For one text.
    calls
        Share of the calls that all seats would be asked.
    is_cascade
        Whether its last seats are asked only where the first differ.
    """

    name: str
    cost: float
    agreement: float
    calls: float
    is_cascade: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierPoint:
    """A choice that no other beats: none agrees as much for less."""

    choice: Choice
    estimate: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The panels that a budget buys.

    Parameters
    ----------
    texts
        The number of texts that were studied.
    best
        The nearest to people that judges as many texts; None if there is none.
    """

    amount: float
    unit: Unit
    texts: int
    best: FrontierPoint | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontier:
    """All choices by their cost, and those on the frontier, the cheapest first."""

    unit: Unit
    choices: tuple[Choice, ...]
    points: tuple[FrontierPoint, ...]
    whole: Choice
    budget: Budget | None


def frontier(
    agreement: Agreement,
    subsets: Sequence[Subset],
    *,
    unit: Unit | None = None,
    budget: float | None = None,
) -> Frontier:
    """Compare subsets, and cascades of seats of one scale, by cost and agreement.

    Parameters
    ----------
    unit
        Of cost; None for dollars where every price is known, else tokens or calls where a seat
        took any, else seconds.
    budget
        What may be spent, in that unit.
    """
    seats = agreement.seats
    counted = unit or usual_unit(seats.costs)
    costs = np.array([cost_in(one, counted) for one in seats.costs])
    scored = [*_subsets(seats, subsets, costs), *_cascades(agreement, costs)]
    choices = tuple(choice for choice, _ in scored)
    kept = _undominated(choices)
    lines = [scored[number][1] for number in kept]
    estimates = agreement.estimates(np.array(lines)) if lines else []
    points = tuple(
        FrontierPoint(choice=choices[number], estimate=estimate)
        for number, estimate in zip(kept, estimates, strict=True)
    )
    everyone = _AND.join(seats.names)
    whole = next(one for one in choices if one.name == everyone)
    return Frontier(
        unit=counted,
        choices=choices,
        points=points,
        whole=whole,
        budget=_bought(budget, points, unit=counted, texts=seats.texts),
    )


def usual_unit(costs: Iterable[SeatCost]) -> Unit:
    """Return the unit that says most: a seat that calls no model costs no dollars."""
    asked = list(costs)
    calling = [one for one in asked if one.calls or one.tokens]
    if calling and all(one.dollars is not None for one in calling):
        return "dollars"
    if any(one.tokens for one in asked):
        return "tokens"
    return "calls" if calling else "seconds"


def cost_in(cost: SeatCost, unit: Unit) -> float:
    """Return a cost in a unit; NaN for a price that is not known."""
    match unit:
        case "tokens":
            return cost.tokens
        case "calls":
            return cost.calls
        case "seconds":
            return cost.seconds
        case "dollars":
            known = cost.dollars
            return (np.nan if cost.calls or cost.tokens else 0.0) if known is None else known


def _subsets(
    seats: PanelSeats, subsets: Iterable[Subset], costs: FloatArray
) -> Iterator[tuple[Choice, FloatArray]]:
    calls = np.array([one.calls for one in seats.costs])
    for one in subsets:
        members = list(one.members)
        yield (
            Choice(
                name=_AND.join(one.seats),
                cost=float(costs[members].sum()),
                agreement=one.agreement,
                calls=_share(calls[members].sum(), calls.sum()),
                is_cascade=False,
            ),
            seats.mean_of(members),
        )


def _cascades(agreement: Agreement, costs: FloatArray) -> Iterator[tuple[Choice, FloatArray]]:
    """Yield two seats first, and one, two or all others where these differ."""
    seats = agreement.seats
    everyone = range(len(seats.names))
    if not 2 < len(seats.names) <= _MOST_CASCADES:  # noqa: PLR2004  two, and others
        return
    calls = np.array([one.calls for one in seats.costs])
    pairs = list(combinations(everyone, 2))
    asked = [_differ(seats.scores, pair) for pair in pairs]
    scores = np.array(
        [
            np.where(further, mean_scores(seats.scores), seats.mean_of(pair))
            for pair, further in zip(pairs, asked, strict=True)
        ]
    )
    values = agreement.of(scores)
    for pair, further, line, value in zip(pairs, asked, scores, values, strict=True):
        later = [one for one in everyone if one not in pair]
        share = np.where(np.isin(everyone, later), further.mean(), 1.0)
        first, rest = ([seats.names[one] for one in part] for part in (pair, later))
        choice = Choice(
            name=f"{_AND.join(first)}; where they differ {_AND.join(rest)}",
            cost=float(share @ costs),
            agreement=float(value),
            calls=_share(share @ calls, calls.sum()),
            is_cascade=True,
        )
        yield choice, line


def _differ(scores: FloatArray, pair: tuple[int, int]) -> NDArray[np.bool_]:
    """Say where two seats give different scores, or one gives none."""
    one, other = scores[list(pair)]
    least = _NEAR * float(np.nanmax(scores) - np.nanmin(scores))
    far: NDArray[np.bool_] = np.abs(one - other) >= max(least, float(np.finfo(np.float64).tiny))
    found: NDArray[np.bool_] = np.isnan(one + other) | far
    return found


def _share(part: float, whole: float) -> float:
    return float(part / whole) if whole else np.nan


def _undominated(choices: Sequence[Choice]) -> list[int]:
    """Return the numbers of the choices that none beats, the cheapest first."""
    known = [
        number
        for number, one in enumerate(choices)
        if np.isfinite(one.cost) and np.isfinite(one.agreement)
    ]
    ordered = sorted(known, key=lambda number: (choices[number].cost, -choices[number].agreement))
    kept: list[int] = []
    for number in ordered:
        if not kept or choices[number].agreement > choices[kept[-1]].agreement:
            kept.append(number)
    return kept


def _bought(
    amount: float | None, points: Sequence[FrontierPoint], *, unit: Unit, texts: int
) -> Budget | None:
    if amount is None:
        return None
    paid = [one for one in points if one.choice.cost * texts <= amount]
    best = max(paid, key=lambda one: one.choice.agreement, default=None)
    return Budget(amount=amount, unit=unit, texts=texts, best=best)
