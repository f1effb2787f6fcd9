"""Discernment: p-values on a scale on which 1 is significant, and summaries of several."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spanjury.stats.combination.combining import checked_log_p, checked_weights

LOG_LEVEL = math.log(0.05)


class LevelBalanced(NamedTuple):
    """Summary of the discernment of many perturbations.

    Parameters
    ----------
    average
        Mean of the levels' means; NaN if there is none.
    minimum
        Minimum; NaN if there is none. More perturbations make it lower by chance alone.
    by_level
        Level and mean of its perturbations, in order of first appearance; NaN for a level
        without a score.
    missing
        Number of perturbations without a score, which were skipped.
    """

    average: float
    minimum: float
    by_level: tuple[tuple[str, float], ...]
    missing: int


def discernment_score(log_p: ArrayLike) -> NDArray[np.float64]:
    """Return ``D = log_0.05(p)`` [1]_: 0 for p = 1, 1 for p = 0.05, 2 for p = 0.0025.

    D grows with the number of items: compare it only for equal numbers, and report an
    effect with it.

    Parameters
    ----------
    log_p
        Natural logarithms of p-values; any shape.

    Raises
    ------
    ValueError
        If a p-value is neither in ``(0, 1]`` nor NaN.

    References
    ----------
    .. [1] Wang et al. (2024), DHP Benchmark, section 3.3.3, arXiv:2408.13704

    Examples
    --------
    >>> discernment_score([math.log(0.05), math.log(0.0025)]).tolist()
    [1.0, 2.0]
    """
    return np.abs(checked_log_p(log_p) / LOG_LEVEL)


def linear_pool(scores: ArrayLike, *, weights: ArrayLike) -> NDArray[np.float64]:
    """Return the weighted mean of the D of several aspects.

    A weight of 0.1 contributes a tenth; in a harmonic mean of p-values it reduces D by at most
    log_0.05(0.1) = 0.77.

    Parameters
    ----------
    scores
        Shape ``(..., m)``.
    weights
        Shape ``(m,)``, not negative, sum 1.

    Returns
    -------
    array
        Shape ``(...)``; NaN if a score with nonzero weight is NaN.

    Raises
    ------
    ValueError
        If a shape or a range is not as above.
    """
    values = _checked_scores(scores)
    shares = checked_weights(weights, count=values.shape[-1])
    return np.asarray(values[..., shares > 0] @ shares[shares > 0])


def target_contrast(scores: ArrayLike, *, targeted: ArrayLike) -> NDArray[np.float64]:
    """Return the difference between D on the damaged aspects and D on the others.

    Parameters
    ----------
    scores
        Shape ``(..., m)``.
    targeted
        Shape ``(m,)``, boolean.

    Returns
    -------
    array
        Shape ``(...)``, mean of the targeted minus mean of the others; NaN if a score is NaN,
        or if there are no others or no targeted ones.

    Raises
    ------
    ValueError
        If a shape is not as above.
    """
    values = _checked_scores(scores)
    mask = np.asarray(targeted)
    if mask.dtype != np.bool_ or mask.shape != values.shape[-1:]:
        raise ValueError(f"expected {values.shape[-1]} truth values, got {targeted!r}")
    if mask.all() or not mask.any():
        return np.full(values.shape[:-1], np.nan)
    return np.asarray(values[..., mask].mean(axis=-1) - values[..., ~mask].mean(axis=-1))


def level_balanced(scores: ArrayLike, *, levels: Sequence[str]) -> LevelBalanced:
    """Average the D of perturbations with equal weight for each level.

    Raise `ValueError` if a shape is not as described.

    Parameters
    ----------
    scores
        Shape ``(n,)``, ``n >= 1``, NaN if a perturbation has none.
    levels
        The level of each.

    References
    ----------
    .. [1] Wang et al. (2024), DHP Benchmark, section 3.3.3, arXiv:2408.13704

    Examples
    --------
    >>> level_balanced([1.0, 3.0, 6.0], levels=["word", "word", "sentence"])
    LevelBalanced(average=4.0, minimum=1.0, by_level=(('word', 2.0), ('sentence', 6.0)), missing=0)
    """
    values = _checked_scores(scores)
    if values.shape != (len(levels),):
        raise ValueError(
            f"expected a level for each score, got scores of shape {values.shape} and"
            f" {len(levels)} levels"
        )
    by_level: dict[str, list[float]] = {}
    for score, level in zip(values.tolist(), levels, strict=True):
        by_level.setdefault(level, []).append(score)
    means = {level: _mean(group) for level, group in by_level.items()}
    defined = values[~np.isnan(values)]
    return LevelBalanced(
        average=_mean(list(means.values())),
        minimum=float(defined.min()) if defined.size else math.nan,
        by_level=tuple(means.items()),
        missing=values.size - defined.size,
    )


def _mean(scores: list[float]) -> float:
    defined = [score for score in scores if not math.isnan(score)]
    return math.fsum(defined) / len(defined) if defined else math.nan


def _checked_scores(scores: ArrayLike) -> NDArray[np.float64]:
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim < 1 or not values.size:
        raise ValueError(f"expected scores of shape (..., m), got {scores!r}")
    return values
