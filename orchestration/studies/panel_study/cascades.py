"""Cascades fitted to a panel's own reports, and findings on what they keep on held-out texts.

After each stage a map predicts the score of the other seats. The next stage is asked if the
predicted score is far enough from the whole panel's to be worth the price: the lowest at which the
texts of the fit use no more than the target share of the cost. People's scores only measure it.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanjury.judges.core import VERSION
from spanjury.orchestration.report.json import plain
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
from spanjury.stats import decreasing_fit
from spanjury.stats.arrays import FloatArray
from spanjury.stats.correlations.grouping import Level
from spanjury.stats.resampling import Estimate

SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""Shares of the whole panel's cost that cascades are fitted to."""
FEWEST_FITTED = 20
"""Texts that all seats judged from which on a cascade is fitted."""
_PRICES = tuple(np.geomspace(1e-4, 1.0, 61))
"""Squared errors of a score's place on its scale that all calls together may be worth."""
_BOUNDS = 40
"""Quantiles of the estimates between which a stage may be unsure."""
_STEPS = 10_000
"""Steps from 0 to 1 to which the ends of an interval are rounded."""
_FEW_TEXTS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedTexts:
    """Reports of all seats on some texts, stage by stage.

    `estimates`, `fractions`: shape ``(seats, texts)``: how good each report says the text is, and
    its score as a fraction of the scale, both 0 to 1; NaN where a seat gave no score.
    """

    stages: tuple[tuple[int, ...], ...]
    """Numbers of the seats of each stage."""
    estimates: FloatArray
    fractions: FloatArray
    failed: NDArray[np.bool_]
    """Shape ``(seats, texts)``: where a seat should have given a score, and did not."""
    costs: FloatArray
    """Shape ``(stages,)``: the cost of each for one text."""

    @property
    def whole(self) -> FloatArray:
        """The whole panel's score as a fraction of the scale, shape ``(texts,)``."""
        return mean_scores(self.fractions[[*chain(*self.stages)]])

    def after(self, number: int) -> FloatArray:
        """Return the estimates after the stage of that number, shape ``(texts,)``.

        It is NaN where further seats are asked whatever was said: where no seat gave a score, or
        one failed.
        """
        asked = self._asked(number)
        estimates = mean_scores(self.estimates[asked])
        return np.where(self.failed[asked].any(axis=0), np.nan, estimates)

    def rest(self, number: int) -> FloatArray:
        """Return the mean fraction of the scores of the stages behind that one."""
        return mean_scores(self.fractions[[*chain(*self.stages[number + 1 :])]])

    def expected(self, number: int, rest: FloatArray) -> FloatArray:
        """Return the whole panel's score if each seat that is left gives `rest`."""
        given = self.fractions[self._asked(number)]
        left = sum(map(len, self.stages[number + 1 :]))
        scored = ~np.isnan(given)
        total = np.where(scored, given, 0.0).sum(axis=0)
        expected: FloatArray = (total + left * rest) / (scored.sum(axis=0) + left)
        return expected

    def of(self, texts: IntArray) -> "StagedTexts":
        """Return those `texts` alone."""
        return replace(
            self,
            estimates=self.estimates[:, texts],
            fractions=self.fractions[:, texts],
            failed=self.failed[:, texts],
        )

    def _asked(self, number: int) -> list[int]:
        return [*chain(*self.stages[: number + 1])]


class FittedStage(NamedTuple):
    """The score of the other seats by the estimate of a stage, and where that is not enough."""

    estimates: tuple[float, ...]
    scores: tuple[float, ...]
    unsure: tuple[float, float]
    """Both ends included."""


class CascadeOutcome(NamedTuple):
    """The end of texts that were judged by a cascade."""

    fractions: FloatArray
    """Shape ``(texts,)``: the score as a fraction of the scale."""
    costs: FloatArray
    """Shape ``(texts,)``."""
    stages: IntArray
    """Shape ``(texts,)``: the number of the last stage that was asked."""


def staged(seats: PanelSeats, stages: tuple[tuple[int, ...], ...], *, unit: Unit) -> StagedTexts:
    """Return the texts that `seats` judged, to be judged stage by stage."""
    costs = np.array([cost.counted_in(unit) for cost in seats.costs])
    return StagedTexts(
        stages=stages,
        estimates=seats.estimates,
        fractions=seats.fractions,
        failed=seats.failed,
        costs=np.array([costs[list(stage)].sum() for stage in stages]),
    )


def fit_cascade(texts: StagedTexts, *, share: float) -> tuple[FittedStage, ...]:
    """Fit all stages but the last to `texts`, so that they take at most `share` of the cost.

    The first stage is always asked, so they may take more if it does.
    """
    return fit_cascades(texts, shares=[share])[0]


