"""Raters weighed without people: what each item is, and how each rater answers to it.

Categories without order, by Dawid and Skene; `spanjury.stats.raters.graded` is for grades.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from spanjury.stats.arrays import FloatArray, checked_differences


class DawidSkene(NamedTuple):
    """Items, raters and categories that explain each other."""

    posterior: FloatArray
    """Shape ``(items, k)``: how likely an item is of each category."""
    confusion: FloatArray
    """Shape ``(raters, k, k)``: how often a rater says each (last) of an item of each."""
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
    """Tell what items are, and how raters err, from the raters' labels alone [1]_.

    It takes raters to err independently of each other, given what the item is: those that err
    alike, such as models of one family, are trusted too much. It begins with the share of raters
    that gave each label, so that most raters are taken to be better than the opposite.

    Parameters
    ----------
    labels
        Shape ``(items, raters)``; whole numbers from 0 to ``categories - 1``, or -1 or NaN where
        a rater gave none. An item without labels has the prevalence for its posterior.
    categories
        How many there are, at least 2.
    smoothing
        Labels that each rater is taken to have given besides, of each sort to each sort, and
        items of each sort; at least 0. With 0 it is maximum likelihood.
    rounds
        Maximum number of rounds of expectation and maximisation, at least 1.
    tolerance
        A rise of the log posterior, per label, at which it has converged.

    Returns
    -------
    DawidSkene
        A rater that answers at random has a confusion whose rows are alike, and no say.

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
    """Return which label each rater gave, shape ``(items, raters, k)``; zeros for none."""
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
    # A category that no item has says nothing of how a rater would answer to it.
    even = np.full_like(confusion, 1 / confusion.shape[2])
    confusion = np.divide(confusion, totals, out=even, where=totals > 0)
    prevalence = posterior.sum(axis=0) + smoothing
    return _Model(confusion, prevalence / prevalence.sum())


def _expected(given: FloatArray, model: _Model, *, smoothing: float) -> tuple[FloatArray, float]:
    """Return the posterior of items, and the log posterior of the model."""
    # What smoothing did not keep from 0 was seen with no item of any weight.
    confusion, prevalence = (np.log(np.maximum(part, 1e-300)) for part in model)
    joint = np.einsum("irl,rjl->ij", given, confusion) + prevalence
    whole = logsumexp(joint, axis=1, keepdims=True)
    prior = smoothing * (confusion.sum() + prevalence.sum())
    return np.exp(joint - whole), float(whole.sum() + prior)
