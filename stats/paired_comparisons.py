"""Paired comparisons: strengths of items from their wins, ties and losses against each other."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logsumexp

from spanjury.stats.arrays import FloatArray, cluster_numbers
from spanjury.stats.weighted import BLOCK, Weighted

_WIN, _LOSS, _TIE = range(3)
_POINTS = np.array([1.0, 0.0, 0.5])
"""Points of the first item, by outcome."""
_EFFECTS = slice(-2, None)
"""Position and ties, the last parameters."""
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
        Number of additional wins, and of as many losses, of an item on average, and the same for
        the effects; above 0. They are spread over the pairs of items that met, in proportion to
        their comparisons, so that an item with few comparisons is not drawn nearer to the others
        than one with many. They keep the strength of an item that always won finite; maximum
        likelihood is the limit at 0. Items that never met, not even through others, are not
        compared: the mean strength of each such group is 0.

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
    _check_prior(prior)
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
    _check_prior(prior)
    table = _Table.of(items, points, shown_first=shown_first)
    whole = table.by_cluster(clusters)

    def effect(counts: FloatArray) -> FloatArray:
        step = max(1, BLOCK // (table.size * (table.items + 2)))
        parts = []
        for start in range(0, len(counts), step):
            fits = table.fits(counts[start : start + step] @ whole, prior=prior)
            parts.append(np.column_stack([fits.strengths, fits.shares, fits.position]))
        return np.concatenate(parts)

    return effect


def bradley_terry_scores(
    items: ArrayLike,
    points: ArrayLike,
    *,
    pair: tuple[int, int],
    shown_first: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    prior: float = 0.5,
) -> FloatArray:
    """Return what each cluster contributes to a test that two items are equally strong [1]_.

    The model is fitted with equal strengths of the two. A contribution is the slope of a cluster's
    log-likelihood in the lead of the first item, less the part that the other parameters explain
    (the efficient score). With equal strengths, contributions have the mean 0. Errors of fitted
    strengths are too small where an item won or lost all its comparisons; those of contributions
    are not.

    Parameters
    ----------
    items, points, shown_first, clusters, prior
        As in `bradley_terry_effect`.
    pair
        Numbers of the two items, the first one's lead is tested.

    Returns
    -------
    numpy.ndarray
        Shape ``(clusters,)``.

    Raises
    ------
    ValueError
        As `bradley_terry` does, or if the pair is not of two of the items.

    References
    ----------
    .. [1] Boos (1992), The American Statistician 46(4):327-333, doi:10.2307/2685328

    Examples
    --------
    >>> bradley_terry_scores([[0, 1]] * 4, [1, 1, 1, 0], pair=(0, 1)).tolist()
    [0.5, 0.5, 0.5, -0.5]
    """
    _check_prior(prior)
    table = _Table.of(items, points, shown_first=shown_first)
    if pair[0] == pair[1] or not {*pair} <= {*range(table.items)}:
        raise ValueError(f"expected two of {table.items} items, got {pair!r}")
    return table.scores(table.by_cluster(clusters), pair=pair, prior=prior)


def _check_prior(prior: float) -> None:
    if not prior > 0:
        raise ValueError(f"expected a prior above 0, got {prior!r}")


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

    def scores(self, whole: FloatArray, *, pair: tuple[int, int], prior: float) -> FloatArray:
        """Return the score of each row of cell weights, shape ``(clusters, cells)``, for a pair."""
        first, second = pair
        design = self._design()
        both, lead = design[..., [*pair]].sum(axis=-1), design[..., first] - design[..., second]
        # The strengths of the two become what they share, and the lead, which is 0.
        design[..., first], design[..., second] = both, lead / 2
        counts = whole.sum(axis=0).reshape(1, -1, 3)
        posterior = _Posterior(design, counts, counts[:, :, _TIE].sum(axis=1) > 0, prior)
        values = _maxima(posterior, fixed=second)
        by_outcome = whole.reshape(len(whole), -1, 3)
        expected = by_outcome.sum(axis=2, keepdims=True) * posterior.chances(values)
        slopes = (by_outcome - expected).reshape(len(whole), -1) @ design.reshape(counts.size, -1)
        free = _free(design.shape[-1], second)
        curvature = posterior.slopes(values)[1][0][free]
        rest = curvature[:, free] + posterior.group_means(free)[0]
        scores: FloatArray = slopes[:, second] - slopes[:, free] @ np.linalg.solve(
            rest, curvature[:, second]
        )
        return scores

    def fits(self, counts: FloatArray, *, prior: float) -> "_Fits":
        """Return the fit to each row of cell weights, shape ``(draws, cells)``."""
        by_outcome = counts.reshape(len(counts), -1, 3)
        has_ties = by_outcome[:, :, _TIE].sum(axis=1) > 0
        has_order = by_outcome[:, self.meetings[:, 2] != 0].sum(axis=(1, 2)) > 0
        values = _maxima(_Posterior(self._design(), by_outcome, has_ties, prior))
        strengths = values[:, :-2] - values[:, :-2].mean(axis=1, keepdims=True)
        tie = np.where(has_ties, values[:, -1], np.nan)
        return _Fits(
            strengths,
            _expected_shares(strengths, tie=np.where(has_ties, tie, -np.inf)),
            np.where(has_order, values[:, -2], np.nan),
            tie,
        )

    def by_cluster(self, clusters: ArrayLike | None) -> FloatArray:
        """Count the comparisons of each cluster by cell, shape ``(clusters, cells)``."""
        numbers = cluster_numbers(clusters, items=len(self.cells))
        whole = np.zeros((int(numbers.max()) + 1, self.size))
        np.add.at(whole, (numbers[self.used], self.cells[self.used]), 1)
        return whole

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


class _Posterior(NamedTuple):
    """Chances of outcomes in several draws, and the prior.

    In draws without ties, ties have probability 0.
    """

    design: FloatArray
    """Shape ``(meetings, 3, parameters)``."""
    counts: FloatArray
    """Shape ``(draws, meetings, 3)``."""
    has_ties: NDArray[np.bool_]
    """Shape ``(draws,)``."""
    prior: float

    @property
    def lead(self) -> FloatArray:
        """Lead of the first item over the second in strengths, shape ``(meetings, parameters)``."""
        lead = self.design[:, _WIN] - self.design[:, _LOSS]
        lead[:, _EFFECTS] = 0
        return lead

    @property
    def added(self) -> FloatArray:
        """Wins that the prior adds to each meeting, and as many losses."""
        met = self.counts.sum(axis=2)
        items = self.design.shape[-1] - 2
        total = np.maximum(met.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        spread: FloatArray = self.prior * items / 2 * met / total
        return spread

    def chances(self, values: FloatArray) -> FloatArray:
        """Return the chance of each outcome of each meeting."""
        flat = self.design.reshape(-1, self.design.shape[-1])
        scores = (values @ flat.T).reshape(len(values), -1, 3)
        scores[~self.has_ties, :, _TIE] = -np.inf
        chances: FloatArray = np.exp(scores - logsumexp(scores, axis=2, keepdims=True))
        return chances

    def slopes(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the gradient of the logarithm, and minus its second derivatives."""
        draws, parameters = values.shape
        flat, lead = self.design.reshape(-1, parameters), self.lead
        met, chances, added = self.counts.sum(axis=2), self.chances(values), self.added
        expected = met[:, :, np.newaxis] * chances
        # The prior has equally many wins and losses: log expit(v) + log expit(-v).
        ahead, likely = expit(values @ lead.T), expit(values[:, _EFFECTS])
        gradient = (self.counts - expected).reshape(draws, -1) @ flat
        gradient += (added * (1 - 2 * ahead)) @ lead
        gradient[:, _EFFECTS] += self.prior * (1 - 2 * likely)
        mean = np.einsum("dmk,mkp->dmp", chances, self.design)
        curvature = (expected.reshape(draws, -1) @ _squares(flat)).reshape(-1, parameters**2)
        curvature += (2 * added * ahead * (1 - ahead)) @ _squares(lead)
        curvature = curvature.reshape(draws, parameters, parameters)
        curvature -= np.einsum("dm,dmp,dmq->dpq", met, mean, mean, optimize=True)
        effects = np.arange(parameters)[_EFFECTS]
        curvature[:, effects, effects] += 2 * self.prior * likely * (1 - likely)
        return gradient, curvature

    def group_means(self, free: NDArray[np.intp]) -> FloatArray:
        """Return matrices that replace each free strength by the mean of its group of items.

        A group met, directly or through others; its mean strength does not change the posterior.
        """
        items = len(free) - 2
        met = (self.counts.sum(axis=2) > 0) @ _squares(np.abs(self.lead[:, free[:items]]))
        reached = met.reshape(-1, items, items) + np.eye(items) > 0
        for _ in range(items.bit_length()):
            reached = (reached.astype(np.float64) @ reached) > 0
        means = np.zeros((len(reached), len(free), len(free)))
        means[:, :items, :items] = reached / reached.sum(axis=2, keepdims=True)
        return means