def fit_cascades(texts: StagedTexts, *, shares: Sequence[float]) -> list[tuple[FittedStage, ...]]:
    """Fit one cascade for each share of the cost, as `fit_cascade` does."""
    maps = [_score_map(texts.after(k), texts.rest(k)) for k in range(len(texts.stages) - 1)]
    total = texts.costs.sum()
    by_share: dict[float, tuple[FittedStage, ...]] = {}
    fitted: tuple[FittedStage, ...] = ()
    for price in _PRICES:
        fitted = _fitted_at(texts, maps, price=float(price))
        taken = judge(texts, fitted).costs.mean()
        for share in shares:
            if taken <= share * total:
                by_share.setdefault(share, fitted)
        if len(by_share) == len({*shares}):
            break
    return [by_share.get(share, fitted) for share in shares]


def judge(texts: StagedTexts, fitted: Sequence[FittedStage]) -> CascadeOutcome:
    """Judge `texts` as an open panel with these stages does."""
    whole = texts.whole
    fractions, costs = whole.copy(), np.zeros(whole.size)
    stages = np.full(whole.size, len(texts.stages) - 1, dtype=np.intp)
    waiting = np.ones(whole.size, dtype=bool)
    for number, stage in enumerate(fitted):
        costs[waiting] += texts.costs[number]
        estimates = texts.after(number)
        ends = waiting & ~_is_unsure(estimates, stage.unsure)
        expected = texts.expected(number, np.interp(estimates, stage.estimates, stage.scores))
        fractions[ends], stages[ends] = expected[ends], number
        waiting &= ~ends
    costs[waiting] += texts.costs[-1]
    return CascadeOutcome(fractions, costs, stages)


def judge_held_out(
    texts: StagedTexts, folds: IntArray, *, shares: Sequence[float]
) -> list[CascadeOutcome]:
    """Judge the texts of each fold by cascades that were fitted to the others, one a share."""
    size = folds.size
    ended = [
        CascadeOutcome(np.empty(size), np.empty(size), np.empty(size, dtype=np.intp))
        for _ in shares
    ]
    for fit, held in splits(folds):
        kept = texts.of(held)
        for outcome, fitted in zip(ended, fit_cascades(texts.of(fit), shares=shares), strict=True):
            outcome.fractions[held], outcome.costs[held], outcome.stages[held] = judge(kept, fitted)
    return ended


