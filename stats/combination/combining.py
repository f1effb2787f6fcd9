"""Further ways to make one p-value of several; all take and give natural logarithms.

Each is ``combine(log_p, *, weights=None)``: logarithms of ``m`` p-values, shape ``(..., m)``,
and ``m`` weights, not negative, sum 1, equal if None; the answer has the shape ``(...)``. What
has no weight is left out. Where a p-value with a weight is NaN, the answer is. A shape or a
range that is not so raises ``ValueError``.
"""

import math
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, log_ndtr, logsumexp, ndtri_exp, xlogy

ROUNDING = 1e-9


class WeightedValues(NamedTuple):
    """The p-values that have a weight.

    Parameters
    ----------
    log_p
        Shape ``(..., m)``, of logarithms.
    weights
        Shape ``(m,)``, positive, sum 1.
    """

    log_p: NDArray[np.float64]
    weights: NDArray[np.float64]


def checked_log_p(log_p: ArrayLike) -> NDArray[np.float64]:
    """Return logarithms of p-values, of any shape, as an array.

    Raises
    ------
    ValueError
        If one is above zero or minus infinity; NaN may be.
    """
    values = np.asarray(log_p, dtype=np.float64)
    if (values > 0).any() or np.isinf(values).any():
        raise ValueError(f"expected logarithms of p-values in (0, 1], got {log_p!r}")
    return values


def checked_weights(weights: ArrayLike | None, *, count: int) -> NDArray[np.float64]:
    """Return `count` weights as an array; equal ones if None.

    Raises
    ------
    ValueError
        If the shape is not ``(count,)``, one is negative, or their sum is not 1.
    """
    if weights is None:
        return np.full(count, 1 / count)
    values = np.asarray(weights, dtype=np.float64)
    # NaN fails both comparisons, and an infinity the second.
    valid = values.shape == (count,) and bool((values >= 0).all())
    if not valid or not abs(values.sum() - 1) < ROUNDING:
        raise ValueError(f"expected {count} weights >= 0 that sum to 1, got {weights!r}")
    return values


def weighted_values(log_p: ArrayLike, *, weights: ArrayLike | None) -> WeightedValues:
    """Check both, and leave out what has no weight.

    Raises
    ------
    ValueError
        As `checked_log_p` and `checked_weights` do, and if there is no p-value to combine.
    """
    values = checked_log_p(log_p)
    if not values.ndim or not values.shape[-1]:
        raise ValueError(f"expected p-values of shape (..., m), m >= 1, got {log_p!r}")
    shares = checked_weights(weights, count=values.shape[-1])
    return WeightedValues(values[..., shares > 0], shares[shares > 0])


LOG_CAP = math.log(0.99)
LOG_TINY = -30.0
"""Below this the cotangent of pi p is 1 / (pi p) to the last digit."""


class Combination(Protocol):
    """One p-value of several, as the module says."""

    def __call__(
        self, log_p: ArrayLike, /, *, weights: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """Return the logarithm of the combined p-value."""
        ...


def bonferroni(log_p: ArrayLike, *, weights: ArrayLike | None = None) -> NDArray[np.float64]:
    """Take the least of ``p / w``, at most 1; holds under any dependence."""
    values, shares = weighted_values(log_p, weights=weights)
    return np.asarray(np.minimum((values - np.log(shares)).min(axis=-1), 0.0))


def minimum(log_p: ArrayLike, *, weights: ArrayLike | None = None) -> NDArray[np.float64]:
    """Take the least p-value of those with a weight: the aspect that shows most.

    It is no p-value of the whole, since it was picked from several: `bonferroni` is.
    """
    return np.asarray(weighted_values(log_p, weights=weights).log_p.min(axis=-1))


def maximum(log_p: ArrayLike, *, weights: ArrayLike | None = None) -> NDArray[np.float64]:
    """Take the greatest p-value of those with a weight: that every score falls.

    This is the p-value of the intersection-union test [1]_; it holds under any dependence.
    Its D is the least D.

    References
    ----------
    .. [1] Berger (1982), Technometrics 24(4):295-300, doi:10.1080/00401706.1982.10487790
    """
    return np.asarray(weighted_values(log_p, weights=weights).log_p.max(axis=-1))


def fisher(log_p: ArrayLike, *, weights: ArrayLike | None = None) -> NDArray[np.float64]:
    """Combine independent p-values by their product; dependent ones look far too small.

    Weights choose only: those with one count alike.

    References
    ----------
    .. [1] Fisher (1932), Statistical Methods for Research Workers, 4th ed., section 21.1
    """
    values = weighted_values(log_p, weights=weights).log_p
    total = -values.sum(axis=-1)[..., np.newaxis]
    # The tail of chi-squared with 2 m degrees of freedom is a Poisson sum of m terms.
    k = np.arange(values.shape[-1])
    terms = xlogy(k, total) - gammaln(k + 1)
    return np.asarray(np.minimum(logsumexp(terms, axis=-1) - total[..., 0], 0.0))


def stouffer(log_p: ArrayLike, *, weights: ArrayLike | None = None) -> NDArray[np.float64]:
    """Combine independent p-values by their weighted normal scores; not for dependent ones.

    A p-value of 1 outweighs everything else.

    References
    ----------
    .. [1] Stouffer et al. (1949), The American Soldier, vol. 1, page 45
    """
    values, shares = weighted_values(log_p, weights=weights)
    scores = ndtri_exp(values) @ shares / np.sqrt(shares @ shares)
    return np.asarray(log_ndtr(scores))


def cauchy(log_p: ArrayLike, *, weights: ArrayLike | None = None) -> NDArray[np.float64]:
    """Combine dependent p-values by their weighted Cauchy scores [1]_.

    P-values above .99 count as .99 [2]_: otherwise a single one of 1, which is what an
    aspect gives on which nothing moved, would outweigh everything else.

    References
    ----------
    .. [1] Liu, Xie (2020), JASA 115(529):393-402, doi:10.1080/01621459.2018.1554485
    .. [2] Fang, Chang, Park, Tseng (2023), Statistica Sinica 33, arXiv:2103.12967
    """
    values, shares = weighted_values(log_p, weights=weights)
    values = np.minimum(values, LOG_CAP)
    # Everything is divided by 1 / (least p), so that nothing overflows.
    log_least = values.min(axis=-1)
    unit = np.exp(log_least)
    tiny = np.exp(log_least[..., np.newaxis] - values) / np.pi
    plain = unit[..., np.newaxis] / np.tan(np.pi * np.exp(np.maximum(values, LOG_TINY)))
    mean = np.where(values < LOG_TINY, tiny, plain) @ shares
    far = (log_least < LOG_TINY) & (mean > 0)  # where an angle is as long as its tangent
    ratio = np.where(far, 1 / np.where(far, mean, 1), np.arctan2(unit, mean))
    return np.asarray(np.log(ratio / np.pi) + np.where(far, log_least, 0))
