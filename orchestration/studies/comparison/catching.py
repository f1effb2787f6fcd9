"""Catching: which of two judges catches more damaged texts without their clean twins.

Each judge has a cut-off of its own on each aspect, which at most 10 % of the clean and the
harmlessly changed texts are below that both exams have shown. Every draw of texts sets it again.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spanjury.orchestration.studies.comparison.compared import (
    Compared,
    Resampling,
    exact_p,
    preference_of,
)
from spanjury.orchestration.studies.comparison.sharing import Contrast, Shared
from spanjury.orchestration.studies.discernment.aspect_scores import USUAL, fewest_texts
from spanjury.stats.arrays import FloatArray, safe_divide
from spanjury.stats.combination.multiplicity import holm
from spanjury.stats.flagging import cutoff, flagged
from spanjury.stats.resampling import Resampled, bootstrap, percentile_interval, two_sided_p
from spanjury.stats.weighted import Weighted


@dataclass(frozen=True, slots=True, kw_only=True)
class Catches:
    """Caught shares of two judges; as `Comparison` says."""

    mean: Compared | None
    contrasts: tuple[tuple[Contrast, Compared], ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Cell:
    """Scores of one judge in one contrast, and of all that is not worse on its aspect."""

    pool: FloatArray
    scores: FloatArray

    def effect(self) -> Weighted:
        """Return the caught share."""
        return flagged(self.pool, self.scores, rate=USUAL)

    def flags(self) -> FloatArray:
        """Return 1 for a text that is caught, 0 for another, NaN without a score."""
        caught = self.scores < cutoff(self.pool.ravel(), rate=USUAL)
        return np.where(np.isnan(self.scores), np.nan, caught)


def catches(shared: Shared, resampling: Resampling) -> Catches:
    """Compare the caught shares in every contrast with damage, and their mean."""
    numbers = [n for n, contrast in enumerate(shared.contrasts) if contrast.expected == "falls"]
    cells = {n: _cells(shared, n) for n in numbers if _can_state(shared, n)}
    if not cells:
        return Catches(mean=None, contrasts=())
    drawn = _drawn([*cells.values()], resampling, texts=len(shared.texts))
    flags = np.array([[cell.flags() for cell in pair] for pair in cells.values()])
    apart = flags[:, 0] - flags[:, 1]
    compared = [
        _compared(_column(drawn, index), apart[index], texts=_defined(apart[index]))
        for index in range(len(cells))
    ]
    defined = np.sum(~np.isnan(drawn.draws), axis=-1)
    means = safe_divide(np.nansum(drawn.draws, axis=-1), defined)
    mean = Resampled(drawn.estimate.mean(axis=-1), means)
    summed = np.where(np.isnan(apart).all(axis=0), np.nan, np.nansum(apart, axis=0))
    return Catches(
        mean=_compared(mean, summed, texts=_defined(summed)),
        contrasts=tuple(
            zip([shared.contrasts[n] for n in cells], _adjusted(compared), strict=True),
        ),
    )


def _can_state(shared: Shared, number: int) -> bool:
    clean = _clean(shared, number)[0]
    return int(np.count_nonzero(~np.isnan(clean))) >= fewest_texts(USUAL)


def _cells(shared: Shared, number: int) -> tuple[_Cell, _Cell]:
    """Return the cells of both judges."""
    aspect = shared.contrasts[number].aspect
    spared = [
        n for n, each in enumerate(shared.contrasts) if each.aspect == aspect and shared.harmless[n]
    ]
    first, second = (
        _Cell(
            pool=np.concatenate([clean[np.newaxis], shared.changed[judge, spared]]),
            scores=shared.changed[judge, number],
        )
        for judge, clean in enumerate(_clean(shared, number))
    )
    return first, second


def _clean(shared: Shared, number: int) -> FloatArray:
    """Return the clean scores of both judges on the aspect of a contrast, wherever they stand."""
    aspect = shared.contrasts[number].aspect
    same = [n for n, contrast in enumerate(shared.contrasts) if contrast.aspect == aspect]
    clean = shared.clean[:, same]
    return np.where(
        np.isnan(clean).all(axis=1), np.nan, np.max(np.nan_to_num(clean, nan=-np.inf), axis=1)
    )


def _drawn(
    cells: Sequence[tuple[_Cell, _Cell]], resampling: Resampling, *, texts: int
) -> Resampled:
    """Return the shares, shape ``(judges, contrasts)``, and their draws."""
    effects = [[pair[judge].effect() for pair in cells] for judge in range(2)]

    def weighted(counts: FloatArray) -> FloatArray:
        judges = [np.stack([effect(counts) for effect in row], axis=1) for row in effects]
        return np.stack(judges, axis=1)

    return bootstrap(weighted, items=texts, rng=resampling.rng(), draws=resampling.draws)


def _column(drawn: Resampled, number: int) -> Resampled:
    return Resampled(drawn.estimate[:, number], drawn.draws[:, :, number])


def _defined(apart: NDArray[np.float64]) -> int:
    return int(np.count_nonzero(~np.isnan(apart)))


def _compared(shares: Resampled, apart: FloatArray, *, texts: int) -> Compared:
    first, second = (float(share) for share in shares.estimate)
    difference = Resampled(
        np.array([first - second]), (shares.draws[:, 0] - shares.draws[:, 1])[:, np.newaxis]
    )
    low, high = percentile_interval(difference)
    p = max(float(two_sided_p(difference)[0]), exact_p(apart))
    return Compared(
        first=first,
        second=second,
        difference=first - second,
        low=float(low[0]),
        high=float(high[0]),
        p=p,
        adjusted=p,
        texts=texts,
        preference=preference_of(first - second, p=p),
    )


def _adjusted(rows: Sequence[Compared]) -> Iterator[Compared]:
    """Hold the p-values of all contrasts together to the level, by Holm."""
    for row, adjusted in zip(rows, np.exp(holm(np.log([row.p for row in rows]))), strict=True):
        p = float(adjusted)
        yield replace(row, adjusted=p, preference=preference_of(row.difference, p=p))
