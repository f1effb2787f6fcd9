"""Agreement on pairs of systems: which of two is better, and how certain that is."""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from spanjury.stats.arrays import FloatArray
from spanjury.stats.correlations.pairwise import NoPairs, PairwiseAccuracy, pairwise_accuracy
from spanjury.stats.correlations.score_tables import paired_tables, system_means
from spanjury.stats.significance.permutation import ROUNDING, random_signs


class SoftPairwiseAccuracy(NamedTuple):
    """Agreement of a metric's certainty in the order of systems with people's."""

    value: float
    """In ``[0, 1]``, or NaN."""
    pairs: int
    """Number of pairs of systems."""
    reason: NoPairs | None
    """Reason why the value is NaN."""


def system_accuracy(human: ArrayLike, metric: ArrayLike) -> PairwiseAccuracy:
    """Return the share of pairs of systems whose means a metric orders like people [1]_.

    Parameters
    ----------
    human, metric
        Shape ``(systems, inputs)``; finite, or NaN where a score is missing. Means are over
        inputs with both scores.

    Raises
    ------
    ValueError
        If a shape or a value is not as above.

    References
    ----------
    .. [1] Kocmi et al. (2021), To Ship or Not to Ship, WMT, arXiv:2107.10821

    Examples
    --------
    >>> round(system_accuracy([[1, 2], [3, 4], [5, 5]], [[2, 2], [1, 1], [9, 9]]).value, 3)
    0.667
    """
    means = system_means(*paired_tables(human, metric))
    return pairwise_accuracy(means.human[:, np.newaxis], means.metric[:, np.newaxis])


def soft_pairwise_accuracy(
    human: ArrayLike, metric: ArrayLike, *, rng: Generator, draws: int = 1000
) -> SoftPairwiseAccuracy:
    """Return how close a metric's certainty in the order of systems is to people's [1]_.

    Parameters
    ----------
    human, metric
        Shape ``(systems, inputs)``; finite, or NaN where a score is missing. Of two systems,
        the inputs with all four scores count.
    rng
        Generator of the signs of the permutation test, which are the same for all pairs.
    draws
        Number of draws, at least 1.

    Returns
    -------
    SoftPairwiseAccuracy
        The mean over pairs of systems of ``1 - abs(p_human - p_metric)``. Each p is that of
        the paired one-sided test that the mean of the first is above that of the second.

    Raises
    ------
    ValueError
        If a shape, a value or a range is not as above.

    Notes
    -----
    Draws equal to the data, and the data themselves, count half: p is 0.5 for equal
    systems, and the order of the systems does not matter.

    References
    ----------
    .. [1] Thompson et al. (2024), Improving Statistical Significance in Human Evaluation of
       Automatic Metrics via Soft Pairwise Accuracy, WMT, arXiv:2409.09598
    """
    both = paired_tables(human, metric)
    rows, columns = np.triu_indices(len(both.human), k=1)
    differences = np.stack([table[rows] - table[columns] for table in both])
    missing = np.isnan(differences[0])
    defined = ~missing.all(axis=-1)
    moves = np.where(missing, 0.0, differences)[:, defined]
    pairs, items = moves.shape[1:]
    p = _mid_p(moves.reshape(2 * pairs, items), rng=rng, draws=draws)
    if pairs == 0:
        return SoftPairwiseAccuracy(np.nan, 0, "no pairs")
    apart = np.abs(p[:pairs] - p[pairs:])
    return SoftPairwiseAccuracy(float(1 - apart.mean()), pairs, None)


def _mid_p(differences: FloatArray, *, rng: Generator, draws: int) -> FloatArray:
    """Return, for each row, the share of sums under random signs above its own sum."""
    observed = differences.sum(axis=-1)
    noise = ROUNDING * np.abs(differences).sum(axis=-1)
    above = np.full(len(differences), 0.5)
    for signs in random_signs(rng, draws, items=differences.shape[-1]):
        excess = signs @ differences.T - observed
        above += np.count_nonzero(excess > noise, axis=0)
        above += np.count_nonzero(np.abs(excess) <= noise, axis=0) / 2
    return above / (draws + 1)
