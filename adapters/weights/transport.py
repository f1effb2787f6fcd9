"""The least work that turns one heap of vectors into another (earth mover's distance).

Besides, the tables of what metrics compare between the tokens of two texts.
"""

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

with warnings.catch_warnings():
    # Its docstrings hold backslashes that Python complains of when it first compiles them.
    warnings.simplefilter("ignore", DeprecationWarning)
    warnings.simplefilter("ignore", SyntaxWarning)
    from ot import emd, emd2  # type: ignore[import-untyped]  # it brings no types

_MOST_STEPS = 10_000_000  # the default, 100,000, ends too early for texts of some 1,000 tokens


def transport_cost(
    first: tuple[ArrayLike, ArrayLike], second: tuple[ArrayLike, ArrayLike]
) -> float:
    """Return the mean distance that a share must travel between two heaps, at best.

    A heap is its vectors ``(n, d)``, of any length but 0, of which the direction alone counts, and
    their weights ``(n,)``, not negative, with a sum above 0. The distance is the Euclidean one of
    unit vectors, in ``[0, 2]``.

    References
    ----------
    .. [1] Flamary et al. (2021), POT: Python optimal transport, JMLR 22(78)
    """
    (points, shares), (others, parts) = _heap(*first), _heap(*second)
    cost = float(emd2(shares, parts, cdist(points, others), numItermax=_MOST_STEPS))
    return min(2.0, max(0.0, cost))


def transport_plan(
    first: tuple[ArrayLike, ArrayLike], second: tuple[ArrayLike, ArrayLike]
) -> tuple[np.ndarray, np.ndarray]:
    """Return which share travels where, and how far that is, in the plan of `transport_cost`.

    Shares sum to 1, distances are in ``[0, 2]``; both have the shape ``(n, m)``, with share 0 and
    distance NaN where a vector weighs nothing.
    """
    (points, shares), (others, parts) = _heap(*first), _heap(*second)
    distances = cdist(points, others)
    moved = emd(shares, parts, distances, numItermax=_MOST_STEPS)
    weighed = np.ix_(*(np.flatnonzero(np.asarray(weights) > 0) for _, weights in (first, second)))
    plan = np.zeros((len(np.asarray(first[1])), len(np.asarray(second[1]))))
    far = np.full_like(plan, np.nan)
    plan[weighed], far[weighed] = moved, distances
    return plan, far


def _heap(vectors: ArrayLike, weights: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return unit vectors and shares that sum to 1, without what weighs nothing."""
    shares = np.asarray(weights, dtype=float)
    kept = shares > 0
    points = np.asarray(vectors, dtype=float)[kept]
    lengths = np.linalg.norm(points, axis=1, keepdims=True)
    return points / np.where(lengths > 0, lengths, 1), shares[kept] / shares[kept].sum()


class TokenSimilarities(NamedTuple):
    """Similarities of the tokens of an output and of a reference."""

    output: tuple[str, ...]
    reference: tuple[str, ...]
    values: np.ndarray
    """Cosines, shape ``(n, m)``."""


class TokenFlow(NamedTuple):
    """Shares of the output's weight that its tokens send to tokens of the reference."""

    output: tuple[str, ...]
    reference: tuple[str, ...]
    shares: np.ndarray
    """Shape ``(n, m)``; they sum to 1, or to 0 if one of the texts has no token."""
    distances: np.ndarray
    """Shape ``(n, m)``, in ``[0, 2]``; NaN for a token without weight."""


def token_flow(
    output: tuple[Sequence[str], ArrayLike, ArrayLike],
    reference: tuple[Sequence[str], ArrayLike, ArrayLike],
) -> TokenFlow:
    """Move the tokens of one text to those of the other; each side's tokens, vectors, weights."""
    tokens, others = tuple(output[0]), tuple(reference[0])
    if not tokens or not others:
        none = np.zeros((len(tokens), len(others)))
        return TokenFlow(tokens, others, none, none)
    return TokenFlow(tokens, others, *transport_plan(output[1:], reference[1:]))
