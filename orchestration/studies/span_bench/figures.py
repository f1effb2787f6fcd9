"""Figures of a bench: how each is made of the arrays of one judge, and its interval by source."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

import numpy as np

from spanjury.orchestration.studies.agreement.spans.estimates import (
    Effects,
    Estimate,
    Settings,
    by_owner,
    estimates,
)
from spanjury.orchestration.studies.span_bench.arrays import Arrays
from spanjury.stats.arrays import FloatArray
from spanjury.stats.calibration_error import calibration_error_effect, error_by_chance
from spanjury.stats.correlations.correlation import correlation
from spanjury.stats.roc import auroc_effect, caught_effect
from spanjury.stats.spans.span_agreement import micro_effect
from spanjury.stats.weighted import Weighted, mean_drop, of_items, on_sample, ratio

Cut = Literal["faulty", "not ok"]
"""The decisions that count as "has an error": *faulty* alone, or whatever is not *ok*."""
FALSE_ALARMS = 0.15
"""The largest share of texts without errors that may be above the threshold of `score.caught`."""

FIGURES: Mapping[str, str] = MappingProxyType(
    {
        "decision.balanced_accuracy": "mean of the shares of texts with and without errors decided "
        "rightly, at the better of the two cuts: faulty, or not ok",
        "decision.decided": "share of the texts that are ok or faulty",
        "decision.vouched_misses": "share of the texts with errors that are ok",
        "decision.of_decided": "the same as decision.balanced_accuracy on decided texts alone",
        "score.auroc": "how often a text with an error has the worse score of two; ties half",
        "probability.auroc": "the same as score.auroc for the estimated probability of an error",
        "probability.ece": "mean distance of P(error) from the share of texts with errors, in ten "
        "bins of as many texts",
        "probability.balanced_ece": "the same where texts with errors weigh as much in all as those"
        " without",
        "probability.ece_by_chance": "what probability.ece would be if every P(error) were right",
        "characters.precision": "share of the marked characters that people mark too",
        "characters.recall": "share of the characters marked by people that are marked",
        "characters.f1": "harmonic mean of these two",
        "words.precision": "share of the marked words that people mark too",
        "words.recall": "share of the words marked by people that are marked",
        "words.f1": "harmonic mean of these two",
        "places.hit": "share of the places marked by people that a span touches",
        "places.by_chance": "the same if each place lay anywhere in its text",
        "spans.right": "share of the spans that touch a place marked by people",
        "flagged.error_free": "share of the texts without errors in which one is reported",
        "flagged.faulty": "share of the texts with errors in which one is reported",
        "score.caught": "share of the texts with errors below the best threshold of the score "
        f"with at most {FALSE_ALARMS:.0%} false alarms; optimistic",
        "unsure.caught": "share of the texts with errors that are unsure or faulty",
        "unsure.false_alarms": "share of the texts without errors that are unsure or faulty",
        "unsure.balanced_accuracy": "mean of the shares of either sort decided rightly",
        "faulty.caught": "share of the texts with errors that are faulty",
        "faulty.false_alarms": "share of the texts without errors that are faulty",
        "faulty.balanced_accuracy": "mean of the shares of either sort decided rightly",
        "people.spearman": "rank correlation of the score with people's",
    }
)
"""Name -> meaning."""

_CUTS: tuple[Cut, ...] = ("faulty", "not ok")
_DECIDED = ("caught", "false_alarms", "balanced_accuracy")
SHORT_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "balanced_accuracy": "decision.balanced_accuracy",
        "decided": "decision.decided",
        "vouched_misses": "decision.vouched_misses",
        "false_alarms": "faulty.false_alarms",
        "auroc": "score.auroc",
        "auroc_probability": "probability.auroc",
        "ece": "probability.ece",
        "balanced_ece": "probability.balanced_ece",
        "f1": "characters.f1",
    }
)
"""Name of a figure, as a requirement may have it -> its whole name."""
_DRAWN = 2
"""Sources below which there is nothing to draw from, and no interval."""


def effects_of(arrays: Arrays) -> Effects:
    """Return every figure of one judge, as a function of how often each text counts."""
    hits, by_chance, marked = arrays.hits.T
    right, spans = arrays.spans.T
    flagged = _rates(arrays.flagged, arrays.faulty)
    faulty, probability = arrays.faulty, arrays.probability
    decided = _numbers_of_decided(arrays)
    return {
        _named("decision", "balanced_accuracy"): balanced_accuracy(arrays, cut_of(arrays)),
        _named("decision", "decided"): mean_drop(decided),
        _named("decision", "vouched_misses"): mean_drop(
            np.where(faulty == 1, 1 - arrays.unsure, np.nan)
        ),
        _named("decision", "of_decided"): _accuracy(
            np.where(decided == 1, arrays.decided, np.nan), faulty
        ),
        _named("probability", "ece"): calibration_error_effect(probability, faulty),
        _named("probability", "balanced_ece"): calibration_error_effect(
            probability, faulty, balanced=True
        ),
        _named("probability", "ece_by_chance"): error_by_chance(probability, faulty),
        _named("characters", "precision", "recall", "f1"): micro_effect(arrays.characters),
        _named("words", "precision", "recall", "f1"): micro_effect(arrays.words),
        _named("places", "hit", "by_chance"): ratio(np.stack([hits, by_chance]), marked),
        _named("spans", "right"): ratio(right, spans),
        _named("flagged", "faulty", "error_free"): flagged,
        _named("score", "auroc"): auroc_effect(arrays.suspicion, arrays.faulty),
        _named("score", "caught"): caught_effect(
            arrays.suspicion, arrays.faulty, false_alarms=FALSE_ALARMS
        ),
        _named("probability", "auroc"): auroc_effect(arrays.probability, arrays.faulty),
        _named("unsure", *_DECIDED): _decisions(arrays.unsure, arrays.faulty),
        _named("faulty", *_DECIDED): _decisions(arrays.decided, arrays.faulty),
        _named("people", "spearman"): _spearman(arrays),
    }


def _named(topic: str, *figures: str) -> tuple[str, ...]:
    return tuple(f"{topic}.{figure}" for figure in figures)


def _spearman(arrays: Arrays) -> Weighted:
    """Return the rank correlation of the score with people's; it is slow, so not of nothing."""
    both = np.stack([-arrays.suspicion, arrays.human])
    if np.isnan(both).any(axis=0).all():
        return lambda counts: np.full(len(counts), np.nan)
    return of_items(both, lambda drawn: correlation(*drawn).value)


