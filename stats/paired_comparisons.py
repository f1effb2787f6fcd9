"""Paired comparisons: strengths of items from their wins, ties and losses against each other."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logsumexp

from spanjury.stats.arrays import FloatArray, cluster_numbers
from spanjury.stats.resampling import BLOCK
from spanjury.stats.weighted import Weighted

_WIN, _LOSS, _TIE = range(3)
_POINTS = np.array([1.0, 0.0, 0.5])
"""Points of the first item, by outcome."""
_LONGEST_STEP = 1.0
_ROUNDS = 200
_CONVERGED = 1e-9


class BradleyTerry(NamedTuple):
    """Strengths of items, and the effects that the model separates from them."""

    strengths: FloatArray
    """Shape ``(items,)``: log-odds against an item of average strength; their mean is 0."""
    shares: FloatArray
    """Shape ``(items,)``: expected share of wins, with ties counted half, against each other item
    equally often and without an effect of position, in ``[0, 1]``."""
    position: float
    """Advantage of the item shown first in log-odds; NaN if no order is known."""
    tie: float
    """Log of Davidson's parameter of ties; NaN if there is no tie."""


def bradley_terry(
    items: ArrayLike,
    points: ArrayLike,
    *,
    shown_first: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    prior: float = 0.5,
) -> BradleyTerry:
    r"""Fit the model of Bradley and Terry [1]_ with ties [2]_ and an effect of position [3]_.

    With the strengths :math:`\lambda`, an effect :math:`\delta` of position and :math:`\nu` of
    ties, the first item wins, the second wins or both tie in the proportions
    :math:`e^{\lambda_1 + x \delta / 2} : e^{\lambda_2 - x \delta / 2} : \nu e^{(\lambda_1 +
    \lambda_2) / 2}`, where :math:`x` is 1 if the first item is shown first, -1 if the second is,
    and 0 without an order. These are the equations of [2]_, section 2, with the order effect of
    [3]_, section 2, written so that the order does not change the odds of a tie among equals.

    Parameters
    ----------
    items
        Shape ``(comparisons, 2)``; numbers of two different items, from 0 without gaps.
    points
        Shape ``(comparisons,)``; 1 if the first item wins, 0 if the second does, 0.5 for a tie, NaN
        for a comparison to skip.
    shown_first
        Shape ``(comparisons,)``; 1, -1 or 0 as above; None for no order.
    weights
        Shape ``(comparisons,)``; weight of each, at least 0; None for 1.
    prior
        Number of additional wins and losses of each item against an item of average strength, and
        the same for the effects; above 0. It keeps the strength of an item that always won finite;
        maximum likelihood is the limit at 0.

    Raises
    ------
    ValueError
        If a shape, a value or a range is not as above, or there is no comparison.

    References
    ----------
    .. [1] Bradley, Terry (1952), Biometrika 39(3/4):324-345, doi:10.2307/2334029
    .. [2] Davidson (1970), JASA 65(329):317-328, doi:10.1080/01621459.1970.10481082
    .. [3] Davidson, Beaver (1977), Biometrics 33(4):693-702, doi:10.2307/2529467

    Examples
    --------
    >>> fit = bradley_terry([[0, 1]] * 4, [1, 1, 1, 0], prior=1e-9)
    >>> fit.shares.round(2).tolist(), round(float(fit.strengths[0] - fit.strengths[1]), 4)
    ([0.75, 0.25], 1.0986)
    """
    table = _Table.of(items, points, shown_first=shown_first)
    each = np.ones(len(table.cells)) if weights is None else np.asarray(weights, dtype=np.float64)
    if each.shape != table.cells.shape or not (each >= 0).all():
        raise ValueError(f"expected a weight of 0 or more for each comparison, got {weights!r}")
    counts: FloatArray = np.zeros(table.size)
    np.add.at(counts, table.cells[table.used], each[table.used])
    if not counts.any():
        raise ValueError("expected a comparison or more, got none")
    fits = table.fits(counts[np.newaxis], prior=prior)
    return BradleyTerry(
        fits.strengths[0], fits.shares[0], float(fits.position[0]), float(fits.tie[0])
    )


