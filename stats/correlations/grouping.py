"""The grouping of correlations of a metric with people: over all outputs, by input or by system.

Scores are tables of systems and inputs. Let ``x[s, i]`` be people's score of system ``s`` on input
``i``, ``y[s, i]`` the metric's, and ``r`` a correlation [1]_:

- ``pooled``, segment level: ``r`` of all cells, ``r({(x[s, i], y[s, i])})``. It is affected by
  inputs that are easy for every system.
- ``by-input``, segment level: the mean over inputs ``i`` of ``r({(x[s, i], y[s, i])}_s)``.
- ``system``, system level: ``r`` of the means over inputs, ``r({(x[s, .], y[s, .])}_s)``.

References
----------
.. [1] Deutsch, Dror, Roth (2021), TACL 9:1132-1146, section 2, doi:10.1162/tacl_a_00417
"""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from spanjury.stats.arrays import FloatArray, safe_divide
from spanjury.stats.correlations.correlation import (
    LEAST_ITEMS,
    Correlations,
    Method,
    Undefined,
    correlations,
)
from spanjury.stats.correlations.score_tables import paired_tables, system_means, tables
from spanjury.stats.ranks import IntArray

Level = Literal["by-input", "pooled", "system"]


class LevelCorrelation(NamedTuple):
    """The correlation of one metric with people."""

    value: float
    """In ``[-1, 1]``, or NaN."""
    items: int
    """Cells with both scores."""
    groups: int
    """Number of averaged correlations: 1, or the number of inputs for which it is defined."""
    undefined: int
    """Skipped correlations: of inputs with fewer than 3 systems, or equal scores."""
    reason: Undefined | None
    """Reason why the value is NaN; for several inputs, that of the input with most systems."""


class LevelCorrelations(NamedTuple):
    """Correlations of many tables, shape ``(...)`` each, as in `LevelCorrelation`."""

    value: FloatArray
    items: IntArray
    groups: IntArray
    undefined: IntArray


def level_correlation(
    human: ArrayLike, metric: ArrayLike, *, level: Level, method: Method = "spearman"
) -> LevelCorrelation:
    """Correlate a metric with people.

    Parameters
    ----------
    human, metric
        Shape ``(systems, inputs)``; finite, or NaN where a score is missing. Cells without
        both are skipped.
    level
        The pairs that are correlated, as in the docstring of the module.
    method
        As in `correlations`.

    Raises
    ------
    ValueError
        If a shape or a value is not as above, or the level or the method is unknown.

    Examples
    --------
    >>> level_correlation([[1, 2], [2, 3], [3, 1]], [[1, 5], [2, 5], [3, 5]], level="by-input")
    LevelCorrelation(value=1.0, items=6, groups=1, undefined=1, reason=None)
    """
    people, scores = paired_tables(human, metric)
    result = level_correlations(people, scores, level=level, method=method)
    value = float(result.value)
    reason: Undefined | None = None
    if np.isnan(value):
        most = int(np.max(_rows(people, scores, level=level, method=method).items, initial=0))
        reason = "constant scores" if most >= LEAST_ITEMS else "fewer than 3 items"
    return LevelCorrelation(
        value,
        items=int(result.items),
        groups=int(result.groups),
        undefined=int(result.undefined),
        reason=reason,
    )


def level_correlations(
    human: ArrayLike, metric: ArrayLike, *, level: Level, method: Method = "spearman"
) -> LevelCorrelations:
    """Correlate many tables at once; shapes that broadcast to ``(..., systems, inputs)``.

    Raises
    ------
    ValueError
        Under the conditions of `level_correlation`.
    """
    people, scores = tables(human, metric)
    rows = _rows(people, scores, level=level, method=method)
    present = ~(np.isnan(people) | np.isnan(scores))
    defined = ~np.isnan(rows.value)
    return LevelCorrelations(
        mean_of_groups(rows.value),
        np.count_nonzero(present, axis=(-2, -1)),
        np.count_nonzero(defined, axis=-1),
        np.count_nonzero(~defined, axis=-1),
    )


def mean_of_groups(values: FloatArray) -> FloatArray:
    """Return the means of the defined correlations, ``(..., groups)`` to ``(...)``."""
    defined = ~np.isnan(values)
    total = np.sum(values, axis=-1, where=defined)
    return safe_divide(total, np.count_nonzero(defined, axis=-1))


def _rows(human: FloatArray, metric: FloatArray, *, level: Level, method: Method) -> Correlations:
    """Return the correlations to be averaged for `level`, shape ``(..., groups)``."""
    if level == "pooled":
        cells = human.shape[-2] * human.shape[-1]
        flat = (table.reshape(*table.shape[:-2], 1, cells) for table in (human, metric))
        return correlations(*flat, method=method)
    if level == "by-input":
        by_input = (np.ascontiguousarray(table.swapaxes(-1, -2)) for table in (human, metric))
        return correlations(*by_input, method=method)
    if level == "system":
        means = (mean[..., np.newaxis, :] for mean in system_means(human, metric))
        return correlations(*means, method=method)
    raise ValueError(f"expected by-input, pooled or system, got {level!r}")
