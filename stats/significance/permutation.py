"""Random signs, and the share of them that reaches the observed value."""

import math
from collections.abc import Iterator

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

BLOCK = 1_000_000
"""Signs held in memory at a time."""

ROUNDING = 1e-12
"""Relative difference that is possible between sums of the same numbers in different orders."""


def random_signs(rng: Generator, draws: int, *, items: int) -> Iterator[NDArray[np.float64]]:
    """Yield blocks of rows of `items` signs, -1 or 1, `draws` rows in all.

    Raise `ValueError` if `draws` is less than 1.
    """
    if draws < 1:
        raise ValueError(f"expected at least 1 draw, got {draws!r}")
    rows = max(BLOCK // max(items, 1), 1)
    for start in range(0, draws, rows):
        heads = rng.integers(2, size=(min(rows, draws - start), items), dtype=np.int8)
        yield heads * np.float64(2) - 1


def log_share_reaching(blocks: Iterator[NDArray[np.float64]], *, least: float) -> float:
    """Return the logarithm of the share of values at or above `least`, including the data."""
    reaching, seen = 1, 1
    for values in blocks:
        reaching += int(np.count_nonzero(values >= least))
        seen += values.size
    return math.log(reaching / seen)