def cut_of(arrays: Arrays) -> Cut:
    """Return the cut with the greater balanced accuracy on these texts; *faulty* if none has."""
    texts = len(arrays.sources)
    shares = {cut: float(on_sample(balanced_accuracy(arrays, cut), items=texts)) for cut in _CUTS}
    return "not ok" if shares["not ok"] > shares["faulty"] else "faulty"


def balanced_accuracy(arrays: Arrays, cut: Cut) -> Weighted:
    """Return the balanced accuracy of the decision at a cut."""
    return _accuracy(arrays.decided if cut == "faulty" else arrays.unsure, arrays.faulty)


def _numbers_of_decided(arrays: Arrays) -> FloatArray:
    """Return 1 for a text that is *ok* or *faulty*, 0 for one between."""
    return 1 - arrays.unsure + arrays.decided


def _accuracy(flags: FloatArray, faulty: FloatArray) -> Weighted:
    """Return the balanced accuracy of flags."""
    decisions = _decisions(flags, faulty)
    return lambda counts: decisions(counts)[:, 2]


def _rates(flags: FloatArray, faulty: FloatArray) -> Weighted:
    """Return the shares that are flagged of texts with errors, and of those without."""
    return mean_drop(np.stack([np.where(faulty == sort, flags, np.nan) for sort in (1, 0)]))


def _decisions(flags: FloatArray, faulty: FloatArray) -> Weighted:
    """Return catch rate, false-alarm rate and balanced accuracy."""
    rates = _rates(flags, faulty)

    def weighted(counts: FloatArray) -> FloatArray:
        caught, false_alarms = rates(counts).T
        return np.stack([caught, false_alarms, (caught + 1 - false_alarms) / 2], axis=1)

    return weighted


def estimated(effects: Effects, arrays: Arrays, *, settings: Settings) -> dict[str, Estimate]:
    """Estimate figures by a bootstrap of sources, each drawn with all its texts."""
    sources = int(arrays.sources.max(initial=-1)) + 1
    drawn = {names: by_owner(effect, arrays.sources) for names, effect in effects.items()}
    figures = estimates(drawn, texts=sources, settings=settings)
    few = sources < _DRAWN
    return {
        name: _bare(estimate) if few or estimate.low == estimate.high else estimate
        for name, estimate in figures.items()
    }


def _bare(estimate: Estimate) -> Estimate:
    """Drop an interval without width: draws that are all alike say nothing of other texts."""
    return Estimate(value=estimate.value, low=np.nan, high=np.nan)
