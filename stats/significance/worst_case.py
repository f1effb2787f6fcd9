"""What a test says at worst of the pairs that are missing."""

import numpy as np
from numpy.typing import ArrayLike

from spanjury.stats.significance.paired import PairedStatistic, PairedTest
from spanjury.stats.significance.sign_flip import paired_test

__all__ = ["worst_case"]


def worst_case(
    differences: ArrayLike, *, worst: float, test: PairedStatistic = paired_test
) -> PairedTest:
    """Test as if every missing pair spoke against the judge.

    If a judge fails more often on damaged texts, leaving those pairs out may flatter it; what
    is still clear here does not depend on them. By `sign_test` no other scores would give a
    larger p-value; by tests on ranks some may, by a tenth or so of it, since they tie otherwise.

    Parameters
    ----------
    differences
        Clean minus damaged score; shape ``(n,)``, finite, or NaN where a score is missing.
    worst
        The drop to assume for those: the largest rise that the scale allows, -4 from 1 to 5.
    test
        What to ask.

    Raises
    ------
    ValueError
        If a shape or a range is not as above, or `worst` not negative.

    Examples
    --------
    >>> told = [1, 1, 1, 1, 1, None]
    >>> round(paired_test(told).p, 3), round(worst_case(told, worst=-4).p, 3)
    (0.031, 0.266)
    """
    if not -np.inf < worst < 0:
        raise ValueError(f"expected a finite drop below zero as the worst, got {worst!r}")
    values = np.asarray(differences, dtype=np.float64)
    return test(np.where(np.isnan(values), worst, values))
