"""Figures of a bench: how each is made of the arrays of one judge, and its interval by source."""

from collections.abc import Mapping
from types import MappingProxyType

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
from spanjury.stats.correlations.correlation import correlation
from spanjury.stats.roc import auroc_effect, caught_effect
from spanjury.stats.spans.span_agreement import micro_effect
from spanjury.stats.weighted import Weighted, mean_drop, of_items, ratio

FALSE_ALARMS = 0.15
"""The largest share of texts without errors that may be above the threshold of `score.caught`."""

FIGURES: Mapping[str, str] = MappingProxyType(
    {
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
        "score.auroc": "how often a text with an error has the worse score of two; ties half",
        "score.caught": "share of the texts with errors below the best threshold of the score "
        f"with at most {FALSE_ALARMS:.0%} false alarms; optimistic",
        "probability.auroc": "the same as score.auroc for the estimated probability of an error",
        "doubtful.caught": "share of the texts with errors that are doubtful or faulty",
        "doubtful.false_alarms": "share of the texts without errors that are doubtful or faulty",
        "doubtful.balanced_accuracy": "mean of the shares of either sort decided rightly",
        "faulty.caught": "share of the texts with errors that are faulty",
        "faulty.false_alarms": "share of the texts without errors that are faulty",
        "faulty.balanced_accuracy": "mean of the shares of either sort decided rightly",
        "people.spearman": "rank correlation of the score with people's",
    }
)
"""Name -> meaning."""

_DECIDED = ("caught", "false_alarms", "balanced_accuracy")
_DRAWN = 2
"""Sources below which there is nothing to draw from, and no interval."""


def effects_of(arrays: Arrays) -> Effects:
    """Return every figure of one judge, as a function of how often each text counts."""
    hits, by_chance, places = arrays.places.T
    right, spans = arrays.spans.T
    flagged = _rates(arrays.flagged, arrays.faulty)
    return {
        _named("characters", "precision", "recall", "f1"): micro_effect(arrays.characters),
        _named("words", "precision", "recall", "f1"): micro_effect(arrays.words),
        _named("places", "hit", "by_chance"): ratio(np.stack([hits, by_chance]), places),
        _named("spans", "right"): ratio(right, spans),
        _named("flagged", "faulty", "error_free"): flagged,
        _named("score", "auroc"): auroc_effect(arrays.suspicion, arrays.faulty),
        _named("score", "caught"): caught_effect(
            arrays.suspicion, arrays.faulty, false_alarms=FALSE_ALARMS
        ),
        _named("probability", "auroc"): auroc_effect(arrays.probability, arrays.faulty),
        _named("doubtful", *_DECIDED): _decisions(arrays.doubtful, arrays.faulty),
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
    found = estimates(drawn, texts=sources, settings=settings)
    few = sources < _DRAWN
    return {name: _bare(one) if few or one.low == one.high else one for name, one in found.items()}


def _bare(estimate: Estimate) -> Estimate:
    """Drop an interval without width: draws that are all alike say nothing of other texts."""
    return Estimate(value=estimate.value, low=np.nan, high=np.nan)
