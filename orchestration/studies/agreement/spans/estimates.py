"""Figures with their intervals, by a bootstrap of texts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spanjury.stats.resampling import bootstrap, percentile_interval
from spanjury.stats.weighted import Weighted, on_sample

Effects = Mapping[tuple[str, ...], Weighted]
"""Names of the figures that an effect gives -> the effect, of the shape ``(draws, names)``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of intervals and random annotations.

    Parameters
    ----------
    draws
        Number of bootstrap resamples; 0 for no intervals.
    confidence
        Coverage of the intervals, in ``(0, 1)``.
    samples
        Random annotations for gamma, 300 or more.
    """

    seed: int = 1
    draws: int = 1_000
    confidence: float = 0.95
    samples: int = 300


DEFAULTS = Settings()


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A figure and the bounds of its interval; NaN where undefined."""

    value: float
    low: float
    high: float


def by_owner(effect: Weighted, owner: NDArray[np.int64]) -> Weighted:
    """Return an effect of readings as one of texts: a text is drawn with all its readings."""
    return lambda counts: effect(counts[:, owner])


def estimates(effects: Effects, *, texts: int, settings: Settings) -> dict[str, Estimate]:
    """Resample texts, the same ones for every figure; every figure is NaN without a text."""
    estimated: dict[str, Estimate] = {}
    for names, effect in effects.items():
        if not texts:
            estimated |= dict.fromkeys(names, Estimate(value=np.nan, low=np.nan, high=np.nan))
            continue
        if not settings.draws:
            value = np.atleast_1d(on_sample(effect, items=texts))
            none = np.full_like(value, np.nan)
            estimated |= _named(names, (value, none, none))
            continue
        rng = np.random.default_rng(settings.seed)
        drawn = bootstrap(effect, items=texts, rng=rng, draws=settings.draws)
        low, high = percentile_interval(drawn, confidence=settings.confidence)
        estimated |= _named(names, (drawn.estimate, low, high))
    return estimated


def _named(names: Sequence[str], parts: tuple[NDArray[np.float64], ...]) -> dict[str, Estimate]:
    rows = zip(*(np.atleast_1d(part).tolist() for part in parts), strict=True)
    return {
        name: Estimate(value=value, low=low, high=high)
        for name, (value, low, high) in zip(names, rows, strict=True)
    }
