"""Subsets of a panel's seats: agreement with people, what each seat adds, and choosing the best."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from types import MappingProxyType

import numpy as np
from scipy.optimize import nnls

from spanjury.orchestration.studies.panel_study.seats import (
    Agreement,
    IntArray,
    mean_scores,
    source_folds,
    splits,
)
from spanjury.stats.arrays import FloatArray, safe_divide
from spanjury.stats.raters.graded import ordinal_scores
from spanjury.stats.raters.latent import dawid_skene
from spanjury.stats.resampling import Estimate, Resampled
from spanjury.stats.shapley import shapley_values

CHOICE_DRAWS = 200
"""Samples in which the best is chosen again, at the most."""
MOST_SEATS = 8
"""The most seats whose every subset is studied; more seats are added one by one."""


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
    """Numbers of seats, ascending."""
    seats: tuple[str, ...]
    agreement: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeFinding:
    """Agreement of panels of one size."""

    size: int
    panels: int
    """Number of panels that were compared."""
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
    """Look at the subsets of a panel's seats."""
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
    gains = _gains(agreement)
    shares = np.full(len(everyone), np.nan)
    if is_complete:
        worths = np.zeros(2 ** len(everyone))
        for subset in subsets:
            worths[sum(1 << member for member in subset.members)] = subset.agreement
        shares = shapley_values(worths)
    for number in everyone:
        yield SeatShare(
            seat=seats.names[number],
            alone=alone[number],
            gain=gains[number],
            shapley=float(shares[number]),
            coverage=float((~np.isnan(seats.scores[number])).mean()),
        )


def _gains(agreement: Agreement) -> list[Estimate]:
    """Return by how much the whole panel agrees more than without each seat."""
    seats = agreement.seats
    everyone = tuple(range(len(seats.names)))
    if len(everyone) < 2:  # noqa: PLR2004  without it there is no panel
        return [Estimate() for _ in everyone]
    without = [seats.mean_of([seat for seat in everyone if seat != left]) for left in everyone]
    less = agreement.gains(np.array(without), base=seats.mean_of(everyone))
    return [Estimate(-each.value, -each.high, -each.low) for each in less]


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

    @property
    def is_better(self) -> bool:
        """True if it is shown to agree more than the plain mean."""
        return self.gain.low > 0


def weighings(agreement: Agreement) -> tuple[Weighing, ...]:
    """Compare weights of seats; empty for fewer than two seats."""
    seats = agreement.seats
    if len(seats.names) < 2:  # noqa: PLR2004  nothing to weigh
        return ()
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
    estimates = agreement.estimates(scores)
    gains = agreement.gains(scores, base=plain)
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
        for (name, uses_people, _, weights), estimate, gain in zip(
            given, estimates, gains, strict=True
        )
    )


def _where_scored(values: FloatArray, scores: FloatArray) -> FloatArray:
    return np.where(np.isnan(scores).all(axis=0), np.nan, values)


def _dawid_skene(scores: FloatArray) -> FloatArray:
    """Return the expected label of each text."""
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
