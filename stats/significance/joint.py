"""One test over all aspects of an item, whatever the dependence between the aspects."""

from typing import Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from spanjury.stats.combination.combining import checked_weights
from spanjury.stats.significance.paired import PairedTest, Pairs, paired
from spanjury.stats.significance.permutation import ROUNDING, log_share_reaching, random_signs
from spanjury.stats.significance.signed_rank import signed_ranks


def joint_sign_flip(
    differences: ArrayLike,
    *,
    rng: Generator,
    weights: ArrayLike | None = None,
    over: Literal["sum", "max"] = "sum",
    draws: int = 9999,
) -> PairedTest:
    """Test whether scores fall, with one random sign an item for all its aspects.

    The aspects of an item keep their dependence in every draw, so that no assumption about
    it is needed. Each aspect's signed ranks are first divided by their standard deviation
    under random signs, so that none counts for more because it has more differences.

    Parameters
    ----------
    differences
        Clean minus damaged score; shape ``(aspects, items)``, finite, or NaN where a score
        is missing. An aspect without a change or without a pair contributes nothing.
    rng
        Generator of the signs.
    weights
        Shape ``(aspects,)``, not negative, sum 1; equal if None.
    over
        ``sum``: the weighted sum over aspects, in which a weight of 0.1 contributes a tenth;
        more powerful if several aspects fall. ``max``: the maximum over the aspects with nonzero
        weight; more powerful if a single one falls, whatever its weight, like the harmonic mean.
    draws
        Number of draws, at least 1.

    Returns
    -------
    PairedTest
        Its counts are of items: used if an aspect differs, missing if all aspects are. p is never
        below ``1 / (draws + 1)``, so D is at most 3.07 with 9999 draws.

    Raises
    ------
    ValueError
        If a shape, a range or `over` is not as above.

    References
    ----------
    .. [1] Pesarin, Salmaso (2010), Permutation Tests for Complex Data, section 4.2
    """
    contrasts = np.asarray(differences, dtype=np.float64)
    if contrasts.ndim != 2 or not contrasts.size or np.isinf(contrasts).any():  # noqa: PLR2004
        raise ValueError(
            f"expected finite differences of shape (aspects, items), got {differences!r}"
        )
    if over not in {"sum", "max"}:
        raise ValueError(f"expected over to be sum or max, got {over!r}")
    shares = checked_weights(weights, count=len(contrasts))
    weighted_rows = contrasts[shares > 0]
    parts = np.array([_standardised(row) for row in weighted_rows])
    columns = shares[shares > 0] @ parts if over == "sum" else parts
    observed = columns.sum(axis=-1).max()
    values = (
        (signs @ columns.T).reshape(len(signs), -1).max(axis=1)
        for signs in random_signs(rng, draws, items=contrasts.shape[1])
    )
    least = observed - ROUNDING * np.abs(columns).sum()
    return _items(weighted_rows).answer(
        log_share_reaching(values, least=float(least)), statistic=float(observed)
    )


def _standardised(differences: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the signed ranks, 0 for unchanged or missing ones; their squares sum to 1."""
    ranks, signs = signed_ranks(paired(differences))
    values = np.zeros(differences.shape)
    values[np.nan_to_num(differences) != 0] = ranks * signs
    return values / (float(np.linalg.norm(ranks)) or 1.0)


def _items(differences: NDArray[np.float64]) -> Pairs:
    """Return for each item whether any of its aspects changed, none did, or all are missing."""
    there = ~np.isnan(differences).all(axis=0)
    moved = (np.nan_to_num(differences) != 0).any(axis=0)
    return Pairs(moved[there].astype(np.float64), int(np.count_nonzero(~there)))
