"""Tables of people's and a metric's scores of systems' outputs, one column for each input."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from spanjury.stats.arrays import FloatArray, checked_differences, safe_divide

AXES = 2


class Tables(NamedTuple):
    """Scores of the same outputs."""

    human: FloatArray
    metric: FloatArray


def tables(human: ArrayLike, metric: ArrayLike) -> Tables:
    """Return both as validated arrays.

    Raise `ValueError` if their systems or inputs differ, or they lack these axes or contain an
    infinite value.

    Parameters
    ----------
    human, metric
        Shape ``(..., systems, inputs)``; finite, or NaN where a score is missing.
    """
    people, scores = checked_differences(human), checked_differences(metric)
    if min(people.ndim, scores.ndim) < AXES or people.shape[-AXES:] != scores.shape[-AXES:]:
        raise ValueError(
            f"expected tables of the same systems and inputs, got {people.shape}, {scores.shape}"
        )
    return Tables(people, scores)


def paired_tables(human: ArrayLike, metric: ArrayLike) -> Tables:
    """Return one table of each, NaN in both where one is missing; raises like `tables`."""
    people, scores = tables(human, metric)
    if people.ndim != AXES or scores.ndim != AXES:
        raise ValueError(f"expected shapes (systems, inputs), got {people.shape}, {scores.shape}")
    missing = np.isnan(people) | np.isnan(scores)
    return Tables(*(np.where(missing, np.nan, table) for table in (people, scores)))


def system_means(human: ArrayLike, metric: ArrayLike) -> Tables:
    """Return the mean scores of systems, over the inputs with both scores.

    Raise `ValueError` under the conditions of `tables`.

    Parameters
    ----------
    human, metric
        As in `tables`.

    Returns
    -------
    Tables
        Shape ``(..., systems)`` each; NaN for a system without any output with both scores.
    """
    people, scores = tables(human, metric)
    present = ~(np.isnan(people) | np.isnan(scores))
    if present.all():  # then people's means are computed only once for many metrics
        inputs = people.shape[-1]
        return Tables(*(safe_divide(table.sum(axis=-1), inputs) for table in (people, scores)))
    counts = np.count_nonzero(present, axis=-1)
    filled = (np.where(present, table, 0.0) for table in (people, scores))
    return Tables(*(safe_divide(table.sum(axis=-1), counts) for table in filled))
