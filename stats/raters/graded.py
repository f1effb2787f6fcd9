"""Estimates of the quality of items and of the accuracy of raters, from grades alone."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from scipy.special import expit, logit, logsumexp

from spanjury.stats.arrays import FloatArray, checked_differences

# Grid for integrals over quality, finer than the resolution of ten good raters.
QUALITIES = np.linspace(-5, 5, 61)

# The prior standard deviation of discriminations: a weak prior, without which the discriminations
# of two raters that always agree would be infinite.
PRIOR = 3.0

# Bounds of discriminations, of cut points, and of logarithms of the steps between them.
STEEP, FAR, STEP = (-20.0, 20.0), (-50.0, 50.0), (-10.0, 4.0)

# Minimum probability of a grade.
LEAST = 1e-12


class OrdinalScores(NamedTuple):
    """The qualities of items, and how well each rater discerns them."""

    quality: FloatArray
    """Shape ``(items,)``: the posterior mean; the prior of qualities is standard normal."""
    error: FloatArray
    """Shape ``(items,)``: the posterior standard deviation; 1 for an item without a grade."""
    discrimination: FloatArray
    """Shape ``(raters,)``: increase of the logit of a better grade per unit of quality.

        0 for a rater whose grades are uninformative or all equal; negative for one whose grades are
        reversed."""
    converged: bool


def ordinal_scores(scores: ArrayLike, *, levels: int = 10, rounds: int = 500) -> OrdinalScores:
    """Estimate the quality of items, and how well raters discern it, from grades alone.

    Each rater has its own cut points and its own discrimination on one normal quality: the
    graded response model [1]_, fitted by its marginal likelihood [2]_. Like `dawid_skene`, it
    assumes that raters err independently of each other. With two raters, only the product of
    their discriminations can be estimated, so these come out equal.

    Parameters
    ----------
    scores
        Shape ``(items, raters)``; finite, or NaN where missing. Only their order matters,
        separately for each rater.
    levels
        Maximum number of grades, at least 2; more are merged into groups of similar size.
    rounds
        Maximum number of rounds of the search.

    Raises
    ------
    ValueError
        If a shape, a value or a range is not as above, or there is no score.

    References
    ----------
    .. [1] Samejima (1969), Estimation of latent ability using a response pattern of graded
       scores, Psychometrika Monograph 17
    .. [2] Bock, Aitkin (1981), Psychometrika 46(4):443-459, doi:10.1007/BF02293801

    Examples
    --------
    >>> grades = [[1, 1, 2], [2, 1, 1], [3, 3, 1], [4, 3, 2], [5, 5, 1], [5, 4, 2]]
    >>> found = ordinal_scores(grades)
    >>> bool(found.discrimination[0] > 1 > found.discrimination[2])
    True
    """
    if levels < 2 or rounds < 1:  # noqa: PLR2004 - two, to differ
        raise ValueError(f"expected levels and rounds, got {levels!r} and {rounds!r}")
    values = checked_differences(scores)
    if values.ndim != 2 or np.isnan(values).all():  # noqa: PLR2004 - items, raters
        raise ValueError(f"expected scores of shape (items, raters), got {values.shape}")
    given = [_grades(column, levels=levels) for column in values.T]
    parts, converged = _fitted(given, rounds=rounds)
    posterior = np.exp(_joint(given, [_cumulative(part) for part in parts]).normal)
    steep = np.array([part[0] if part.size > 1 else 0.0 for part in parts])
    sign = -1.0 if steep.sum() < 0 else 1.0  # with the sign reversed, it is the same model
    mean = posterior @ QUALITIES
    spread = np.sqrt(np.maximum(posterior @ QUALITIES**2 - mean**2, 0.0))
    return OrdinalScores(sign * mean, spread, sign * steep, converged)


class _Joint(NamedTuple):
    normal: FloatArray
    """Log posterior of each item's quality, shape ``(items, qualities)``."""
    total: float
    """Log likelihood of all grades."""


