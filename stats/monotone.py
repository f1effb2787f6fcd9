"""Functions that never rise, or never fall, fitted to arbitrary data.

The fits return the least-squares function among the monotone ones: it is flat wherever the data
contradict the direction.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import isotonic_regression, nnls

from spanjury.stats.arrays import FloatArray


class DecreasingFit(NamedTuple):
    """A function that never rises, at the observed points."""

    knots: FloatArray
    """Shape ``(k,)``, ascending, distinct."""
    values: FloatArray
    """Shape ``(k,)``, never rising."""


class IncreasingFit(NamedTuple):
    """A function that never falls, at the observed points."""

    knots: FloatArray
    """Shape ``(k,)``, ascending, distinct."""
    values: FloatArray
    """Shape ``(k,)``, never falling."""


class DecreasingSteps(NamedTuple):
    """``best - x @ steps``: it never rises in any column of `x`."""

    best: float
    """The value if every column is 0."""
    steps: FloatArray
    """Shape ``(columns,)``, none negative."""


def decreasing_fit(x: ArrayLike, y: ArrayLike) -> DecreasingFit:
    """Fit the function of `x` that never rises and is closest to `y`.

    Parameters
    ----------
    x, y
        Shape ``(n,)``, ``n >= 1``, finite. Equal `x` form one point, with the mean of their
        `y`, weighted by their number.

    Returns
    -------
    DecreasingFit
        By pooling adjacent violators [1]_.

    Raises
    ------
    ValueError
        If a shape or a value is not as above.

    References
    ----------
    .. [1] Barlow, Bartholomew, Bremner, Brunk (1972), Statistical Inference under Order
       Restrictions, section 1.2

    Examples
    --------
    >>> decreasing_fit([0, 1, 2, 3], [5, 2, 4, 1]).values.tolist()
    [5.0, 3.0, 3.0, 1.0]
    """
    xs, values = _finite("x", x, dimensions=1), _finite("y", y, dimensions=1)
    _same_length(xs, values)
    knots, where, weights = np.unique(xs, return_inverse=True, return_counts=True)
    means = np.bincount(where, weights=values) / weights
    fitted = isotonic_regression(means, weights=weights, increasing=False).x
    # The means of pooled blocks may miss each other's order by a rounding error.
    return DecreasingFit(knots, np.minimum.accumulate(fitted))


def increasing_fit(x: ArrayLike, y: ArrayLike, *, weights: ArrayLike = 1.0) -> IncreasingFit:
    """Fit the function of `x` that never falls and is closest to `y`.

    Parameters
    ----------
    x, y
        As in `decreasing_fit`.
    weights
        Weights of the squares, above 0; shape ``(n,)``, or one for all.

    Raises
    ------
    ValueError
        If a shape or a value is not as above.

    Examples
    --------
    >>> increasing_fit([0, 1, 2, 3], [1, 4, 2, 5], weights=[1, 3, 1, 1]).values.tolist()
    [1.0, 3.5, 3.5, 5.0]
    """
    xs, values = _finite("x", x, dimensions=1), _finite("y", y, dimensions=1)
    _same_length(xs, values)
    counts = _finite("weights", np.broadcast_to(weights, xs.shape), dimensions=1)
    if not (counts > 0).all():
        raise ValueError(f"expected weights above 0, got {counts.min()}")
    knots, where = np.unique(xs, return_inverse=True)
    totals = np.bincount(where, weights=counts)
    means = np.bincount(where, weights=counts * values) / totals
    fitted = isotonic_regression(means, weights=totals).x
    # The means of pooled blocks may miss each other's order by a rounding error.
    return IncreasingFit(knots, np.maximum.accumulate(fitted))


def centred_fit(x: ArrayLike, y: ArrayLike, *, weights: ArrayLike = 1.0) -> IncreasingFit:
    """Fit like `increasing_fit`, and keep only the centre of each flat stretch [1]_.

    Straight lines between the centres rise strictly, so that the fit has no ties between the
    first and the last centre, and is closer to a rising function than a fit with steps.

    Parameters
    ----------
    x, y, weights
        As in `increasing_fit`.

    Raises
    ------
    ValueError
        If a shape or a value is not as above.

    References
    ----------
    .. [1] Oron, Flournoy (2017), Centered Isotonic Regression, Statistics in Biopharmaceutical
       Research 9(3):258-267, doi:10.1080/19466315.2017.1286256

    Examples
    --------
    >>> fit = centred_fit([0, 1, 2, 3], [1, 4, 2, 5])
    >>> fit.knots.tolist(), fit.values.tolist()
    ([0.0, 1.5, 3.0], [1.0, 3.0, 5.0])
    """
    fitted = increasing_fit(x, y, weights=weights)
    xs = np.asarray(x, dtype=np.float64)
    counts = np.broadcast_to(np.asarray(weights, dtype=np.float64), xs.shape)
    values, block = np.unique(fitted.values, return_inverse=True)
    of_items = block[np.searchsorted(fitted.knots, xs)]
    totals = np.bincount(of_items, weights=counts)
    centres = np.bincount(of_items, weights=counts * xs) / totals
    return IncreasingFit(centres, values)


def decreasing_steps(x: ArrayLike, y: ArrayLike) -> DecreasingSteps:
    """Fit ``y = best - x @ steps`` with no negative step.

    With columns that indicate "is at least k", it is an ordinal fit: the steps between the
    levels are estimated from the data, and never have the wrong sign.

    Parameters
    ----------
    x
        Shape ``(n, columns)``, ``n >= 1``, at least one column, finite.
    y
        Shape ``(n,)``, finite.

    Raises
    ------
    ValueError
        If a shape or a value is not as above.

    Examples
    --------
    >>> fit = decreasing_steps([[0, 0], [1, 0], [1, 1]], [5, 4, 1])
    >>> round(fit.best, 9), fit.steps.round(9).tolist()
    (5.0, [1.0, 3.0])
    """
    columns, values = _finite("x", x, dimensions=2), _finite("y", y, dimensions=1)
    _same_length(columns, values)
    centre = columns.mean(axis=0)
    # After subtracting the means, there is no constant to fit, and all unknowns are >= 0.
    steps, _ = nnls(centre - columns, values - values.mean())
    return DecreasingSteps(float(values.mean() + centre @ steps), steps)


def _finite(name: str, numbers: ArrayLike, *, dimensions: int) -> FloatArray:
    array = np.asarray(numbers, dtype=np.float64)
    if array.ndim != dimensions or array.size == 0:
        raise ValueError(f"expected {name} of {dimensions} dimensions, got shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"expected finite {name}, got {array[~np.isfinite(array)][0]}")
    return array


def _same_length(x: FloatArray, y: FloatArray) -> None:
    if len(x) != len(y):
        raise ValueError(f"expected as many x as y, got {len(x)} and {len(y)}")
