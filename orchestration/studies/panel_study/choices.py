"""Panels that could be had: subsets whose seats are always asked, and cascades of some of them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from spanjury.orchestration.studies.panel_study.agreement import Agreement, source_folds
from spanjury.orchestration.studies.panel_study.cascades import (
    FEWEST_FITTED,
    CascadeOutcome,
    StagedTexts,
    judge_held_out,
    staged,
)
from spanjury.orchestration.studies.panel_study.costs import Unit, usual_stages
from spanjury.orchestration.studies.panel_study.seats import PanelSeats
from spanjury.orchestration.studies.panel_study.subsets import Subset
from spanjury.stats.arrays import FloatArray

_SHARES = (0.2, 0.4, 0.6, 0.8)
"""Shares of the cost of its seats that a cascade is fitted to; more would differ by chance."""
_AND = " + "
_THEN = " > "


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A panel that could be had, and what it costs.

    Parameters
    ----------
    name
        Its seats; of a cascade, stage by stage, and the share of their cost.
    stages
        Names of its seats, stage by stage; of a panel that always asks all of them, one stage.
    share
        Of the cost of its seats that a cascade is fitted to take; None for no cascade.
    cost
        For one text.
    agreement
        Of a cascade, on texts of other sources than it was fitted to.
    calls
        Share of the calls that all seats would be asked.
    coverage
        Share of the texts that get a score.
    """

    name: str
    stages: tuple[tuple[str, ...], ...]
    share: float | None = None
    cost: float
    agreement: float
    calls: float
    coverage: float


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
        texts = _in_stages(seats, subset.members, unit=unit)
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


def _in_stages(seats: PanelSeats, members: Sequence[int], *, unit: Unit) -> StagedTexts:
    stages = usual_stages([seats.costs[member] for member in members], unit=unit)
    numbers = tuple(tuple(members[number] for number in stage) for stage in stages)
    return staged(seats, numbers, unit=unit)


def _asked(texts: StagedTexts, outcome: CascadeOutcome, *, seats: int) -> FloatArray:
    """Return the share of the texts on which each seat was asked."""
    shares = np.zeros(seats)
    for number, stage in enumerate(texts.stages):
        shares[list(stage)] = (outcome.stages >= number).mean()
    return shares


def _calls(seats: PanelSeats, asked: FloatArray) -> float:
    calls = np.array([cost.calls for cost in seats.costs])
    return float(asked @ calls / calls.sum()) if calls.any() else np.nan


def _coverage(scores: FloatArray) -> float:
    return float((~np.isnan(scores)).mean())