def _grades(scores: FloatArray, *, levels: int) -> FloatArray:
    """Return the grade that a rater gave, shape ``(items, grades)``; zeros for none."""
    present = ~np.isnan(scores)
    _, where, counts = np.unique(scores[present], return_inverse=True, return_counts=True)
    if counts.size > levels:
        middle = (np.cumsum(counts) - counts / 2) / counts.sum()
        where = np.unique((middle * levels).astype(np.intp)[where], return_inverse=True)[1]
    grades = np.zeros((scores.size, int(where.max()) + 1 if where.size else 0))
    grades[np.flatnonzero(present), where] = 1.0
    return grades


def _fitted(given: list[FloatArray], *, rounds: int) -> tuple[list[FloatArray], bool]:
    """Return each rater's most likely parameters, and whether the search converged."""
    start, bounds = _start(given)
    if not start.size:
        return _split(start, given), True

    def loss(parameters: FloatArray) -> tuple[float, FloatArray]:
        return _loss(parameters, given)

    optimum = minimize(
        loss,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": rounds},
    )
    return _split(optimum.x, given), bool(optimum.success)


def _start(given: list[FloatArray]) -> tuple[FloatArray, list[tuple[float, float]]]:
    """Return initial parameters of each rater: discrimination, first cut, logarithms of steps."""
    start: list[FloatArray] = []
    bounds: list[tuple[float, float]] = []
    for grades in given:
        if _parameters(grades):
            share = np.cumsum(grades.sum(axis=0))[:-1] / grades.sum()
            cuts = logit(share)
            start.append(np.concatenate([[1.0], cuts[:1], np.log(np.diff(cuts))]))
            bounds += [STEEP, FAR, *[STEP] * (cuts.size - 1)]
    return np.concatenate([np.empty(0), *start]), bounds


def _parameters(grades: FloatArray) -> int:
    """Return the number of parameters of a rater: one for each grade; 0 below two grades."""
    return grades.shape[1] if grades.shape[1] > 1 else 0


def _split(parameters: FloatArray, given: list[FloatArray]) -> list[FloatArray]:
    return np.split(parameters, np.cumsum([_parameters(grades) for grades in given])[:-1])


def _cumulative(part: FloatArray) -> FloatArray:
    """Return the probability of each grade or better, shape ``(grades + 1, qualities)``."""
    ends = np.ones((1, QUALITIES.size))
    if not part.size:
        return np.concatenate([ends, 0 * ends])
    cuts = np.cumsum(np.concatenate([part[1:2], np.exp(part[2:])]))
    return np.concatenate([ends, expit(part[0] * QUALITIES - cuts[:, np.newaxis]), 0 * ends])


def _joint(given: list[FloatArray], cumulative: list[FloatArray]) -> _Joint:
    total = np.broadcast_to(-(QUALITIES**2) / 2, (len(given[0]), QUALITIES.size))
    total = total - logsumexp(total[:1])
    for grades, chances in zip(given, cumulative, strict=True):
        if grades.shape[1]:
            total = total + grades @ np.log(_chances(chances))
    whole = logsumexp(total, axis=1, keepdims=True)
    return _Joint(total - whole, float(whole.sum()))


def _chances(cumulative: FloatArray) -> FloatArray:
    return np.maximum(-np.diff(cumulative, axis=0), LEAST)


def _loss(parameters: FloatArray, given: list[FloatArray]) -> tuple[float, FloatArray]:
    """Return the negative log posterior of the parameters, and its gradient (Fisher's identity)."""
    parts = _split(parameters, given)
    cumulative = [_cumulative(part) for part in parts]
    joint = _joint(given, cumulative)
    posterior = np.exp(joint.normal)
    slopes = [np.empty(0)]
    penalty = 0.0
    for grades, part, chances in zip(given, parts, cumulative, strict=True):
        if part.size:
            pull = grades.T @ posterior / _chances(chances)
            inner = chances[1:-1]
            moved = np.diff(pull, axis=0) * inner * (1 - inner)
            by_cut = -moved.sum(axis=1)
            after = np.cumsum(by_cut[::-1])[::-1]  # a step moves all cuts after it
            steps = after[1:] * np.exp(part[2:])
            steep = (moved @ QUALITIES).sum() - part[0] / PRIOR**2
            slopes.append(-np.concatenate([[steep], after[:1], steps]))
            penalty += part[0] ** 2 / (2 * PRIOR**2)
    return penalty - joint.total, np.concatenate(slopes)
