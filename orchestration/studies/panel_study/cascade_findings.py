"""Findings on cascades of a panel: what is kept for which share of its cost, on held-out texts."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from spanjury.judges.core import VERSION
from spanjury.orchestration.report.json import plain
from spanjury.orchestration.studies.panel_study.agreement import (
    Agreement,
    Estimate,
    Settings,
    source_folds,
)
from spanjury.orchestration.studies.panel_study.cascades import (
    SHARES,
    CascadeOutcome,
    FittedStage,
    StagedTexts,
    fit_cascade,
    judge_held_out,
)
from spanjury.orchestration.studies.panel_study.costs import SeatPrices
from spanjury.orchestration.studies.panel_study.seats import IntArray, PanelSeats, mean_scores
from spanjury.stats.arrays import FloatArray

_FEW_TEXTS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Texts on which agreement with people is measured: all, or those of one group."""

    name: str
    texts: int
    whole: Estimate
    paid: Estimate
    """Of the mean of the seats behind the first stage alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Agreement of a cascade with people on one part.

    Parameters
    ----------
    cost
        Share of the whole panel's cost.
    gain
        Over the whole panel.
    of_whole, of_paid
        Share of the agreement of the whole panel, and of the seats behind the first stage; NaN
        where these do not agree with people.
    """

    part: str
    cost: float
    agreement: float
    gain: Estimate
    of_whole: float
    of_paid: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadePoint:
    """A cascade that was fitted to a share of the cost, on texts that it was not fitted to.

    Parameters
    ----------
    share, cost
        Aimed at, and taken.
    asked
        The share of the texts on which each stage was asked.
    apart
        The mean distance from the whole panel's score, as a share of the scale.
    kept
        By part; empty without people's scores.
    """

    share: float
    cost: float
    asked: tuple[float, ...]
    apart: float
    kept: tuple[Kept, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeFindings:
    """Cascades of one panel on one aspect, and the one that is kept."""

    aspect: str
    stages: tuple[tuple[str, ...], ...]
    unit: str
    texts: int
    people: str
    settings: Settings
    parts: tuple[Part, ...]
    points: tuple[CascadePoint, ...]
    chosen: CascadePoint
    fitted: tuple[FittedStage, ...]
    prices: SeatPrices
    notes: tuple[str, ...]


def cascade_findings(
    texts: StagedTexts,
    seats: PanelSeats,
    *,
    share: float,
    unit: str,
    people: str,
    settings: Settings,
    notes: Sequence[str] = (),
) -> CascadeFindings:
    """Fit cascades to each share, fold by fold, and the one of `share` to all texts.

    Parameters
    ----------
    seats
        The same texts with people's scores, NaN where there are none.
    people
        Where these scores are from; empty without any.
    """
    folds = source_folds(seats, settings)
    shares = sorted({*SHARES, share})
    ended = judge_held_out(texts, folds, shares=shares)
    parts = _Parts(texts, seats, settings) if people else None
    points = tuple(
        _point(texts, outcome, share=aimed, parts=parts)
        for outcome, aimed in zip(ended, shares, strict=True)
    )
    return CascadeFindings(
        aspect=seats.aspect,
        stages=tuple(tuple(seats.names[seat] for seat in stage) for stage in texts.stages),
        unit=unit,
        texts=seats.texts,
        people=people,
        settings=settings,
        parts=parts.parts if parts else (),
        points=points,
        chosen=points[shares.index(share)],
        fitted=fit_cascade(texts, share=share),
        prices=SeatPrices.of(seats.names, seats.costs),
        notes=(*notes, *_notes(texts, seats, unit=unit)),
    )


def _notes(texts: StagedTexts, seats: PanelSeats, *, unit: str) -> Iterator[str]:
    if seats.texts < _FEW_TEXTS:
        yield f"{seats.texts} texts are few: another sample may fit another cascade"
    first = float(texts.costs[0] / texts.costs.sum())
    if first > SHARES[0]:
        yield f"the first stage takes {first:.0%} of the {unit} by itself: no cascade takes less"


class _Parts:
    """All texts, and those of each group, each with people's scores."""

    def __init__(self, texts: StagedTexts, seats: PanelSeats, settings: Settings) -> None:
        self._whole = texts.whole
        behind = [seat for stage in texts.stages[1:] for seat in stage]
        self._paid = mean_scores(texts.fractions[behind])
        self._of = list(_parts(seats, settings))
        self.parts = tuple(
            self._described(name, here, agreement) for name, here, agreement in self._of
        )

    def kept(self, fractions: FloatArray, costs: FloatArray, most: float) -> Iterator[Kept]:
        """Yield what a cascade keeps on each part."""
        for part, (name, here, agreement) in zip(self.parts, self._of, strict=True):
            own = fractions[here][np.newaxis]
            value = float(agreement.of(own)[0])
            (gain,) = agreement.gains(own, base=self._whole[here])
            yield Kept(
                part=name,
                cost=float(costs[here].mean() / most),
                agreement=value,
                gain=gain,
                of_whole=_share(value, part.whole),
                of_paid=_share(value, part.paid),
            )

    def _described(self, name: str, here: IntArray, agreement: Agreement) -> Part:
        both = np.array([self._whole[here], self._paid[here]])
        whole, paid = agreement.estimates(both)
        return Part(name=name, texts=here.size, whole=whole, paid=paid)


def _share(agreement: float, of: Estimate) -> float:
    return agreement / of.value if of.value > 0 else math.nan


def _parts(seats: PanelSeats, settings: Settings) -> Iterator[tuple[str, IntArray, Agreement]]:
    everything = np.flatnonzero(~np.isnan(seats.human))
    yield "all", everything, Agreement(_alone(seats, everything), settings)
    if len(seats.group_names) > 1:
        for number, name in enumerate(seats.group_names):
            here = everything[seats.groups[everything] == number]
            yield name, here, Agreement(_alone(seats, here), settings)


def _alone(seats: PanelSeats, here: IntArray) -> PanelSeats:
    """Return some texts as one group."""
    groups = np.zeros(here.size, dtype=np.intp)
    return replace(seats.of_texts(here), groups=groups, group_names=("",))


def _point(
    texts: StagedTexts, ended: CascadeOutcome, *, share: float, parts: _Parts | None
) -> CascadePoint:
    most = float(texts.costs.sum())
    kept = parts.kept(ended.fractions, ended.costs, most) if parts else ()
    return CascadePoint(
        share=share,
        cost=float(ended.costs.mean() / most),
        asked=tuple(float((ended.stages >= k).mean()) for k in range(len(texts.stages))),
        apart=float(np.abs(ended.fractions - texts.whole).mean()),
        kept=tuple(kept),
    )


def cascade_json(findings: CascadeFindings) -> Mapping[str, object]:
    """Return all findings as values for JSON."""
    return {"format": 1, "spanjury": VERSION, "cascade": plain(findings)}
