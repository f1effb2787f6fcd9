"""The exact signed-rank test: all signs of the differences, given their sizes.

Also the default test: this one if it is fast enough, else the approximation.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spanjury.stats.significance.paired import PairedTest, paired
from spanjury.stats.significance.signed_rank import Zeros, signed_rank, signed_ranks

MOST_DIFFERENCES = 1000
"""Maximum number; with more differences the smallest p-value, 2^-n, would underflow."""

MOST_EXACT = 500
"""Maximum number for the exact test; above it the approximation is close, and much faster."""


def sign_flip(differences: ArrayLike, *, zeros: Zeros = "wilcox") -> PairedTest:
    """Test whether scores fall by the exact conditional signed-rank test.

    If damage changes nothing, each difference could equally have had the opposite sign. All
    ``2^m`` choices of signs are counted by dynamic programming over doubled midranks [1]_,
    so that ties are exact, too.

    Parameters
    ----------
    differences
        Clean minus damaged score; shape ``(n,)``, finite, or NaN if a score is missing;
        at most `MOST_DIFFERENCES` of them nonzero. For repeated scores pass integer sums:
        rounding errors of float means break ties.
    zeros
        Whether differences of zero are skipped before ranking (``wilcox``) or after; ``pratt``
        and ``zsplit`` are the same here.

    Returns
    -------
    PairedTest
        With the sum of the ranks of the falls as statistic.

    Raises
    ------
    ValueError
        If a shape, a range or `zeros` is not as above.

    References
    ----------
    .. [1] Streitberg, Roehmel (1986), Statistical Software Newsletter 12(1):10-17

    Examples
    --------
    >>> round(sign_flip([1, 1, 1, 0, None]).p, 6)
    0.125
    """
    pairs = paired(differences)
    ranks, signs = signed_ranks(pairs, zeros=zeros)
    if not ranks.size:
        return pairs.answer(0.0, statistic=0.0)
    if ranks.size > MOST_DIFFERENCES:
        raise ValueError(
            f"expected at most {MOST_DIFFERENCES} differences, got {ranks.size}: use signed_rank"
        )
    doubled = np.rint(2 * ranks).astype(np.int64)
    falls = int(doubled[signs > 0].sum())
    return pairs.answer(math.log(_tail(doubled, falls)), statistic=falls / 2)


def paired_test(differences: ArrayLike) -> PairedTest:
    """Test whether scores fall: exactly up to `MOST_EXACT` differences, then approximately.

    Parameters
    ----------
    differences
        Clean minus damaged score; shape ``(n,)``, finite, or NaN if a score is missing.

    Raises
    ------
    ValueError
        If a shape or a range is not as above.

    See Also
    --------
    sign_flip, signed_rank : the two tests.
    """
    if np.count_nonzero(paired(differences).differences) <= MOST_EXACT:
        return sign_flip(differences)
    return signed_rank(differences)


def _tail(ranks: NDArray[np.int64], reached: int) -> float:
    """Return the probability that ranks chosen by fair coins sum to `reached` or more."""
    step = int(np.gcd.reduce(ranks))
    mass = np.zeros(int(ranks.sum()) // step + 1)
    mass[0] = 1
    size = 1
    # All terms are positive, so the relative error is at most a few roundings for each rank.
    for rank in np.sort(ranks // step).tolist():
        mass[rank : size + rank] += mass[:size].copy()
        size += rank
        mass[:size] /= 2
    return float(mass[reached // step :].sum())
