"""PERM-BOTH: whether one metric agrees more with people than another, beyond chance."""

import math
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from spanjury.stats.arrays import FloatArray, safe_divide
from spanjury.stats.combination.multiplicity import holm
from spanjury.stats.correlations.correlation import Method
from spanjury.stats.correlations.grouping import Level, level_correlations, mean_of_groups
from spanjury.stats.correlations.rank_signs import counts_signs, swapped_correlations
from spanjury.stats.correlations.resampled_correlations import block_sizes, common_cells
from spanjury.stats.significance.permutation import ROUNDING, log_share_reaching


class MetricComparison(NamedTuple):
    """P-values of the null hypothesis that standardized scores of two metrics can be swapped."""

    difference: float
    """The first metric's correlation with people minus the second's, or NaN."""
    p_greater: float
    """One-sided: that the first agrees more with people."""
    p_two_sided: float
    draws: int
    """Draws in which both correlations are defined."""


class MetricComparisons(NamedTuple):
    """All pairs of metrics, shape ``(metrics, metrics)``; NaN on the diagonal."""

    difference: FloatArray
    """The row's correlation minus the column's."""
    p: FloatArray
    """Two-sided."""
    adjusted: FloatArray
    """Adjusted for the number of pairs by Holm's method."""


def perm_both(
    human: ArrayLike,
    metrics: ArrayLike,
    *,
    level: Level,
    rng: Generator,
    method: Method = "spearman",
    draws: int = 1000,
) -> MetricComparison:
    """Compare two metrics by swapping their scores of single outputs at random [1]_.

    Parameters
    ----------
    human
        Shape ``(systems, inputs)``; finite, or NaN where a score is missing.
    metrics
        Shape ``(2, systems, inputs)``; finite, or NaN. Each is standardized over the cells that
        people and both metrics have scored; the others are skipped.
    level, method
        As in `level_correlations`.
    rng
        Generator of the swaps.
    draws
        Number of draws, at least 1.

    Returns
    -------
    MetricComparison
        ``p = (b + 1) / (draws + 1)`` for ``b`` draws with at least this difference. NaN if
        the difference is NaN.

    Raises
    ------
    ValueError
        If a shape, a value or a range is not as above.

    References
    ----------
    .. [1] Deutsch, Dror, Roth (2021), TACL 9:1132-1146, section 5, doi:10.1162/tacl_a_00417
    """
    if len(np.shape(metrics)) != 3 or np.shape(metrics)[0] != 2:  # noqa: PLR2004
        raise ValueError(f"expected two tables of metrics, got the shape {np.shape(metrics)}")
    people, scores = common_cells(human, metrics)
    first, second = level_correlations(people, scores, level=level, method=method).value
    observed = float(first - second)
    standard = np.nan_to_num(_standardised(scores))  # missing cells are also missing in `people`
    left, right = standard
    blocks: list[FloatArray] = []
    for size in block_sizes(draws, cells=2 * people.size):
        swap = rng.integers(2, size=(size, *people.shape), dtype=np.bool_)
        if counts_signs(len(people), level=level, method=method):
            values = mean_of_groups(swapped_correlations(people, standard, swap))
        else:
            mixed = np.stack([np.where(swap, right, left), np.where(swap, left, right)])
            values = level_correlations(people, mixed, level=level, method=method).value
        blocks.append(values[0] - values[1])
    drawn = np.concatenate(blocks)
    return _answer(observed, drawn[~np.isnan(drawn)])


def compared_metrics(
    human: ArrayLike,
    metrics: ArrayLike,
    *,
    level: Level,
    rng: Generator,
    method: Method = "spearman",
    draws: int = 1000,
) -> MetricComparisons:
    """Compare every pair of metrics by `perm_both`, adjusted for the number of pairs.

    Parameters
    ----------
    human
        Shape ``(systems, inputs)``.
    metrics
        Shape ``(metrics, systems, inputs)``; each pair on the cells that both have scored.
    level, rng, method, draws
        As in `perm_both`.

    Raises
    ------
    ValueError
        If a shape, a value or a range is not as above.
    """
    scores = np.asarray(metrics, dtype=np.float64)
    if scores.ndim != 3:  # noqa: PLR2004 - metrics, systems, inputs
        raise ValueError(f"expected tables of metrics, got the shape {scores.shape}")
    rows, columns = np.triu_indices(len(scores), k=1)
    pairs = [
        perm_both(human, scores[[row, column]], level=level, rng=rng, method=method, draws=draws)
        for row, column in zip(rows, columns, strict=True)
    ]
    p = np.array([pair.p_two_sided for pair in pairs], dtype=np.float64)
    differences = np.full((len(scores), len(scores)), np.nan)
    raw, adjusted = differences.copy(), differences.copy()
    differences[rows, columns] = [pair.difference for pair in pairs]
    differences[columns, rows] = [-pair.difference for pair in pairs]
    raw[rows, columns] = raw[columns, rows] = p
    adjusted[rows, columns] = adjusted[columns, rows] = np.exp(holm(np.log(p)))
    return MetricComparisons(differences, raw, adjusted)


def _answer(observed: float, drawn: FloatArray) -> MetricComparison:
    if np.isnan(observed):
        return MetricComparison(np.nan, np.nan, np.nan, drawn.size)
    return MetricComparison(
        observed,
        p_greater=_share_reaching(drawn, observed),
        p_two_sided=_share_reaching(np.abs(drawn), abs(observed)),
        draws=drawn.size,
    )


def _share_reaching(drawn: FloatArray, observed: float) -> float:
    return math.exp(log_share_reaching(iter([drawn]), least=observed - ROUNDING))


def _standardised(metrics: FloatArray) -> FloatArray:
    """Return the scores minus their mean, divided by their deviation, table by table."""
    present = ~np.isnan(metrics)
    counts = np.count_nonzero(present, axis=(1, 2), keepdims=True)
    means = safe_divide(np.sum(metrics, axis=(1, 2), keepdims=True, where=present), counts)
    centred = metrics - means
    squares = np.sum(centred**2, axis=(1, 2), keepdims=True, where=present)
    return centred / np.sqrt(np.where(squares > 0, safe_divide(squares, counts), 1.0))
