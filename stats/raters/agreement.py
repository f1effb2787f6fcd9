"""Agreement of raters with one another, corrected for chance agreement.

Ratings are numbers, or NaN if missing. Distances between them are those of the numbers, so that a
step of a scale that no rater used still counts.
"""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from spanjury.stats.arrays import FloatArray, checked_differences, one_axis

AlphaLevel = Literal["interval", "nominal", "ordinal"]
KappaWeights = Literal["linear", "quadratic", "unweighted"]
NoAgreement = Literal[
    "all ratings alike", "no unit with two ratings", "units with other numbers of ratings"
]


class Agreement(NamedTuple):
    """A coefficient: 1 for perfect agreement, 0 for chance agreement, negative for less."""

    value: float
    """At most 1, or NaN."""
    units: int
    """Number of units that were used."""
    reason: NoAgreement | None
    """Reason why the value is NaN."""


class _Counts(NamedTuple):
    """Units rated by at least two raters."""

    ratings: FloatArray
    """Shape ``(k,)``, the distinct ratings, ascending."""
    table: FloatArray
    """Shape ``(units, k)``: number of raters that gave each."""


def cohen_kappa(
    first: ArrayLike, second: ArrayLike, *, weights: KappaWeights = "unweighted"
) -> Agreement:
    """Return Cohen's kappa of two raters [1]_, [2]_.

    Parameters
    ----------
    first, second
        Shape ``(units,)`` each; finite, or NaN where missing. Units without both ratings are
        skipped.
    weights
        Weight of a disagreement: the same for all, or the distance or its square.

    Returns
    -------
    Agreement
        1 minus the ratio of the disagreement to that expected from each rater's frequencies.

    Raises
    ------
    ValueError
        If a shape or a value is not as above, or the weights are unknown.

    References
    ----------
    .. [1] Cohen (1960), Educational and Psychological Measurement 20(1):37-46,
       doi:10.1177/001316446002000104
    .. [2] Cohen (1968), Psychological Bulletin 70(4):213-220, doi:10.1037/h0026256

    Examples
    --------
    >>> cohen_kappa([1, 1, 2, 2], [1, 1, 2, 1]).value
    0.5
    """
    if weights not in {"linear", "quadratic", "unweighted"}:
        raise ValueError(f"expected linear, quadratic or unweighted, got {weights!r}")
    left, right = one_axis(first), one_axis(second)
    if left.shape != right.shape:
        raise ValueError(f"expected as many ratings of both, got {left.size} and {right.size}")
    both = np.stack([left, right])[:, ~np.isnan(left + right)]
    ratings, where = np.unique(both, return_inverse=True)
    apart = np.abs(ratings[:, np.newaxis] - ratings)
    power = {"linear": 1, "quadratic": 2, "unweighted": 0}[weights]
    distances = np.where(apart > 0, apart**power, 0.0)
    rows, columns = where.reshape(both.shape)
    habits = [np.bincount(part, minlength=ratings.size) for part in (rows, columns)]
    expected = float(habits[0] @ distances @ habits[1])
    observed = float(distances[rows, columns].sum()) * rows.size
    return _agreement(observed, expected, units=rows.size)


def fleiss_kappa(ratings: ArrayLike) -> Agreement:
    """Return Fleiss' kappa of several raters, possibly different ones for each unit [1]_.

    Parameters
    ----------
    ratings
        Shape ``(units, raters)``; finite, or NaN where missing.

    Returns
    -------
    Agreement
        NaN unless every unit has the same number of ratings, two or more, which
        `krippendorff_alpha` does not require.

    Raises
    ------
    ValueError
        If a shape or a value is not as above.

    References
    ----------
    .. [1] Fleiss (1971), Psychological Bulletin 76(5):378-382, doi:10.1037/h0031619
    """
    values = _units_by_raters(ratings)
    given = np.count_nonzero(~np.isnan(values), axis=1)
    if np.unique(given).size > 1:
        return Agreement(np.nan, len(values), "units with other numbers of ratings")
    table = _counts(values).table
    if not table.size:
        return Agreement(np.nan, 0, "no unit with two ratings")
    raters = int(given[0])
    agreeing = np.sum(table * (table - 1), axis=1) / (raters * (raters - 1))
    shares = table.sum(axis=0) / table.sum()
    return _agreement(1 - float(agreeing.mean()), 1 - float(shares @ shares), units=len(table))


def krippendorff_alpha(ratings: ArrayLike, *, level: AlphaLevel = "ordinal") -> Agreement:
    """Return Krippendorff's alpha of any number of raters [1]_, [2]_.

    Parameters
    ----------
    ratings
        Shape ``(units, raters)``; finite, or NaN where missing. Units with fewer than two
        ratings are skipped.
    level
        The meaning of ratings: names, ranks or distances.

    Raises
    ------
    ValueError
        If a shape or a value is not as above, or the level is unknown.

    References
    ----------
    .. [1] Krippendorff (2011), Computing Krippendorff's Alpha-Reliability,
       https://repository.upenn.edu/handle/20.500.14332/2089
    .. [2] Hayes, Krippendorff (2007), Communication Methods and Measures 1(1):77-89,
       doi:10.1080/19312450709336664

    Examples
    --------
    >>> round(krippendorff_alpha([[1, 1], [2, 2], [3, 4], [3, np.nan]]).value, 3)
    0.949
    """
    if level not in {"interval", "nominal", "ordinal"}:
        raise ValueError(f"expected interval, nominal or ordinal, got {level!r}")
    counts = _counts(_units_by_raters(ratings))
    table = counts.table
    totals = table.sum(axis=0)
    # [1] The pairs of ratings of a unit have a total weight of its number of ratings.
    shares = table / (table.sum(axis=1, keepdims=True) - 1)
    coincidences = shares.T @ table - np.diag(shares.sum(axis=0))
    distances = _distances(counts.ratings, totals, level=level)
    expected = float(totals @ distances @ totals)  # the distance of equal ratings is 0
    observed = float(np.sum(coincidences * distances)) * (float(totals.sum()) - 1)
    return _agreement(observed, expected, units=len(table))


def _distances(ratings: FloatArray, totals: FloatArray, *, level: AlphaLevel) -> FloatArray:
    """Return the squared distances between ratings that were given `totals` times, [1] eq. D."""
    if level == "nominal":
        return 1 - np.eye(ratings.size)
    positions = ratings if level == "interval" else np.cumsum(totals) - totals / 2
    apart: FloatArray = (positions[:, np.newaxis] - positions) ** 2
    return apart


def _counts(values: FloatArray) -> _Counts:
    """Count the ratings of each unit with two or more."""
    kept = values[np.count_nonzero(~np.isnan(values), axis=1) > 1]
    present = ~np.isnan(kept)
    ratings, where = np.unique(kept[present], return_inverse=True)
    table = np.zeros((len(kept), ratings.size))
    np.add.at(table, (np.nonzero(present)[0], where), 1.0)
    return _Counts(ratings, table)


def _units_by_raters(ratings: ArrayLike) -> FloatArray:
    values = checked_differences(ratings)
    if values.ndim != 2:  # noqa: PLR2004 - units, raters
        raise ValueError(f"expected ratings of shape (units, raters), got {values.shape}")
    return values


def _agreement(observed: float, expected: float, *, units: int) -> Agreement:
    if units == 0:
        return Agreement(np.nan, 0, "no unit with two ratings")
    if expected <= 0:
        return Agreement(np.nan, units, "all ratings alike")
    return Agreement(1 - observed / expected, units, None)
