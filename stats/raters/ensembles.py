"""Ensembles: how a panel's agreement with people depends on its size and on each seat."""

from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from spanjury.stats.arrays import FloatArray, safe_divide
from spanjury.stats.correlations.correlation import Method
from spanjury.stats.correlations.grouping import Level, level_correlations
from spanjury.stats.correlations.resampled_correlations import block_sizes
from spanjury.stats.correlations.score_tables import Tables, tables
from spanjury.stats.ranks import IntArray


class EnsembleCurve(NamedTuple):
    """Agreement with people by the number of seats, shape ``(seats,)`` each."""

    sizes: IntArray
    """From 1 to all seats."""
    mean: FloatArray
    """The mean correlation over panels of that size; NaN if all are undefined."""
    least: FloatArray
    greatest: FloatArray
    panels: IntArray
    """The number of panels."""
    undefined: IntArray
    """Number of panels whose correlation is undefined, and which are not in the mean."""


class LeaveOneOut(NamedTuple):
    """Agreement with people of the whole panel, and of the panel without each seat."""

    whole: float
    without: FloatArray
    """Shape ``(seats,)``."""
    gain: FloatArray
    """Shape ``(seats,)``: the increase of the agreement by the seat."""


def ensemble_curve(
    human: ArrayLike,
    seats: ArrayLike,
    *,
    level: Level,
    rng: Generator,
    method: Method = "spearman",
    most: int = 1000,
) -> EnsembleCurve:
    """Correlate the mean scores of all possible panels of some seats with people's scores.

    Parameters
    ----------
    human
        Shape ``(systems, inputs)``; finite, or NaN where a score is missing.
    seats
        Shape ``(seats, systems, inputs)``, at least one seat; finite, or NaN. A panel's score is
        the mean over those of its seats that gave one.
    level, method
        As in `level_correlations`.
    rng
        Generator to draw panels of those sizes with more than `most` possible panels.
    most
        Maximum number of panels of a size, at least 1; each seat is equally likely to be in one.

    Raises
    ------
    ValueError
        If a shape, a value or a range is not as above.

    References
    ----------
    .. [1] Kartáč et al. (2025), OpeNLGauge, appendix H.2
    """
    if most < 1:
        raise ValueError(f"expected at least 1 panel of a size, got {most!r}")
    both = _checked(human, seats)
    count = len(both.metric)
    curve = np.full((3, count), np.nan)
    panels, undefined = np.zeros((2, count), dtype=np.int64)
    for column in range(count):
        members = _panels(count, column + 1, most=most, rng=rng)
        values = _correlations(both, members, level=level, method=method)
        defined = values[~np.isnan(values)]
        panels[column], undefined[column] = values.size, values.size - defined.size
        if defined.size:
            curve[:, column] = defined.mean(), defined.min(), defined.max()
    mean, least, greatest = curve
    return EnsembleCurve(np.arange(1, count + 1), mean, least, greatest, panels, undefined)


def leave_one_out(
    human: ArrayLike, seats: ArrayLike, *, level: Level, method: Method = "spearman"
) -> LeaveOneOut:
    """Correlate the mean scores of the whole panel, and without each seat, with people's.

    Parameters
    ----------
    human, seats, level, method
        As in `ensemble_curve`.

    Raises
    ------
    ValueError
        If a shape or a value is not as above.
    """
    both = _checked(human, seats)
    count = len(both.metric)
    members = np.concatenate([np.ones((1, count), dtype=np.bool_), ~np.eye(count, dtype=np.bool_)])
    values = _correlations(both, members, level=level, method=method)
    return LeaveOneOut(float(values[0]), values[1:], values[0] - values[1:])


def _checked(human: ArrayLike, seats: ArrayLike) -> Tables:
    both = tables(human, seats)
    shape = both.metric.shape
    if both.human.ndim != 2 or len(shape) != 3 or not shape[0]:  # noqa: PLR2004
        raise ValueError(f"expected one table and one per seat, got {both.human.shape}, {shape}")
    return both


def _panels(seats: int, size: int, *, most: int, rng: Generator) -> NDArray[np.bool_]:
    """Return the seats of each panel, shape ``(panels, seats)``."""
    if comb(seats, size) > most:
        first = np.broadcast_to(np.arange(seats) < size, (most, seats))
        return rng.permuted(first, axis=1)
    chosen = np.array(list(combinations(range(seats), size)))
    members = np.zeros((len(chosen), seats), dtype=np.bool_)
    np.put_along_axis(members, chosen, values=True, axis=1)
    return members


def _correlations(
    both: Tables, members: NDArray[np.bool_], *, level: Level, method: Method
) -> FloatArray:
    """Return the correlation of each panel with people."""
    present = ~np.isnan(both.metric)
    scores = np.where(present, both.metric, 0.0)
    blocks: list[FloatArray] = []
    start = 0
    for size in block_sizes(len(members), cells=both.human.size):
        seated = members[start : start + size].astype(np.float64)
        sums, counts = (np.tensordot(seated, part, axes=1) for part in (scores, present))
        means = safe_divide(sums, counts)
        blocks.append(level_correlations(both.human, means, level=level, method=method).value)
        start += size
    return np.concatenate(blocks)
