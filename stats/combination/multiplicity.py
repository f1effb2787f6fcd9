"""P-values adjusted for their number; natural logarithms in and out."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spanjury.stats.combination.combining import checked_log_p


def holm(log_p: ArrayLike) -> NDArray[np.float64]:
    """Adjust p-values to control the probability of any false discovery.

    Parameters
    ----------
    log_p
        Natural logarithms of the p-values; shape ``(n,)``. NaN stays NaN, and is not
        counted.

    Returns
    -------
    array
        Shape ``(n,)``, of logarithms; valid under any dependence.

    Raises
    ------
    ValueError
        If a shape or a range is not as above.

    References
    ----------
    .. [1] Holm (1979), Scandinavian Journal of Statistics 6(2):65-70

    Examples
    --------
    >>> np.exp(holm(np.log([0.01, 0.04, 0.03]))).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    values = checked_log_p(log_p)
    if values.ndim != 1:
        raise ValueError(f"expected p-values of shape (n,), got {values.shape}")
    order = np.argsort(values, kind="stable")[: np.count_nonzero(~np.isnan(values))]  # NaN is last
    left = np.arange(order.size, 0, -1)
    adjusted = np.full(values.shape, np.nan)
    adjusted[order] = np.minimum(np.maximum.accumulate(values[order] + np.log(left)), 0.0)
    return adjusted
