"""The paired permutation test of the mean difference, by random signs."""

import math
from collections.abc import Iterator

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from spanjury.stats.significance.paired import PairedTest, paired

BLOCK = 1_000_000
"""Signs that are held in memory at a time."""

ROUNDING = 1e-12
"""Sums of one set of numbers in another order may differ by so much of their size."""


def paired_permutation(differences: ArrayLike, *, rng: Generator, draws: int = 9999) -> PairedTest:
    """Test whether scores fall by their mean difference among those under random signs.

    Parameters
    ----------
    differences
        Clean minus damaged score; shape ``(n,)``, finite, or NaN where a score is missing.
    rng
        Where the signs come from.
    draws
        How many times to draw them, at least 1.

    Returns
    -------
    PairedTest
        With the mean difference as statistic. ``p = (b + 1) / (draws + 1)``, ``b`` the draws that
        reach it [1]_: never below ``1 / (draws + 1)``.

    Raises
    ------
    ValueError
        If a shape or a range is not as above.

    References
    ----------
    .. [1] Phipson, Smyth (2010), Stat Appl Genet Mol Biol 9(1):39, doi:10.2202/1544-6115.1585
    """
    pairs = paired(differences)
    total = float(pairs.differences.sum())
    sums = (
        signs @ pairs.differences
        for signs in random_signs(rng, draws, items=pairs.differences.size)
    )
    least = total - ROUNDING * float(np.abs(pairs.differences).sum())
    log_p = log_share_reaching(sums, least=least)
    return pairs.answer(log_p, statistic=total / max(pairs.differences.size, 1))


def random_signs(rng: Generator, draws: int, *, items: int) -> Iterator[NDArray[np.float64]]:
    """Yield blocks of rows of `items` signs, -1 or 1, `draws` rows in all.

    Raises
    ------
    ValueError
        If no draw is wanted.
    """
    if draws < 1:
        raise ValueError(f"expected at least 1 draw, got {draws!r}")
    rows = max(BLOCK // max(items, 1), 1)
    for start in range(0, draws, rows):
        heads = rng.integers(2, size=(min(rows, draws - start), items), dtype=np.int8)
        yield heads * np.float64(2) - 1


def log_share_reaching(blocks: Iterator[NDArray[np.float64]], *, least: float) -> float:
    """Return the logarithm of the share of values at or above `least`, the data among them."""
    reaching, seen = 1, 1
    for values in blocks:
        reaching += int(np.count_nonzero(values >= least))
        seen += values.size
    return math.log(reaching / seen)
