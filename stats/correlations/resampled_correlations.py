"""Correlations of metrics with people, resampled over outputs: intervals and tests.

Scores are tables of systems and inputs: finite, or NaN where missing. Metrics are compared on the
cells that people and all of these metrics have scored.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from spanjury.stats.arrays import FloatArray
from spanjury.stats.correlations.correlation import Method
from spanjury.stats.correlations.grouping import Level, level_correlations, mean_of_groups
from spanjury.stats.correlations.rank_signs import counts_signs, drawn_correlations
from spanjury.stats.correlations.score_tables import Tables, tables
from spanjury.stats.ranks import IntArray
from spanjury.stats.resampling import NOISE, Estimate, Resampled, percentile_interval, two_sided_p

Over = Literal["both", "inputs", "systems"]

# Scores in memory at a time; more do not fit into processor caches.
BLOCK = 250_000


class CorrelationDifference(NamedTuple):
    """Difference of two metrics' correlations with people."""

    difference: float
    low: float
    high: float
    p: float
    """Two-sided; agrees with the interval up to one draw."""


def resampled_correlations(
    human: ArrayLike,
    metrics: ArrayLike,
    *,
    level: Level,
    rng: Generator,
    method: Method = "spearman",
    over: Over = "both",
    draws: int = 1000,
) -> Resampled:
    """Correlate metrics with people in samples drawn with replacement [1]_.

    Parameters
    ----------
    human
        Shape ``(systems, inputs)``.
    metrics
        Shape ``(..., systems, inputs)``, one table or many: all use the same draws, so that
        their correlations may be subtracted draw by draw.
    level, method
        As in `level_correlations`.
    rng
        Generator to draw systems and inputs.
    over
        The units that are drawn: ``inputs`` generalizes to other inputs to these systems
        (BOOT-INPUTS of the paper), ``systems`` to other systems, ``both`` to both (BOOT-BOTH).
    draws
        Number of samples to draw, at least 1.

    Returns
    -------
    Resampled
        For `percentile_interval` and `two_sided_p`; NaN if a correlation is undefined.

    Raises
    ------
    ValueError
        If a shape, a value or a range is not as above.

    References
    ----------
    .. [1] Deutsch, Dror, Roth (2021), TACL 9:1132-1146, section 4, doi:10.1162/tacl_a_00417
    """
    if over not in {"both", "inputs", "systems"}:
        raise ValueError(f"expected over to be both, inputs or systems, got {over!r}")
    people, common = common_cells(human, metrics)
    scores = np.nan_to_num(common)  # missing cells are also missing in `people`
    systems, inputs = people.shape
    blocks: list[FloatArray] = []
    for size in block_sizes(draws, cells=scores.size):
        rows = _drawn(systems, size, rng=rng if over != "inputs" else None)
        columns = _drawn(inputs, size, rng=rng if over != "systems" else None)
        if counts_signs(systems, level=level, method=method):
            by_input = drawn_correlations(people, scores, rows)
            picked = columns.reshape(size, *[1] * (scores.ndim - 2), inputs)
            blocks.append(mean_of_groups(np.take_along_axis(by_input, picked, axis=-1)))
            continue
        cells = rows[:, :, np.newaxis], columns[:, np.newaxis]
        drawn = np.moveaxis(scores[..., *cells], -3, 0)
        sampled = people[cells].reshape(size, *[1] * (scores.ndim - 2), systems, inputs)
        blocks.append(level_correlations(sampled, drawn, level=level, method=method).value)
    estimate = level_correlations(people, scores, level=level, method=method).value
    return Resampled(estimate, np.concatenate(blocks))


