"""Weights of seats: with people or without them, always beside the plain mean."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from scipy.optimize import nnls

from spanjury.orchestration.studies.panel_study.agreement import (
    Agreement,
    Estimate,
    source_folds,
    splits,
)
from spanjury.orchestration.studies.panel_study.seats import IntArray, PanelSeats, mean_scores
from spanjury.stats.arrays import FloatArray, safe_divide
from spanjury.stats.raters.graded import ordinal_scores
from spanjury.stats.raters.latent import dawid_skene

_MOST_LABELS = 10
"""Different scores from which on they are cut into `_BINS` labels."""
_BINS = 5
_LEAST_TEXTS = 10
"""Texts to fit weights to, at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighing:
    """A way to make one score of the seats', beside the plain mean.

    Parameters
    ----------
    uses_people
        Whether weights are fitted to people's scores, on all folds but the one that is scored.
    gain
        By how much it agrees more with people than the plain mean.
    weights
        Weights of the seats, fitted to all texts; empty if none are given.
    """

    name: str
    uses_people: bool
    agreement: Estimate
    gain: Estimate
    weights: Mapping[str, float]

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
        stacked = _held_out(agreement)
        given.append(("stacking", True, stacked, _stacked(agreement, whole)))
    scores = np.array([row[2] for row in given])
    estimates = agreement.estimates(scores)
    gains = agreement.gains(scores, base=plain)
    return tuple(
        Weighing(
            name=name,
            uses_people=uses_people,
            agreement=estimate,
            gain=gain,
            weights=_named(seats, weights),
        )
        for (name, uses_people, _, weights), estimate, gain in zip(
            given, estimates, gains, strict=True
        )
    )


def _named(seats: PanelSeats, weights: FloatArray | None) -> Mapping[str, float]:
    if weights is None:
        return MappingProxyType({})
    return MappingProxyType(dict(zip(seats.names, weights.tolist(), strict=True)))


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
    centred = np.concatenate(list(_centred(rows, agreement.blocks[training][usable])), axis=1)
    even = np.full(len(seats.names), 1 / len(seats.names))
    if centred.shape[1] <= len(seats.names):
        return even
    weights, _ = nnls(centred[:-1].T, centred[-1])
    total = weights.sum()
    return weights / total if total > 0 else even


def _centred(rows: FloatArray, blocks: IntArray) -> Iterator[FloatArray]:
    for block in np.unique(blocks):
        here = rows[:, blocks == block]
        yield here - here.mean(axis=1, keepdims=True)
