"""Paired tests: the differences that they take and the result that they return."""

import math
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

_ROUNDING = 1e-6
"""Distance that rounding may take the logarithm of a p-value of 1 above 0."""


class PairedTest(NamedTuple):
    """The result of a test of the hypothesis that damage changes nothing.

    Parameters
    ----------
    log_p
        Natural logarithm of the one-sided p-value that clean scores lie above damaged ones.
        NaN if there is no pair.
    statistic
        The test statistic, in the unit of the test.
    used
        Number of pairs that differ.
    zeros
        Number of pairs that do not differ.
    missing
        Number of pairs that lack a score, and were skipped.
    """

    log_p: float
    statistic: float
    used: int
    zeros: int
    missing: int

    @property
    def p(self) -> float:
        """The p-value; zero where it is too small for a float."""
        return math.exp(self.log_p)


class PairedStatistic(Protocol):
    """A test of the differences, shape ``(n,)``, NaN if one is missing."""

    def __call__(self, differences: ArrayLike, /) -> PairedTest:
        """Test whether scores fall."""
        ...


class Pairs(NamedTuple):
    """The finite differences, and the number of missing ones."""

    differences: NDArray[np.float64]
    missing: int

    def answer(self, log_p: float, *, statistic: float) -> PairedTest:
        """Return the result of a test; p is 1 without any difference, and NaN without a pair.

        Raise `ValueError` if `log_p` is above 0, as a p-value is in place of its logarithm.
        """
        if log_p > _ROUNDING:
            raise ValueError(f"expected the natural logarithm of a p-value, got {log_p!r}")
        used = int(np.count_nonzero(self.differences))
        zeros = self.differences.size - used
        if not used:
            log_p = statistic = 0.0 if zeros else math.nan
        return PairedTest(min(log_p, 0.0), statistic, used, zeros, self.missing)


def paired(differences: ArrayLike) -> Pairs:
    """Skip and count the missing differences.

    Parameters
    ----------
    differences
        Clean minus damaged score; shape ``(n,)``, finite, or NaN if a score is missing.

    Raises
    ------
    ValueError
        If the shape is different, or a difference is infinite.
    """
    values = np.asarray(differences, dtype=np.float64)
    if values.ndim != 1 or np.isinf(values).any():
        raise ValueError(f"expected differences of shape (n,), finite or NaN, got {differences!r}")
    present = values[~np.isnan(values)]
    return Pairs(present, values.size - present.size)
