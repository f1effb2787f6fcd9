"""Errors of many small estimates, each moderated by the usual error among them.

A few marks that happen to be equal seem to leave no uncertainty. If there are several systems, the
marks of all show how much a mark varies, and each system's error is shrunk towards that. In the
same manner, the error of a difference is shrunk towards those of all pairs of systems.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from spanjury.stats.arrays import checked_share
from spanjury.stats.powered_estimates import PoweredEstimate, student_p

PRIOR_FREEDOM = 4.0
"""Degrees of freedom that the usual variance is weighted with."""


class MarkVariance(NamedTuple):
    """The variance of one mark around the mean of its system, or of those of two systems."""

    powered: float
    """Variance that remains with the help of a judge."""
    plain: float
    freedom: float
    """Degrees of freedom of both."""


def mark_variance(
    estimates: Sequence[PoweredEstimate], sizes: Sequence[float], *, systems: int | None = None
) -> MarkVariance:
    """Return how much a mark varies within its system, over all systems or over all their pairs.

    Parameters
    ----------
    estimates
        A mean of each system, or a difference of each pair of systems.
    sizes
        The effective number of marks of each, as if all were equally probable [1]_; for a
        difference, the reciprocal of the sum of the reciprocals of both.
    systems
        The number of systems if the estimates are differences. Each system is in several pairs, so
        only ``2 / systems`` of their degrees of freedom are independent: if all outputs are marked,
        those of the residuals of a two-way analysis of variance.

    Returns
    -------
    MarkVariance
        Means, weighted by degrees of freedom; NaN if no estimate has two marked clusters.

    References
    ----------
    .. [1] Kish (1965), Survey Sampling, section 11.7: squared sum of the weights over the sum of
       their squares

    Examples
    --------
    >>> from spanjury.stats import powered_mean
    >>> means = [powered_mean([1.0, 3.0], [0, 0]), powered_mean([5.0, 5.0], [0, 0])]
    >>> mark_variance(means, [2, 2]).plain
    1.0
    """
    groups = [
        (estimate.clusters - 1, estimate.error**2 * size, estimate.plain_error**2 * size)
        for estimate, size in zip(estimates, sizes, strict=True)
        if estimate.clusters > 1
    ]
    freedom = sum(freedom_of for freedom_of, _, _ in groups)
    if not freedom:
        return MarkVariance(np.nan, np.nan, freedom=0.0)
    return MarkVariance(
        sum(own * powered for own, powered, _ in groups) / freedom,
        sum(own * plain for own, _, plain in groups) / freedom,
        freedom=freedom * (2 / systems if systems else 1.0),
    )


def moderated(
    estimate: PoweredEstimate,
    *,
    variance: MarkVariance,
    size: float,
    confidence: float = 0.95,
) -> PoweredEstimate:
    """Return an estimate whose error is shrunk towards the usual one [1]_.

    Parameters
    ----------
    estimate
        A mean or a difference, with a given tuning.
    variance
        From `mark_variance` of such estimates: that of means does not suit a difference, whose
        error also depends on how the outputs for an input are correlated.
    size
        The number of marks, as in `mark_variance`.
    confidence
        Level of the interval, in ``(0, 1)``.

    Returns
    -------
    PoweredEstimate
        With Student's intervals, with `PRIOR_FREEDOM` additional degrees of freedom, up to those of
        the usual variance, as in limma [2]_. Marks in one cluster have the usual error. A
        difference of the only two systems keeps its own. NaN without marks, or without a usual
        variance.

    Notes
    -----
    On SummEval's consistency, where nine of ten marks are the best score, 62 of 100 intervals of
    95 % around a system's mean of ten marks contained the true value, but 97 after moderation; for
    differences, 81 and 95.

    References
    ----------
    .. [1] Smyth (2004), Statistical Applications in Genetics and Molecular Biology 3(1):3,
       doi:10.2202/1544-6115.1027, with a prior that is fixed and not fitted
    .. [2] Ritchie et al. (2015), Nucleic Acids Research 43(7):e47, doi:10.1093/nar/gkv007

    Examples
    --------
    >>> from spanjury.stats import powered_mean
    >>> means = [powered_mean([1.0, 3.0], [0, 0]), powered_mean([5.0, 5.0], [0, 0])]
    >>> usual = mark_variance(means, [2, 2])
    >>> round(moderated(means[1], variance=usual, size=2).error, 3)
    0.632
    """
    checked_share("confidence", confidence)
    if not size > 0:
        return estimate._replace(low=np.nan, high=np.nan, error=np.nan, p=np.nan)
    own = max(0, estimate.clusters - 1)
    freedom = min(own + PRIOR_FREEDOM, variance.freedom)
    error = _drawn(estimate.error, variance.powered / size, own=own)
    plain = _drawn(estimate.plain_error, variance.plain / size, own=own)
    reach = float(stdtrit(freedom, (1 + confidence) / 2))
    return estimate._replace(
        low=estimate.value - reach * error,
        high=estimate.value + reach * error,
        error=error,
        p=student_p(estimate.value, error, freedom=freedom),
        plain_low=estimate.plain - reach * plain,
        plain_high=estimate.plain + reach * plain,
        plain_error=plain,
        effective_marks=estimate.marked * (plain / error) ** 2 if error else np.inf,
    )


def _drawn(error: float, usual: float, *, own: int) -> float:
    """Return the error whose square is the weighted mean of the squares of both."""
    square = own * error**2 if own else 0.0
    return float(np.sqrt((square + PRIOR_FREEDOM * usual) / (own + PRIOR_FREEDOM)))
