"""Groups of rows, figures with intervals over texts or sources, and p-values of several figures."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spanjury.stats import resampling
from spanjury.stats.arrays import FloatArray
from spanjury.stats.combination.multiplicity import holm
from spanjury.stats.resampling import NOISE, Estimate, Resampled, bootstrap
from spanjury.stats.weighted import Weighted, by_owner, on_sample, ratio

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


def estimates(
    effects: Effects, *, sources: NDArray[np.int64], settings: Settings
) -> dict[str, Estimate]:
    """Estimate effects of texts, with their sources resampled: the same ones for every figure.

    Every figure is NaN without a text.

    `sources`: shape ``(texts,)``: number of the source of each text, from 0.
    """
    estimated: dict[str, Estimate] = {}
    for names, effect in effects.items():
        if not sources.size:
            figures = [Estimate()] * len(names)
        elif not settings.draws:
            figures = [
                Estimate(v) for v in np.ravel(on_sample(effect, items=sources.size)).tolist()
            ]
        else:
            drawn = resampled(effect, sources, seed=settings.seed, draws=settings.draws)
            figures = resampling.estimates(drawn, confidence=settings.confidence)
            figures = list(map(bounded, figures))
        estimated |= zip(names, figures, strict=True)
    return estimated


def resampled(effect: Weighted, owner: NDArray[np.intp], *, seed: int, draws: int) -> Resampled:
    """Resample sources for an effect of texts; `owner` numbers the source of each text from 0."""
    items, rng = int(owner.max()) + 1, np.random.default_rng(seed)
    return bootstrap(by_owner(effect, owner), items=items, rng=rng, draws=draws)


def bounded(estimate: Estimate) -> Estimate:
    """Leave out an interval of width 0: equal draws do not show that unseen texts are equal."""
    return estimate if estimate.high - estimate.low > NOISE else Estimate(estimate.value)


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


def ratios_of(above: FloatArray, below: FloatArray, *, seed: int, draws: int) -> list[Estimate]:
    """Return the ratios of sums of the shape ``(..., sources)``, with sources resampled."""
    rng = np.random.default_rng(seed)
    drawn = bootstrap(ratio(above, below), items=above.shape[-1], rng=rng, draws=draws)
    return list(map(bounded, resampling.estimates(drawn)))


def holm_adjusted(pvalues: ArrayLike) -> FloatArray:
    """Return p-values held together by Holm's method; NaN for those that are NaN."""
    with np.errstate(divide="ignore"):
        return np.exp(holm(np.log(pvalues)))
