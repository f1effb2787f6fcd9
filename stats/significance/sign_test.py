"""The sign test: how many scores fall, regardless of the amount."""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, logsumexp

from spanjury.stats.significance.paired import PairedTest, paired


def sign_test(differences: ArrayLike) -> PairedTest:
    """Test whether scores fall by the number of falls among the differences, exactly.

    Parameters
    ----------
    differences
        Clean minus damaged score; shape ``(n,)``, finite, or NaN if a score is missing.
        Differences of zero are skipped.

    Returns
    -------
    PairedTest
        With the number of falls as statistic.

    Raises
    ------
    ValueError
        If a shape or a range is not as above.

    Examples
    --------
    >>> round(sign_test([3, 1, 2, -1]).p, 6)  # 5 of the 16 ways to choose signs
    0.3125
    """
    pairs = paired(differences)
    falls = int(np.count_nonzero(pairs.differences > 0))
    n = int(np.count_nonzero(pairs.differences))
    k = np.arange(falls, n + 1)
    ways = logsumexp(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))
    return pairs.answer(float(ways) - n * math.log(2), statistic=falls)
