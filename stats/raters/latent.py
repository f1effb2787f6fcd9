"""Latent class models: the category of each item and the errors of each rater, without gold labels.

For unordered categories, by Dawid and Skene; `spanjury.stats.raters.graded` is for grades.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from spanjury.stats.arrays import FloatArray, checked_differences


class DawidSkene(NamedTuple):
    """The joint estimates of items, raters and categories."""

    posterior: FloatArray
    """Shape ``(items, k)``: probability that an item belongs to each category."""
    confusion: FloatArray
    """Shape ``(raters, k, k)``: probability of each label (last) for items of each category."""
    prevalence: FloatArray
    """Shape ``(k,)``."""
    log_posterior: FloatArray
    """Shape ``(rounds,)``: of the parameters after each round, up to a constant; never falls."""
    converged: bool


class _Model(NamedTuple):
    confusion: FloatArray
    prevalence: FloatArray


def dawid_skene(
    labels: ArrayLike,
    *,
    categories: int,
    smoothing: float = 0.1,
    rounds: int = 1000,
    tolerance: float = 1e-8,
) -> DawidSkene:
    """Estimate the categories of items and the errors of raters from the labels alone [1]_.

    Raters are assumed to err independently of each other, given the category of the item. Those
    with similar errors, such as models of one family, are trusted too much. The start is the share
    of raters that gave each label, so most raters are assumed to be right more often than wrong.

    Parameters
    ----------
    labels
        Shape ``(items, raters)``; integers from 0 to ``categories - 1``, or -1 or NaN if
        a rater gave none. The posterior of an item without labels is the prevalence.
    categories
        Number of categories, at least 2.
    smoothing
        Number of additional labels assumed for each rater, category and label, and of additional
        items of each category; at least 0. With 0, the estimate is maximum likelihood.
    rounds
        Maximum number of rounds of expectation and maximization, at least 1.
    tolerance
        Increase of the log posterior, per label, at which it counts as converged.

    Returns
    -------
    DawidSkene
        The confusion of a rater that answers at random has equal rows, and no influence.

    Raises
    ------
    ValueError
        If a shape, a value or a range is not as above, or there is no label.

    References
    ----------
    .. [1] Dawid, Skene (1979), Journal of the Royal Statistical Society C 28(1):20-28,
       doi:10.2307/2346806

    Examples
    --------
    >>> found = dawid_skene([[0, 0, 1], [1, 1, 0], [0, 0, 0], [1, 1, 1]], categories=2)
    >>> found.posterior.argmax(axis=1).tolist(), found.converged
    ([0, 1, 0, 1], True)
    """
    if smoothing < 0 or rounds < 1 or not tolerance > 0:
        raise ValueError(
            f"expected smoothing, rounds, tolerance, got {smoothing!r}, {rounds!r}, {tolerance!r}"
        )
    given = _one_hot(labels, categories=categories)
    votes = given.sum(axis=1) + 1 / categories
    posterior = votes / votes.sum(axis=1, keepdims=True)
    model = _maximised(given, posterior, smoothing=smoothing)
    posterior, total = _expected(given, model, smoothing=smoothing)
    reached = [total]
    converged = False
    while len(reached) < rounds and not converged:
        model = _maximised(given, posterior, smoothing=smoothing)
        posterior, total = _expected(given, model, smoothing=smoothing)
        converged = bool(total - reached[-1] <= tolerance * given.sum())
        reached.append(total)
    return DawidSkene(posterior, *model, np.array(reached), converged)


def _one_hot(labels: ArrayLike, *, categories: int) -> FloatArray:
    """Return the label that each rater gave, shape ``(items, raters, k)``; zeros for none."""
    values = checked_differences(labels)
    if values.ndim != 2 or categories < 2:  # noqa: PLR2004 - items, raters; two, to differ
        raise ValueError(f"expected (items, raters), got {values.shape}, {categories!r} categories")
    values = np.where(np.isnan(values), -1, values)
    codes = np.arange(categories)
    if not np.isin(values, np.append(codes, -1)).all():
        raise ValueError(f"expected labels from -1 to {categories - 1}, got {np.unique(values)}")
    if not (values >= 0).any():
        raise ValueError("expected a label or more, got none")
    given: FloatArray = (values[:, :, np.newaxis] == codes).astype(np.float64)
    return given


def _maximised(given: FloatArray, posterior: FloatArray, *, smoothing: float) -> _Model:
    confusion = np.einsum("irl,ij->rjl", given, posterior) + smoothing
    totals = confusion.sum(axis=2, keepdims=True)
    # Without an item of a category, there is no evidence on how a rater would label it.
    even = np.full_like(confusion, 1 / confusion.shape[2])
    confusion = np.divide(confusion, totals, out=even, where=totals > 0)
    prevalence = posterior.sum(axis=0) + smoothing
    return _Model(confusion, prevalence / prevalence.sum())


def _expected(given: FloatArray, model: _Model, *, smoothing: float) -> tuple[FloatArray, float]:
    """Return the posterior of the items, and the log posterior of the model."""
    # Entries that are still 0 in spite of smoothing occur with no item of nonzero weight.
    confusion, prevalence = (np.log(np.maximum(part, 1e-300)) for part in model)
    joint = np.einsum("irl,rjl->ij", given, confusion) + prevalence
    whole = logsumexp(joint, axis=1, keepdims=True)
    prior = smoothing * (confusion.sum() + prevalence.sum())
    return np.exp(joint - whole), float(whole.sum() + prior)
