"""Means of people's scores over many items, few marked by people and all by a judge.

The judge's mean over all items is corrected by its mean error on those that people marked. So the
estimate is unbiased however bad the judge is, and the better it is, the narrower the interval.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtrit

from spanjury.stats.arrays import (
    FloatArray,
    checked_differences,
    checked_share,
    cluster_numbers,
    safe_divide,
)
from spanjury.stats.powered_estimates import Parts, PoweredEstimate, common_tuning, tuned_estimate


def powered_mean(
    people: ArrayLike,
    judged: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    tuning: float | None = None,
    confidence: float = 0.95,
) -> PoweredEstimate:
    """Estimate the mean that people would give by prediction-powered inference [1]_.

    The weight of the judge is tuned for the least error [2]_: a judge on another scale does no
    harm, and an uninformative one gets a tuning near 0.

    Parameters
    ----------
    people
        Shape ``(items,)``; finite, or NaN for items without a mark. The marked ones are
        drawn with equal probability, or with probabilities that `weights` correct for.
    judged
        Shape ``(items,)``; finite. An item that is NaN is skipped, whether marked or not.
    weights
        Shape ``(items,)``; the reciprocal of the probability that an item was marked, or
        something proportional to it: finite and above 0 for marked items, ignored for others.
    clusters
        Shape ``(items,)``; labels of correlated items, such as outputs for one input.
    tuning
        A tuning chosen from much more than these marks, such as by `powered_tuning`; None for
        the one of least error here.
    confidence
        Level of the interval, in ``(0, 1)``.

    Returns
    -------
    PoweredEstimate
        For items like these. Its interval is Student's, from the variation of the linearized
        estimate between clusters [3]_, with a degree of freedom less for the tuning. With marks
        in fewer than three clusters, it is that of people alone. NaN without a mark.

    Raises
    ------
    ValueError
        If a shape, a value or a range is not as above.

    Notes
    -----
    The tuning is chosen from the same marks. In simulations on a skewed scale, 93 of 100 intervals
    of 95 % contained the mean with ten marks and 94 with thirty, compared to 92 and 93 for people
    alone. With forty marks and probabilities that differ tenfold, it was 92 compared to 93.

    References
    ----------
    .. [1] Angelopoulos, Bates, Fannjiang, Jordan, Zrnic (2023), Science 382(6671):669-674,
       arXiv:2301.09633
    .. [2] Angelopoulos, Duchi, Zrnic (2023), PPI++: Efficient Prediction-Powered Inference,
       arXiv:2311.01453, section 6
    .. [3] MacKinnon, White (1985), Journal of Econometrics 29(3):305-325: their HC3

    Examples
    --------
    >>> marks = [1, 2, 3, 4] + [np.nan] * 4
    >>> found = powered_mean(marks, [1.1, 2, 2.9, 4, 3, 4, 5, 4])
    >>> round(found.plain, 2), round(found.value, 2), round(found.tuning, 2)
    (2.5, 3.15, 0.86)
    """
    scores = np.stack(_pair(people, judged))[:, np.newaxis]
    if scores.ndim != 3:  # noqa: PLR2004 - people and judge, one row, items
        raise ValueError(f"expected one axis, of items, got the shape {np.shape(judged)}")
    parts = _all_parts(scores, weights=weights, clusters=clusters)
    return tuned_estimate(
        parts[0], confidence=checked_share("confidence", confidence), given=tuning
    )


def powered_difference(
    people: ArrayLike,
    judged: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    tuning: float | None = None,
    confidence: float = 0.95,
) -> PoweredEstimate:
    """Estimate the difference of people's means of two systems on the same inputs.

    Parameters
    ----------
    people, judged
        Shape ``(2, inputs)``: the first system and the second; otherwise as in `powered_mean`.
        People need not have marked both outputs for an input.
    weights
        Shape ``(2, inputs)`` or ``(inputs,)``; as in `powered_mean`.
    clusters
        Shape ``(inputs,)``; if None, each input is one, so that systems are compared in pairs.
    tuning, confidence
        As in `powered_mean`.

    Returns
    -------
    PoweredEstimate
        Marks and items are counted in outputs. Both systems have the same tuning, that of least
        error of the difference: it is one judge on one scale, few marks support one slope better
        than two, and the best tunings of the means are not the best for their difference. The
        estimate is unbiased even if the judge favours a system.

    Raises
    ------
    ValueError
        If a shape, a value or a range is not as above.

    Examples
    --------
    >>> marks = [[3, 4, 5, 4, np.nan], [2, 4, 3, 3, np.nan]]
    >>> found = powered_difference(marks, [[3, 4, 5, 4, 4], [2, 4, 3, 3, 1]])
    >>> round(found.plain, 2), round(found.value, 2)
    (1.0, 1.08)
    """
    scores = np.stack(_pair(people, judged))
    if scores.ndim != 3 or scores.shape[1] != 2:  # noqa: PLR2004 - people and judge, two rows, inputs
        raise ValueError(f"expected shape (2, inputs), got {np.shape(judged)}")
    left, right = _all_parts(scores, weights=weights, clusters=clusters)
    parts = Parts(
        left.plain - right.plain,
        left.gap - right.gap,
        left.people - right.people,
        left.judge - right.judge,
        left.whole - right.whole,
        np.maximum(left.share, right.share),
        marked=left.marked + right.marked,
        items=left.items + right.items,
        clusters=min(left.clusters, right.clusters),
    )
    return tuned_estimate(parts, confidence=checked_share("confidence", confidence), given=tuning)


def powered_tuning(
    people: ArrayLike,
    judged: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
) -> float:
    """Return the tuning with the least total error of the means of several systems.

    A few marks of a system do not suffice for a separate slope. The slope with the least error
    over all means [1]_ is more stable, and each mean is unbiased whatever the tuning is.

    Parameters
    ----------
    people, judged
        Shape ``(systems, inputs)``; otherwise as in `powered_mean`.
    weights
        Shape ``(systems, inputs)`` or ``(inputs,)``; as in `powered_mean`.
    clusters
        Shape ``(inputs,)``; as in `powered_mean`.

    Returns
    -------
    float
        Weight of a point of the judge in people's points; 0 without marks, or for a judge that
        is uninformative on these items.

    Raises
    ------
    ValueError
        If a shape, a value or a range is not as above.

    References
    ----------
    .. [1] Angelopoulos, Duchi, Zrnic (2023), PPI++: Efficient Prediction-Powered Inference,
       arXiv:2311.01453, section 6

    Examples
    --------
    >>> marks = [[1, 2, 3, *[np.nan] * 6], [4, 5, 6, *[np.nan] * 6]]
    >>> round(powered_tuning(marks, [[2, 4, 6] * 3, [8, 10, 12] * 3]), 2)
    0.5
    """
    scores = np.stack(_pair(people, judged))
    if scores.ndim != 3:  # noqa: PLR2004 - people and judge, systems, inputs
        raise ValueError(f"expected shape (systems, inputs), got {np.shape(judged)}")
    parts = _all_parts(scores, weights=weights, clusters=clusters)
    return common_tuning([part for part in parts if part.clusters > 1])


def marks_needed(
    estimate: PoweredEstimate, *, confidence: float = 0.95, power: float = 0.5
) -> float:
    """Return the number of additional marks for an interval that excludes 0, at the same value.

    The variance due to marks is assumed to be inversely proportional to their number, and the
    variance due to items to stay constant [1]_.

    Parameters
    ----------
    estimate
        From `powered_difference`, or from `powered_mean` if 0 is of interest.
    confidence
        Level of the interval, in ``(0, 1)``.
    power
        The probability that it excludes 0, in ``(0, 1)``.

    Returns
    -------
    float
        An integer number of outputs; 0 if the marks suffice; infinite if even marks of
        all items do not suffice, so that more items are needed. NaN if the error is NaN.

    Raises
    ------
    ValueError
        If a range is not as above.

    References
    ----------
    .. [1] Cochran (1977), Sampling Techniques, 3rd ed., section 12.2

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> marks = np.where(np.arange(500) < 20, rng.normal(0.3, size=500), np.nan)
    >>> marks_needed(powered_mean(marks, np.zeros(500)), power=0.8)
    6.0
    """
    checked_share("confidence", confidence)
    reach = float(ndtri(checked_share("power", power)))
    if np.isnan(estimate.error):
        return np.nan
    marks = np.arange(estimate.marked, estimate.items + 1, dtype=np.float64)
    share = marks / estimate.marked
    freedom = np.maximum(estimate.clusters * share - 1 - (estimate.tuning != 0), 1e-9)
    from_marks = max(0.0, estimate.error**2 - estimate.floor**2)
    errors = np.sqrt(from_marks / share + estimate.floor**2)
    needed = (stdtrit(freedom, (1 + confidence) / 2) + reach) * errors
    enough = np.flatnonzero(needed < abs(estimate.value))
    return float(enough[0]) if enough.size else np.inf


def _pair(people: ArrayLike, judged: ArrayLike) -> tuple[FloatArray, FloatArray]:
    marks, scores = checked_differences(people), checked_differences(judged)
    if marks.shape != scores.shape:
        raise ValueError(f"expected one shape, got {marks.shape} and {scores.shape}")
    return marks, scores


def _all_parts(
    scores: FloatArray, *, weights: ArrayLike | None, clusters: ArrayLike | None
) -> list[Parts]:
    """Return the parts of each row of an array ``(2, rows, items)``, people before the judge."""
    _, rows, items = scores.shape
    given = np.ones(items) if weights is None else np.asarray(weights, dtype=np.float64)
    if given.shape not in {(items,), (rows, items)}:
        raise ValueError(f"expected as many weights as items, got {given.shape}")
    where = cluster_numbers(clusters, items=items)
    spread = np.broadcast_to(given, (rows, items))
    people, judged = scores
    return [_parts(people[row], judged[row], spread[row], where=where) for row in range(rows)]


def _parts(
    people: FloatArray, judged: FloatArray, weights: FloatArray, *, where: NDArray[np.intp]
) -> Parts:
    used = ~np.isnan(judged)
    marked = used & ~np.isnan(people)
    if not (np.isfinite(weights[marked]) & (weights[marked] > 0)).all():
        raise ValueError("expected finite weights above 0 of all marked items")
    shares = np.where(marked, weights, 0.0)
    shares = safe_divide(shares, shares.sum())
    equal = safe_divide(used, used.sum())
    marks, scores = np.where(marked, people, 0.0), np.where(used, judged, 0.0)
    plain, here, whole = shares @ marks, shares @ scores, equal @ scores
    size = int(where.max()) + 1 if where.size else 0

    def by_cluster(moves: FloatArray) -> FloatArray:
        return np.bincount(where, moves, minlength=size).astype(np.float64)

    return Parts(
        float(plain) if marked.any() else np.nan,
        float(whole - here),
        by_cluster(shares * (marks - plain)),
        by_cluster(shares * (scores - here) - equal * (scores - whole)),
        by_cluster(equal * (scores - whole)),
        by_cluster(shares),
        marked=int(marked.sum()),
        items=int(used.sum()),
        clusters=np.unique(where[marked]).size,
    )
