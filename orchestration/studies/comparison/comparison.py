"""Two judges compared: by the difference of their effects on the same texts, never by their D."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spanjury.orchestration.studies.comparison.catching import catches
from spanjury.orchestration.studies.comparison.compared import (
    Compared,
    Resampling,
    exact_p,
    preference_of,
)
from spanjury.orchestration.studies.comparison.sharing import Contrast, Unshared, share
from spanjury.orchestration.studies.discernment.score_arrays import ScoreRow
from spanjury.stats.arrays import FloatArray
from spanjury.stats.combination.multiplicity import holm
from spanjury.stats.resampling import EffectDifference, effect_difference
from spanjury.stats.weighted import Weighted, mean_drop


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The results of a comparison.

    Parameters
    ----------
    summary
        Mean over conditions and the aspects that they damage, each pair of these counting
        alike; None if the exams share none with scores of both. Its texts are those with a
        score in any of them, and its p-value is adjusted for nothing.
    contrasts
        Condition by condition and aspect by aspect: where scores should stay, less movement
        is better, elsewhere a larger effect.
    caught, caught_contrasts
        The same of the share of damaged texts that are caught without their clean twins at a
        false-alarm rate of 10 %; None, or empty, where the clean texts are too few to state it.
    """

    seed: int
    draws: int
    repeats: tuple[int, int]
    summary: Compared | None
    contrasts: tuple[tuple[Contrast, Compared], ...]
    caught: Compared | None
    caught_contrasts: tuple[tuple[Contrast, Compared], ...]
    unshared: Unshared


def compare(
    first: Sequence[ScoreRow], second: Sequence[ScoreRow], *, seed: int = 1, draws: int = 10_000
) -> Comparison:
    """Compare two judges by their effects on what both exams have shown.

    Texts are drawn with all their conditions and aspects, the same ones for both judges.

    Raise `ConfigError` if the exams have nothing in common.
    """
    shared = share(first, second)
    stays, falls = (
        np.array([contrast.expected == effect for contrast in shared.contrasts])
        for effect in ("unchanged", "falls")
    )
    signs = np.sign(shared.differences)
    moves = np.where(stays[:, np.newaxis], np.abs(signs), signs)
    resampling = Resampling(seed=seed, draws=draws)
    caught = catches(shared, resampling)
    return Comparison(
        seed=seed,
        draws=draws,
        repeats=(first[0].repeats, second[0].repeats),
        summary=_on_average(moves[:, falls], resampling) if falls.any() else None,
        contrasts=tuple(
            zip(shared.contrasts, _one_by_one(moves, resampling, stays=stays), strict=True)
        ),
        caught=caught.mean,
        caught_contrasts=caught.contrasts,
        unshared=shared.unshared,
    )


def _differences(
    moves: FloatArray, resampling: Resampling, effect: Callable[[ArrayLike], Weighted]
) -> EffectDifference:
    """Compare the effects on two judges; the same texts are drawn whatever the effect."""
    return effect_difference(*moves, rng=resampling.rng(), effect=effect, draws=resampling.draws)


def _one_by_one(
    moves: FloatArray, resampling: Resampling, *, stays: NDArray[np.bool_]
) -> Iterator[Compared]:
    """Compare contrast by contrast; `moves` has the shape ``(2, contrasts, texts)``."""
    resampled = _differences(moves, resampling, mean_drop)
    exact = [exact_p(apart) for apart in moves[0] - moves[1]]
    p = np.maximum(resampled.p, exact)
    adjusted = np.exp(holm(np.log(p)))
    means = np.nanmean(moves, axis=-1)
    for n, stay in enumerate(stays):
        difference = float(resampled.difference[n])
        yield Compared(
            first=float(means[0, n]),
            second=float(means[1, n]),
            difference=difference,
            low=float(resampled.low[n]),
            high=float(resampled.high[n]),
            p=float(p[n]),
            adjusted=float(adjusted[n]),
            texts=int(resampled.used[n]),
            preference=preference_of(-difference if stay else difference, p=float(adjusted[n])),
        )


def _on_average(moves: FloatArray, resampling: Resampling) -> Compared:
    """Compare the means over contrasts."""
    resampled = _differences(moves, resampling, _mean_over_contrasts)
    means = np.nanmean(moves, axis=-1).mean(axis=-1)
    apart = moves[0] - moves[1]
    # Sums, not means, over contrasts: in them ties are exact.
    p = max(float(resampled.p), exact_p(np.nansum(apart, axis=0)))
    return Compared(
        first=float(means[0]),
        second=float(means[1]),
        difference=float(resampled.difference),
        low=float(resampled.low),
        high=float(resampled.high),
        p=p,
        adjusted=p,
        texts=int(np.count_nonzero(~np.isnan(apart).all(axis=0))),
        preference=preference_of(float(resampled.difference), p=p),
    )


def _mean_over_contrasts(moves: ArrayLike) -> Weighted:
    """Return the mean of the contrasts' effects, in a draw of those of which it holds a text."""
    by_contrast = mean_drop(moves)

    def weighted(counts: FloatArray) -> FloatArray:
        effects = by_contrast(counts)
        defined = np.sum(~np.isnan(effects), axis=-1)
        return np.asarray(np.nansum(effects, axis=-1) / np.where(defined > 0, defined, np.nan))

    return weighted
