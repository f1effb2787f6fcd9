"""Validation of p-values and weights to be combined; natural logarithms in and out.

A combination is ``combine(log_p, *, weights=None)``: logarithms of ``m`` p-values, shape
``(..., m)``, and ``m`` weights, nonnegative, sum 1, equal if None; the result has the shape
``(...)``. P-values of weight 0 are ignored. If a p-value with nonzero weight is NaN, so is the
result. Any other shape or range raises ``ValueError``.
"""

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

ROUNDING = 1e-9


class WeightedValues(NamedTuple):
    """The p-values with nonzero weight.

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

    Raises `ValueError` if one is positive or minus infinity; NaN is allowed.
    """
    values = np.asarray(log_p, dtype=np.float64)
    if (values > 0).any() or np.isinf(values).any():
        raise ValueError(f"expected logarithms of p-values in (0, 1], got {log_p!r}")
    return values


def checked_weights(weights: ArrayLike | None, *, count: int) -> NDArray[np.float64]:
    """Return `count` weights as an array; equal ones if None.

    Raises `ValueError` if the shape is not ``(count,)``, one is negative, or their sum is not 1.
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
    """Validate both, and omit p-values of weight 0.

    Raise `ValueError` under the conditions of `checked_log_p` and `checked_weights`, or without a
    p-value.
    """
    values = checked_log_p(log_p)
    if not values.ndim or not values.shape[-1]:
        raise ValueError(f"expected p-values of shape (..., m), m >= 1, got {log_p!r}")
    shares = checked_weights(weights, count=values.shape[-1])
    return WeightedValues(values[..., shares > 0], shares[shares > 0])


class Combination(Protocol):
    """A combination of several p-values, as in the docstring of the module."""

    def __call__(
        self, log_p: ArrayLike, /, *, weights: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """Return the logarithm of the combined p-value."""
        ...
