"""The scores of an exam on one aspect: their cut-offs, and what they tell as bootstrap effects."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spanjury.stats.arrays import FloatArray
from spanjury.stats.flagging import auroc_of_drops, cutoff, flagged, most_by_chance
from spanjury.stats.weighted import Weighted, mean_drop

STRICT, USUAL = 0.05, 0.1
"""The rates of false alarms."""


def fewest_texts(rate: float) -> int:
    """Return the number of clean texts below which a rate of false alarms cannot be stated."""
    return math.ceil(1 / rate - 1e-9)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AspectScores:
    """Scores on one aspect, NaN where missing.

    Parameters
    ----------
    clean, changed
        Shape ``(texts,)``, and ``(conditions, texts)``.
    pooled
        Shape ``(conditions,)``: whether a flag is a false alarm.
    spared
        Likewise: whether the score should stay.
    """

    clean: FloatArray
    changed: FloatArray
    pooled: NDArray[np.bool_]
    spared: NDArray[np.bool_]

    @property
    def pool(self) -> FloatArray:
        """The scores of all that is not worse, ``(variants, texts)``."""
        return np.concatenate([self.clean[np.newaxis], self.changed[self.pooled]])

    def can_state(self, rate: float) -> bool:
        """Return whether the clean texts are enough to state a rate of false alarms."""
        return int(np.count_nonzero(~np.isnan(self.clean))) >= fewest_texts(rate)

    @property
    def harmless_drop(self) -> float:
        """The largest mean drop after a harmless change; 0 where none has scores."""
        drops = self.clean - self.changed[self.pooled]
        means = [float(np.nanmean(drop)) for drop in drops if not np.isnan(drop).all()]
        return max(means, default=0.0)

    def cutoff(self, rate: float) -> float:
        """Return the cut-off; NaN where the rate cannot be stated."""
        return cutoff(self.pool.ravel(), rate=rate) if self.can_state(rate) else math.nan

    def cutoff_of_clean(self) -> float:
        """Return the cut-off of the clean texts alone at the usual rate, likewise."""
        return cutoff(self.clean, rate=USUAL) if self.can_state(USUAL) else math.nan

    def most_by_chance(self, texts: int) -> int:
        """Return how many of `texts` lie below that cut-off by chance; all without one."""
        clean = int(np.count_nonzero(~np.isnan(self.clean)))
        return most_by_chance(texts, clean=clean, rate=USUAL) if clean else texts

    def effect(self) -> Weighted:
        """Return all figures as one effect, shape ``(draws, figures, conditions)``."""
        clean = self.clean[np.newaxis]
        beside_pool = auroc_of_drops(self.pool, self.changed)
        beside_clean = auroc_of_drops(clean, self.changed)
        return stacked(
            [
                flagged(self.pool, self.changed, rate=STRICT),
                flagged(self.pool, self.changed, rate=USUAL),
                flagged(clean, self.changed, rate=USUAL),
                lambda counts: np.where(self.spared, beside_clean(counts), beside_pool(counts)),
                mean_drop(self.clean - self.changed),
            ]
        )


def stacked(effects: Sequence[Callable[[FloatArray], FloatArray]]) -> Weighted:
    """Join effects of one shape along a new axis behind the draws."""
    return lambda counts: np.stack([effect(counts) for effect in effects], axis=1)


def in_blocks(effect: Weighted, *, rows: int) -> Weighted:
    """Work an effect out for so many draws at a time: what stays in the processor is faster."""

    def weighted(counts: FloatArray) -> FloatArray:
        parts = [counts[start : start + rows] for start in range(0, len(counts), rows)]
        return np.concatenate([effect(part) for part in parts])

    return weighted