def correlation_estimate(
    resampled: Resampled, *, groups: int, items: int = 0, confidence: float = 0.95
) -> Estimate:
    """Return one correlation with an interval, also if it is equal in every draw.

    Equal draws do not show that unseen inputs would be equal, too. If all of `groups` inputs have
    the same correlation, the share of inputs with another is at most ``1 - tail ** (1 / groups)``,
    where ``tail`` is half of the error rate [1]_, and their correlation is in ``[-1, 1]``. With 4
    inputs that share is 60 %, with 20 it is 17 %.

    A single correlation of 1 means that all pairs of items are in order. As ``items // 2`` pairs
    share no item, at most ``1 - tail ** (1 / pairs)`` of unseen pairs are not, so that Kendall's
    tau is at least ``2 * tail ** (1 / pairs) - 1``: -0.20 with 8 items and 0.38 with 20. The other
    correlations get the same bound, and -1 its opposite.

    Parameters
    ----------
    resampled
        From `resampled_correlations`, for one metric.
    groups
        Number of averaged correlations, as in `LevelCorrelation`.
    items
        Number of independent items of a single correlation; 0 if it is unknown.
    confidence
        Level of the interval, in ``(0, 1)``.

    Returns
    -------
    Estimate
        The bounds are NaN if a single correlation is equal in every draw, unless it is 1 or -1 and
        the number of its items is known.

    Raises
    ------
    ValueError
        If the confidence is not as above.

    References
    ----------
    .. [1] Clopper, Pearson (1934), Biometrika 26(4):404-413, for no input that differs

    Examples
    --------
    >>> drawn = Resampled(np.array(1.0), np.ones(1000))
    >>> [round(part, 2) for part in correlation_estimate(drawn, groups=4)]
    [1.0, -0.2, 1.0]
    >>> [round(part, 2) for part in correlation_estimate(drawn, groups=1, items=20)]
    [1.0, 0.38, 1.0]
    """
    value = float(resampled.estimate)
    low, high = (float(bound) for bound in percentile_interval(resampled, confidence=confidence))
    if not high - low <= NOISE:
        return Estimate(value, low, high)
    tail = (1 - confidence) / 2
    if groups > 1:
        differing = 1 - tail ** (1 / groups)
    elif (pairs := items // 2) and 1 - abs(value) <= NOISE:
        differing = 1 - tail ** (1 / pairs)
    else:
        return Estimate(value)
    return Estimate(value, value - differing * (value + 1), value + differing * (1 - value))


def correlation_difference(
    human: ArrayLike,
    metrics: ArrayLike,
    *,
    level: Level,
    rng: Generator,
    method: Method = "spearman",
    over: Over = "inputs",
    draws: int = 1000,
    confidence: float = 0.95,
) -> CorrelationDifference:
    """Compare two metrics by a paired bootstrap.

    Parameters
    ----------
    human
        Shape ``(systems, inputs)``.
    metrics
        Shape ``(2, systems, inputs)``.
    level, rng, method, over, draws
        As in `resampled_correlations`.
    confidence
        Level of the interval, in ``(0, 1)``.

    Returns
    -------
    CorrelationDifference
        Correlation of the first metric minus the second; NaN if it is undefined.

    Raises
    ------
    ValueError
        If a shape, a value or a range is not as above.
    """
    if len(np.shape(metrics)) != 3 or np.shape(metrics)[0] != 2:  # noqa: PLR2004
        raise ValueError(f"expected two tables of metrics, got the shape {np.shape(metrics)}")
    both = resampled_correlations(
        human, metrics, level=level, rng=rng, method=method, over=over, draws=draws
    )
    difference = Resampled(
        np.asarray(both.estimate[0] - both.estimate[1]), both.draws[:, 0] - both.draws[:, 1]
    )
    interval = percentile_interval(difference, confidence=confidence)
    parts = (difference.estimate, *interval, two_sided_p(difference))
    return CorrelationDifference(*(float(part) for part in parts))


def common_cells(human: ArrayLike, metrics: ArrayLike) -> Tables:
    """Return one table of people's scores and those of metrics, NaN in all where one is.

    Raises `ValueError` if the first is not a table, or under the conditions of `tables`.
    """
    people, scores = tables(human, metrics)
    if people.ndim != 2:  # noqa: PLR2004 - systems, inputs
        raise ValueError(f"expected people's scores (systems, inputs), got {people.shape}")
    metric_axes = tuple(range(scores.ndim - 2))
    missing = np.isnan(people) | np.isnan(scores).any(axis=metric_axes)
    return Tables(*(np.where(missing, np.nan, part) for part in (people, scores)))


def block_sizes(draws: int, *, cells: int) -> Iterator[int]:
    """Yield the number of draws to keep in memory at a time, of `cells` scores each.

    Raises `ValueError` if `draws` is less than 1.
    """
    if draws < 1:
        raise ValueError(f"expected at least 1 draw, got {draws!r}")
    step = max(1, BLOCK // max(cells, 1))
    return (min(step, draws - done) for done in range(0, draws, step))


def _drawn(count: int, draws: int, *, rng: Generator | None) -> IntArray:
    """Return the drawn indices, shape ``(draws, count)``; without `rng`, all in order."""
    if rng is None or count == 0:
        return np.broadcast_to(np.arange(count), (draws, count))
    return rng.integers(count, size=(draws, count))