def bradley_terry_effect(
    items: ArrayLike,
    points: ArrayLike,
    *,
    shown_first: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    prior: float = 0.5,
) -> Weighted:
    """Return the fit as a function of the weight of each cluster, for `bootstrap`.

    Parameters
    ----------
    items, points, shown_first, prior
        As in `bradley_terry`.
    clusters
        Shape ``(comparisons,)``; labels of the clusters that are drawn together, such as sources;
        if None, every comparison is its own cluster.

    Returns
    -------
    callable
        ``effect(counts)``, shape ``(draws, clusters)`` -> shape ``(draws, 2 * items + 1)``:
        strengths, shares, and the effect of position.

    Raises
    ------
    ValueError
        As `bradley_terry` does.
    """
    table = _Table.of(items, points, shown_first=shown_first)
    numbers = cluster_numbers(clusters, items=len(table.cells))
    whole = np.zeros((int(numbers.max()) + 1, table.size))
    np.add.at(whole, (numbers[table.used], table.cells[table.used]), 1)

    def effect(counts: FloatArray) -> FloatArray:
        step = max(1, BLOCK // (table.size * (table.items + 2)))
        parts = []
        for start in range(0, len(counts), step):
            fits = table.fits(counts[start : start + step] @ whole, prior=prior)
            parts.append(np.column_stack([fits.strengths, fits.shares, fits.position]))
        return np.concatenate(parts)

    return effect


class _Table(NamedTuple):
    """Comparisons sorted into cells by meeting (two items in an order) and outcome.

    The cell of meeting m and outcome k is ``3 * m + k``.
    """

    meetings: NDArray[np.intp]
    """Shape ``(meetings, 3)``: first item, second item, order."""
    cells: NDArray[np.intp]
    """Shape ``(comparisons,)``."""
    used: NDArray[np.bool_]
    items: int

    @classmethod
    def of(cls, items: ArrayLike, points: ArrayLike, *, shown_first: ArrayLike | None) -> "_Table":
        pairs, gained = np.asarray(items), np.asarray(points, dtype=np.float64)
        if pairs.ndim != 2 or pairs.shape[1] != 2 or gained.shape != pairs.shape[:1]:  # noqa: PLR2004 - pairs
            raise ValueError(f"expected pairs and points, got {pairs.shape} and {gained.shape}")
        order = np.zeros(len(pairs)) if shown_first is None else np.asarray(shown_first)
        if order.shape != gained.shape or not np.isin(order, (-1, 0, 1)).all():
            raise ValueError(f"expected 1, -1 or 0 for each comparison, got {shown_first!r}")
        used = ~np.isnan(gained)
        if not np.isin(gained[used], _POINTS).all():
            raise ValueError(f"expected points of 0, 0.5, 1 or NaN, got {points!r}")
        numbers = np.unique(pairs)
        if (
            not np.array_equal(numbers, np.arange(len(numbers)))
            or (pairs[:, 0] == pairs[:, 1]).any()
        ):
            raise ValueError(f"expected pairs of different items from 0, got {items!r}")
        if not used.any():
            raise ValueError("expected a comparison or more, got none")
        rows = np.column_stack([pairs, order]).astype(np.intp)
        meetings, number = np.unique(rows, axis=0, return_inverse=True)
        outcome = np.select([gained == 1, gained == 0], [_WIN, _LOSS], _TIE)
        return cls(meetings, 3 * number.ravel() + outcome, used, len(numbers))

    @property
    def size(self) -> int:
        """Number of cells."""
        return 3 * len(self.meetings)

    def fits(self, counts: FloatArray, *, prior: float) -> "_Fits":
        """Return the fit to each row of cell weights, shape ``(draws, cells)``."""
        if not prior > 0:
            raise ValueError(f"expected a prior above 0, got {prior!r}")
        by_outcome = counts.reshape(len(counts), -1, 3)
        has_ties = by_outcome[:, :, _TIE].sum(axis=1) > 0
        has_order = by_outcome[:, self.meetings[:, 2] != 0].sum(axis=(1, 2)) > 0
        values = _maxima(self._design(), by_outcome, has_ties=has_ties, prior=prior)
        strengths = values[:, :-2] - values[:, :-2].mean(axis=1, keepdims=True)
        tie = np.where(has_ties, values[:, -1], np.nan)
        return _Fits(
            strengths,
            _expected_shares(strengths, tie=np.where(has_ties, tie, -np.inf)),
            np.where(has_order, values[:, -2], np.nan),
            tie,
        )

    def _design(self) -> FloatArray:
        """Return the design: parameters by outcome, shape ``(meetings, 3, items + 2)``."""
        first, second, order = self.meetings.T
        rows = np.arange(len(self.meetings))
        design = np.zeros((len(rows), 3, self.items + 2))
        design[rows, _WIN, first] = design[rows, _LOSS, second] = 1
        design[rows, _TIE, first] = design[rows, _TIE, second] = 0.5
        design[:, _WIN, -2], design[:, _LOSS, -2] = order / 2, -order / 2
        design[:, _TIE, -1] = 1
        return design


class _Fits(NamedTuple):
    """Fits to several draws, which are the first axis of each array."""

    strengths: FloatArray
    shares: FloatArray
    position: FloatArray
    tie: FloatArray


def _maxima(
    design: FloatArray, counts: FloatArray, *, has_ties: NDArray[np.bool_], prior: float
) -> FloatArray:
    """Return the parameters with the highest posterior in each draw, by Newton's method.

    The posterior is strictly concave, since the model and the prior are multinomial and linear.
    `design` has the shape ``(meetings, 3, parameters)``, `counts` ``(draws, meetings, 3)`` and
    `has_ties` ``(draws,)``: in draws without ties, ties have probability 0.
    """
    draws, meetings, _ = counts.shape
    parameters = design.shape[-1]
    flat = design.reshape(-1, parameters)
    products = (flat[:, :, np.newaxis] * flat[:, np.newaxis]).reshape(len(flat), -1)
    met = counts.sum(axis=2)
    values = np.zeros((draws, parameters))
    diagonal = np.arange(parameters)
    rounds, reach = 0, math.inf
    while reach >= _CONVERGED and rounds < _ROUNDS:
        scores = (values @ flat.T).reshape(draws, meetings, 3)
        scores[~has_ties, :, _TIE] = -np.inf
        chances = np.exp(scores - logsumexp(scores, axis=2, keepdims=True))
        expected = met[:, :, np.newaxis] * chances
        # The prior has equally many wins and losses: log expit(v) + log expit(-v).
        likely = expit(values)
        gradient = (counts - expected).reshape(draws, -1) @ flat + prior * (1 - 2 * likely)
        mean = np.einsum("dmk,mkp->dmp", chances, design)
        curvature = (expected.reshape(draws, -1) @ products).reshape(draws, parameters, parameters)
        curvature -= np.einsum("dm,dmp,dmq->dpq", met, mean, mean, optimize=True)
        curvature[:, diagonal, diagonal] += 2 * prior * likely * (1 - likely)
        step = np.linalg.solve(curvature, gradient[:, :, np.newaxis])[:, :, 0]
        longest = np.abs(step).max(axis=1, keepdims=True)
        values += step * np.minimum(1.0, _LONGEST_STEP / np.maximum(longest, _LONGEST_STEP))
        rounds, reach = rounds + 1, float(longest.max())
    return values


def _expected_shares(strengths: FloatArray, *, tie: FloatArray) -> FloatArray:
    """Return expected shares against all others, shape ``(draws, items)``."""
    difference = strengths[:, :, np.newaxis] - strengths[:, np.newaxis]
    # A win plus half a tie, over win, loss and tie in the proportions of the model.
    win, loss = np.exp(difference / 2), np.exp(-difference / 2)
    drawn = np.exp(tie)[:, np.newaxis, np.newaxis]
    shares = (win + drawn / 2) / (win + loss + drawn)
    items = strengths.shape[1]
    shares[:, np.arange(items), np.arange(items)] = 0
    mean: FloatArray = shares.sum(axis=2) / (items - 1)
    return mean
