"""Aggregations: they turn the seats' scores into the panel's score, which is never rounded.

Source: Kartáč et al. (2025), OpeNLGauge, section 4 and Appendix J, which compares all of these and
finds the plain mean best.
"""

import statistics
from collections.abc import Callable, Sequence
from math import sqrt

_MIN_GAP = 1.0
_DEVIATIONS = 2.0
# With five seats the rule can hold only as an equality, which floats may miss.
_TOLERANCE = 1e-9


def mean(scores: Sequence[float]) -> float:
    """Return the plain mean (section 4): the default."""
    return statistics.fmean(scores)


def median(scores: Sequence[float]) -> float:
    """Return the middle score, or the mean of the two middle scores of an even number."""
    return float(statistics.median(scores))


def minimum(scores: Sequence[float]) -> float:
    """Return the strictest seat's score."""
    return float(min(scores))


def majority(scores: Sequence[float]) -> float:
    """Return the score that most seats give, or the mean of the tied scores.

    Examples
    --------
    >>> majority([2, 2, 5, 5, 1])
    3.5
    """
    return statistics.fmean(statistics.multimode(scores))


def mean_without_outliers(scores: Sequence[float]) -> float:
    """Return the mean of the scores that `far_from_all` does not rule out."""
    return _mean_without(scores, far_from_all)


def mean_without_far_seats(scores: Sequence[float]) -> float:
    """Return the mean of the scores that `far_from_others` does not rule out."""
    return _mean_without(scores, far_from_others)


def far_from_all(scores: Sequence[float]) -> tuple[bool, ...]:
    """Return for each score whether it lies far from the mean of all scores.

    It must be at least 2 standard deviations and at least 1 point away. This is the rule of section
    4, footnote 3, with the population's standard deviation: with the sample's it could never hold
    for five seats. For five seats it holds only if four agree and the fifth differs by 2 or more.

    Examples
    --------
    >>> far_from_all([4, 4, 4, 4, 2])
    (False, False, False, False, True)
    """
    if len(scores) < 5:  # noqa: PLR2004 - none of n lies more than sqrt(n - 1) deviations away
        return (False,) * len(scores)
    centre, spread = statistics.fmean(scores), _spread(scores)
    return tuple(_is_far(score - centre, spread) for score in scores)


def far_from_others(scores: Sequence[float]) -> tuple[bool, ...]:
    """Return for each score whether it lies far from the mean of the other scores.

    Appendix J states the rule of `far_from_all` this way: mean and deviation are those of the other
    seats. Two seats cannot tell which of them is the outlier, so no score is far among fewer than
    three.

    Examples
    --------
    >>> far_from_others([5, 4, 4, 1])
    (False, False, False, True)
    """
    if len(scores) < 3:  # noqa: PLR2004
        return (False,) * len(scores)
    return tuple(
        _is_far(score - statistics.fmean(others), _spread(others))
        for score, others in ((s, [*scores[:i], *scores[i + 1 :]]) for i, s in enumerate(scores))
    )


def _spread(scores: Sequence[float]) -> float:
    centre = statistics.fmean(scores)
    return sqrt(statistics.fmean((score - centre) ** 2 for score in scores))


def _is_far(gap: float, spread: float) -> bool:
    return abs(gap) >= max(_MIN_GAP, _DEVIATIONS * spread) - _TOLERANCE


def _mean_without(
    scores: Sequence[float], rule: Callable[[Sequence[float]], tuple[bool, ...]]
) -> float:
    kept = [score for score, far in zip(scores, rule(scores), strict=True) if not far]
    return mean(kept or scores)