def _score_map(estimates: FloatArray, rest: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Fit the score by the estimate: never falling, and rising from block to block on a line.

    A knot is the mean estimate of a block that is pooled, so that few texts tie.
    """
    scored = ~np.isnan(estimates + rest)
    if not scored.any():
        return np.array([0.5]), np.array([0.5])  # never used: the stage is never sure
    fit = decreasing_fit(-estimates[scored], rest[scored])
    knots, values = -fit.knots[::-1], fit.values[::-1]
    nearest = np.searchsorted(knots, estimates[scored])
    weights = np.bincount(nearest, minlength=knots.size)
    scores, blocks = np.unique(values.round(12), return_inverse=True)
    sizes = np.bincount(blocks, weights=weights)
    return np.bincount(blocks, weights=weights * knots) / sizes, scores


def _fitted_at(
    texts: StagedTexts, maps: Sequence[tuple[FloatArray, FloatArray]], *, price: float
) -> tuple[FittedStage, ...]:
    """Fit each stage from the last to the first, knowing what asking on leads to."""
    costs = price * texts.costs / texts.costs.sum()
    whole = texts.whole
    later = np.zeros(whole.size)
    fitted: list[FittedStage] = []
    for number in reversed(range(len(maps))):
        knots, scores = maps[number]
        estimates = texts.after(number)
        asking = costs[number + 1] + later
        expected = texts.expected(number, np.interp(estimates, knots, scores))
        ending = np.square(expected - whole)
        unsure = _unsure_between(estimates, asking - ending)
        fitted.append(FittedStage(tuple(knots.tolist()), tuple(scores.tolist()), unsure))
        later = np.where(_is_unsure(estimates, unsure), asking, ending)
    return tuple(reversed(fitted))


def _unsure_between(estimates: FloatArray, losses: FloatArray) -> tuple[float, float]:
    """Return the interval in which asking on gains most; one without a text if it never gains."""
    scored = ~np.isnan(estimates + losses)
    if not scored.any():
        return 0.0, 1.0
    order = np.argsort(estimates[scored])
    ordered = estimates[scored][order]
    sums = np.concatenate([[0.0], np.cumsum(losses[scored][order])])
    bounds = np.unique(np.quantile(ordered, np.linspace(0.0, 1.0, _BOUNDS + 1), method="nearest"))
    below = sums[np.searchsorted(ordered, bounds, side="left")]
    upto = sums[np.searchsorted(ordered, bounds, side="right")]
    total = np.where(np.tri(bounds.size, dtype=bool).T, upto[np.newaxis] - below[:, None], np.inf)
    low, high = np.unravel_index(total.argmin(), total.shape)
    if total[low, high] >= 0.0:
        return _empty_among(np.unique(ordered))
    # Outwards, so that the last bit of a mean does not decide on which side a text is.
    outer = np.floor(bounds[low] * _STEPS) / _STEPS, np.ceil(bounds[high] * _STEPS) / _STEPS
    return float(outer[0]), float(outer[1])


def _empty_among(ordered: FloatArray) -> tuple[float, float]:
    """Return a point as far as may be from all numbers, 0 to 1."""
    ends = np.concatenate([[-ordered[0]], ordered, [2.0 - ordered[-1]]])  # mirrored at 0 and 1
    widest = int(np.diff(ends).argmax())
    point = float((ends[widest] + ends[widest + 1]) / 2)
    return point, point


def _is_unsure(estimates: FloatArray, unsure: tuple[float, float]) -> NDArray[np.bool_]:
    """Say where a stage does not suffice; without any score it never does."""
    return np.isnan(estimates) | ((estimates >= unsure[0]) & (estimates <= unsure[1]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Texts on which agreement with people is measured: all, or those of one group."""

    name: str
    texts: int
    level: Level
    """Over what the correlation is taken."""
    whole: Estimate
    paid: Estimate
    """Agreement of the mean of the seats behind the first stage alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Agreement of a cascade with people on one part.

    `of_whole`, `of_paid`: share of the agreement of the whole panel, and of the seats behind the
    first stage; NaN where these do not agree with people.
    """

    part: str
    cost: float
    """Share of the whole panel's cost."""
    agreement: float
    gain: Estimate
    """Over the whole panel."""
    of_whole: float
    of_paid: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadePoint:
    """A cascade that was fitted to a share of the cost, on texts that it was not fitted to.

    `share`, `cost`: aimed at, and taken.
    """

    share: float
    cost: float
    asked: tuple[float, ...]
    """The share of the texts on which each stage was asked."""
    apart: float
    """The mean distance from the whole panel's score, as a share of the scale."""
    kept: tuple[Kept, ...]
    """By part; empty without people's scores."""


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

    `seats`: the same texts with people's scores, NaN if missing.
    `people`: where these scores are from; empty without any.
    """
    folds = source_folds(seats, settings)
    shares = sorted({*SHARES, share})
    ended = judge_held_out(texts, folds, shares=shares)
    parts = list(_parts(texts, seats, settings)) if people else []
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
        parts=tuple(each.part for each in parts),
        points=points,
        chosen=points[shares.index(share)],
        fitted=fit_cascade(texts, share=share),
        prices=SeatPrices.of(seats.names, seats.costs),
        notes=(*notes, *_notes(texts, seats, unit=unit)),
    )


def _notes(texts: StagedTexts, seats: PanelSeats, *, unit: str) -> Iterator[str]:
    if seats.texts < _FEW_TEXTS:
        yield f"{seats.texts} texts are few: another sample may lead to a different cascade"
    first = float(texts.costs[0] / texts.costs.sum())
    if first > SHARES[0]:
        yield f"the first stage alone uses {first:.0%} of the {unit}, so no cascade uses less"


class _Measured(NamedTuple):
    """A part, the numbers of its texts, and the agreement with people on them."""

    part: Part
    here: IntArray
    agreement: Agreement


def _parts(texts: StagedTexts, seats: PanelSeats, settings: Settings) -> Iterator[_Measured]:
    """Yield all texts that people scored, then those of each group where there are several."""
    everything = np.flatnonzero(~np.isnan(seats.human))
    parts = [("all", everything)]
    if len(seats.group_names) > 1:
        numbers = seats.groups[everything]
        parts += [(name, everything[numbers == n]) for n, name in enumerate(seats.group_names)]
    whole_and_paid = np.array([texts.whole, texts.rest(0)])
    for name, here in parts:
        one_group = np.zeros(here.size, dtype=np.intp)
        own = replace(seats.of_texts(here), groups=one_group, group_names=("",))
        agreement = Agreement(own, settings)
        whole, paid = agreement.estimates(whole_and_paid[:, here])
        part = Part(name=name, texts=here.size, level=agreement.level, whole=whole, paid=paid)
        yield _Measured(part, here, agreement)


def _kept(on: _Measured, texts: StagedTexts, ended: CascadeOutcome) -> Kept:
    own = ended.fractions[on.here][np.newaxis]
    value = float(on.agreement.of(own)[0])
    (gain,) = on.agreement.gains(own, base=texts.whole[on.here])
    of_whole, of_paid = (
        value / base.value if base.value > 0 else math.nan for base in (on.part.whole, on.part.paid)
    )
    return Kept(
        part=on.part.name,
        cost=float(ended.costs[on.here].mean() / texts.costs.sum()),
        agreement=value,
        gain=gain,
        of_whole=of_whole,
        of_paid=of_paid,
    )


def _point(
    texts: StagedTexts, ended: CascadeOutcome, *, share: float, parts: Sequence[_Measured]
) -> CascadePoint:
    return CascadePoint(
        share=share,
        cost=float(ended.costs.mean() / texts.costs.sum()),
        asked=tuple(float((ended.stages >= k).mean()) for k in range(len(texts.stages))),
        apart=float(np.abs(ended.fractions - texts.whole).mean()),
        kept=tuple(_kept(part, texts, ended) for part in parts),
    )


def cascade_json(findings: CascadeFindings) -> Mapping[str, object]:
    """Return all findings as values for JSON."""
    return {"format": 1, "spanjury": VERSION, "cascade": plain(findings)}