def _squares(rows: FloatArray) -> FloatArray:
    """Return each row times itself, shape ``(rows, parameters ** 2)``."""
    return (rows[:, :, np.newaxis] * rows[:, np.newaxis]).reshape(len(rows), -1)


def _maxima(posterior: _Posterior, *, fixed: int | None = None) -> FloatArray:
    """Return the parameters with the highest posterior in each draw, by Newton's method.

    The posterior is concave, since the model and the prior are multinomial and linear. Strengths of
    each group of items that met have the mean 0.

    `fixed`: number of a parameter that stays 0.
    """
    draws, parameters = len(posterior.counts), posterior.design.shape[-1]
    free = _free(parameters, fixed)
    level = posterior.group_means(free)
    values = np.zeros((draws, parameters))
    rounds, reach = 0, math.inf
    while reach >= _CONVERGED and rounds < _ROUNDS:
        gradient, curvature = (part[:, free] for part in posterior.slopes(values))
        gradient -= np.einsum("dpq,dq->dp", level, gradient)
        step = np.linalg.solve(curvature[:, :, free] + level, gradient[:, :, np.newaxis])[:, :, 0]
        longest = np.abs(step).max(axis=1, keepdims=True)
        values[:, free] += step * np.minimum(1.0, _LONGEST_STEP / np.maximum(longest, 1.0))
        rounds, reach = rounds + 1, float(longest.max())
    return values


def _free(parameters: int, fixed: int | None) -> NDArray[np.intp]:
    return np.array([number for number in range(parameters) if number != fixed], dtype=np.intp)


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
