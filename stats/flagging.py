"""Flagging: the damaged texts that a score separates from texts that are not worse.

A text is flagged if its score is below a cut-off. The cut-off is the highest one that flags at
most a given share of the texts that are not worse; these are the false alarms. Nothing else about
a text is used, neither its clean version nor the scores of the others, so that the flagged share
of damaged texts is the share that would be caught in practice.

Scores are ordered by text, with clean and changed versions of a text in one column. So a bootstrap
of texts draws them together, and every draw determines its own cut-off.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaln, gammaln

from spanjury.stats.arrays import (
    FloatArray,
    checked_differences,
    checked_share,
    one_axis,
    safe_divide,
)
from spanjury.stats.weighted import Weighted

# Sums of counts may differ from a share of their total by this much because of rounding.
NOISE = 1e-9


def cutoff(spared: ArrayLike, *, rate: float) -> float:
    """Return the highest cut-off below which at most a share `rate` of the scores lies.

    Raise `ValueError` if a shape or a range is not as described.

    Scores at the cut-off are not flagged, so that ties never increase the share of false alarms
    above `rate`: if all scores are equal, none is flagged.

    Parameters
    ----------
    spared
        Scores of texts that are not worse, shape ``(n,)``; NaN where missing.
    rate
        In ``(0, 1)``.

    Returns
    -------
    float
        One of the scores; NaN without any.

    Examples
    --------
    >>> cutoff([5, 4, 4, 3, 5, 5, 5, 5, 5, 5], rate=0.2)  # one of ten is below 4, three below 5
    4.0
    """
    checked_share("rate", rate)
    scores = np.sort(one_axis(spared))
    scores = scores[~np.isnan(scores)]
    return float(scores[math.floor(rate * scores.size + NOISE)]) if scores.size else math.nan


def flagged(
    spared: ArrayLike, scores: ArrayLike, *, rate: float, among: ArrayLike | None = None
) -> Weighted:
    """Return the effect "share of texts whose score is below the cut-off of `spared`".

    Raise `ValueError` if a shape or a range is not as described.

    Parameters
    ----------
    spared
        Scores of texts that are not worse, shape ``(variants, texts)``; NaN where missing.
    scores
        Shape ``(..., texts)``; NaN where missing.
    rate
        As in `cutoff`.
    among
        The texts that the share is of, booleans in the shape of `scores`; None for those with a
        score. A text without a score is not below the cut-off.

    Returns
    -------
    Weighted
        The cut-off is that of the draw. NaN without a score in `spared` or a text in `among`.
    """
    checked_share("rate", rate)
    pool, cells = _Pool(spared), checked_differences(scores)
    is_among = ~np.isnan(cells) if among is None else np.asarray(among, dtype=np.bool_)
    if is_among.shape != cells.shape:
        raise ValueError(f"expected `among` of the shape {cells.shape}, got {is_among.shape}")
    cells = np.where(is_among, cells, np.nan)

    def weighted(counts: FloatArray) -> FloatArray:
        below = pool.cutoffs(counts, rate=rate)[:, np.newaxis]
        shares = [
            safe_divide(
                np.where(np.isnan(below[:, 0]), np.nan, np.sum(counts * (cell < below), axis=1)),
                np.sum(counts * whole, axis=1),
            )
            for cell, whole in zip(
                cells.reshape(-1, cells.shape[-1]),
                is_among.reshape(-1, cells.shape[-1]),
                strict=True,
            )
        ]
        return _shaped(shares, len(counts), cells)

    return weighted


def auroc_of_drops(spared: ArrayLike, scores: ArrayLike) -> Weighted:
    """Return the effect "area under the ROC curve", where a lower score means "damaged".

    Raise `ValueError` if a shape is not as described.

    It is the probability that a damaged text has a lower score than one that is not worse, with
    ties counted half [1]_: 1 if all have, 0.5 if the scores are uninformative.

    Parameters
    ----------
    spared, scores
        As in `flagged`.

    Returns
    -------
    Weighted
        In ``[0, 1]``; NaN unless there are scores of both kinds.

    References
    ----------
    .. [1] Hanley, McNeil (1982), Radiology 143(1):29-36, doi:10.1148/radiology.143.1.7063747
    """
    pool, cells = _Pool(spared), checked_differences(scores)

    def weighted(counts: FloatArray) -> FloatArray:
        lower = pool.lower(counts)
        total = lower[:, -1:]
        areas = []
        for cell in cells.reshape(-1, cells.shape[-1]):
            texts = np.flatnonzero(~np.isnan(cell))
            ends = (np.searchsorted(pool.levels, cell[texts], side) for side in ("left", "right"))
            above = total - sum(lower[:, end] for end in ends) / 2
            pairs = np.sum(counts[:, texts], axis=1) * total[:, 0]
            areas.append(safe_divide(np.sum(counts[:, texts] * above, axis=1), pairs))
        return _shaped(areas, len(counts), cells)

    return weighted


def most_by_chance(texts: int, *, clean: int, rate: float, confidence: float = 0.95) -> int:
    """Return the maximum number of `texts` flagged by chance, at a cut-off from `clean` others.

    Raise `ValueError` if a range is not as described.

    The cut-off is an order statistic: the share of all texts below it is unknown, but beta
    distributed, whatever the scores are [1]_. If the texts were the others themselves, the number
    would vary less.

    Parameters
    ----------
    texts, clean
        0 or more, and 1 or more.
    rate
        Rate of false alarms among `clean`, in ``(0, 1)``.
    confidence
        Level of the two-sided interval whose upper bound is returned, in ``(0, 1)``.

    Returns
    -------
    int
        The quantile of the beta-binomial distribution. With ties, more are even less likely.

    References
    ----------
    .. [1] Wilks (1941), Annals of Mathematical Statistics 12(1):91-96,
       doi:10.1214/aoms/1177731788

    Examples
    --------
    >>> most_by_chance(100, clean=100, rate=0.1), most_by_chance(100, clean=10_000, rate=0.1)
    (20, 16)
    """
    checked_share("rate", rate)
    if texts < 0 or clean < 1 or not 0 < confidence < 1:
        raise ValueError(f"expected texts and a confidence, got {texts}, {clean}, {confidence}")
    below = math.floor(rate * clean + NOISE) + 1
    flags = np.arange(texts + 1, dtype=np.float64)
    ways = gammaln(texts + 1) - gammaln(flags + 1) - gammaln(texts - flags + 1)
    beside = clean + 1 - below
    log_masses = ways + betaln(flags + below, texts - flags + beside) - betaln(below, beside)
    reached = np.cumsum(np.exp(log_masses)) >= (1 + confidence) / 2 - NOISE
    return int(np.argmax(reached))


class _Pool:
    """Scores of texts that are not worse, in ascending order, with the text of each."""

    def __init__(self, spared: ArrayLike) -> None:
        scores = checked_differences(spared)
        if scores.ndim != 2:  # noqa: PLR2004
            raise ValueError(f"expected variants of texts, two axes, got the shape {scores.shape}")
        flat = scores.ravel()
        order = np.argsort(flat, kind="stable")[: np.count_nonzero(~np.isnan(flat))]
        self.levels, starts = np.unique(flat[order], return_index=True)
        self._texts: NDArray[np.intp] = order % scores.shape[1]
        self._starts = np.append(starts, order.size)

    def lower(self, counts: FloatArray) -> FloatArray:
        """Return the weight below each level, and the total: ``(draws, levels + 1)``."""
        sums = np.zeros((len(counts), self._texts.size + 1))
        np.cumsum(counts[:, self._texts], axis=1, out=sums[:, 1:])
        return sums[:, self._starts]

    def cutoffs(self, counts: FloatArray, *, rate: float) -> FloatArray:
        """Return the cut-off of each draw, shape ``(draws,)``; NaN without any weight."""
        lower = self.lower(counts)
        total = lower[:, -1]
        if not self.levels.size:
            return np.full(len(counts), np.nan)
        allowed = lower[:, :-1] <= rate * total[:, np.newaxis] + NOISE
        highest = self.levels[np.sum(allowed, axis=1) - 1]
        return np.where(total > 0, highest, np.nan)


def _shaped(effects: list[FloatArray], draws: int, cells: FloatArray) -> FloatArray:
    """Return the effects of all cells as ``(draws, ...)``, in the shape of the cells."""
    columns = np.stack(effects, axis=1) if effects else np.empty((draws, 0))
    return columns.reshape(draws, *cells.shape[:-1])
