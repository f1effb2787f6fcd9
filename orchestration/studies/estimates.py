"""Groups of rows, figures with intervals over texts or sources, and p-values of several figures."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from spanjury.stats import resampling
from spanjury.stats.arrays import FloatArray
from spanjury.stats.combination.multiplicity import holm
from spanjury.stats.resampling import Estimate, bootstrap
from spanjury.stats.weighted import Weighted, on_sample, ratio

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
Effects = Mapping[tuple[str, ...], Weighted]
"""Names of the figures that an effect gives -> the effect, of the shape ``(draws, names)``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of intervals and random annotations."""

    seed: int = 1
    draws: int = 1_000
    """Number of bootstrap resamples; 0 for no intervals."""
    confidence: float = 0.95
    """Coverage of the intervals, in ``(0, 1)``."""
    samples: int = 300
    """Random annotations for gamma, 300 or more."""


DEFAULTS = Settings()
LEVEL = 0.05
"""Above this p-value no difference is shown."""


def by_owner(effect: Weighted, owner: NDArray[np.int64]) -> Weighted:
    """Return an effect of readings as one of texts: a text is drawn with all its readings."""
    return lambda counts: effect(counts[:, owner])


def estimates(effects: Effects, *, texts: int, settings: Settings) -> dict[str, Estimate]:
    """Resample texts, the same ones for every figure; every figure is NaN without a text."""
    estimated: dict[str, Estimate] = {}
    for names, effect in effects.items():
        if not texts:
            figures = [Estimate()] * len(names)
        elif not settings.draws:
            figures = [Estimate(v) for v in np.ravel(on_sample(effect, items=texts)).tolist()]
        else:
            rng = np.random.default_rng(settings.seed)
            drawn = bootstrap(effect, items=texts, rng=rng, draws=settings.draws)
            figures = resampling.estimates(drawn, confidence=settings.confidence)
        estimated |= zip(names, figures, strict=True)
    return estimated


def grouped(rows: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Return rows by their keys, in the order in which keys first come."""
    groups: dict[K, list[T]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def numbered(names: Sequence[K]) -> tuple[NDArray[np.intp], tuple[K, ...]]:
    """Return the number of each name, and the names in the order of their numbers."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([numbers[name] for name in names], dtype=np.intp), tuple(numbers)


def ratios_of(
    above: FloatArray, below: FloatArray, *, rng: Generator, draws: int
) -> list[Estimate]:
    """Return the ratios of sums of the shape ``(..., sources)``, with sources resampled.

    An interval without width is left out: draws that are all alike say nothing of others.
    """
    drawn = bootstrap(ratio(above, below), items=above.shape[-1], rng=rng, draws=draws)
    return [
        each if each.low < each.high else Estimate(each.value)
        for each in resampling.estimates(drawn)
    ]


def holm_adjusted(pvalues: ArrayLike) -> FloatArray:
    """Return p-values held together by Holm's method; NaN for those that are NaN."""
    with np.errstate(divide="ignore"):
        return np.exp(holm(np.log(pvalues)))
