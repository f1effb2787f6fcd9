"""Qualities of a run's texts that say how much is to be learnt of marking them."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from spanjury.judges.text import folded_words
from spanjury.stats.arrays import FloatArray

_SHARED = -1
"""Stands for several sources."""


def novelty(texts: Iterable[str], sources: Sequence[str]) -> FloatArray:
    """Return which share of each text's pairs of words no text for another source holds.

    Parameters
    ----------
    texts
        Outputs.
    sources
        The source of each: texts for one of them say much the same, and make none common.

    Returns
    -------
    array
        Shape ``(texts,)``, in [0, 1]; 1 for a text of fewer than two words.
    """
    pairs = [{*pairwise(folded_words(text))} for text in texts]
    numbers = {source: number for number, source in enumerate(dict.fromkeys(sources))}
    holders: dict[tuple[str, str], int] = {}
    for found, source in zip(pairs, sources, strict=True):
        for pair in found:
            if holders.setdefault(pair, numbers[source]) != numbers[source]:
                holders[pair] = _SHARED
    return np.array(
        [
            sum(holders[pair] != _SHARED for pair in found) / len(found) if found else 1.0
            for found in pairs
        ],
        dtype=np.float64,
    )


def mean_over_aspects(values: FloatArray) -> FloatArray:
    """Return the mean of each text's values, shape ``(aspects, texts)``; NaN where all are."""
    known = np.count_nonzero(~np.isnan(values), axis=0)
    return np.asarray(np.nansum(values, axis=0) / np.where(known, known, np.nan))


def tiers(values: FloatArray, count: int) -> list[int]:
    """Return the tier of each value, from 1 for the lowest; 0 for NaN.

    A value that as many texts have as a tier would hold is a tier of its own, so that a heap of
    best scores leaves tiers for the others. Equal values are never parted.

    Parameters
    ----------
    count
        About how many tiers there are to be, at least 1.

    Examples
    --------
    >>> tiers(np.array([5.0, 5.0, 5.0, 5.0, 4.0, 2.0, np.nan]), 3)
    [3, 3, 3, 3, 2, 1, 0]
    """
    known = ~np.isnan(values)
    if not known.any():
        return [0] * values.size
    _, inverse, sizes = np.unique(values[known], return_inverse=True, return_counts=True)
    heavy = sizes * count >= max(2, known.sum())
    light = np.where(heavy, 0, sizes)
    below = np.cumsum(light) - light
    parts = max(1, count - int(heavy.sum()))
    part = np.floor(below * parts / max(1, light.sum())).astype(np.intp)
    steps = np.stack([np.cumsum(heavy) + np.cumsum(heavy) - heavy, np.where(heavy, 0, part)])
    starts = np.any(np.diff(steps, axis=1) != 0, axis=0)
    tier = np.concatenate([[1], 1 + np.cumsum(starts)])
    found = np.zeros(values.size, dtype=np.intp)
    found[known] = tier[inverse]
    return [int(one) for one in found]
