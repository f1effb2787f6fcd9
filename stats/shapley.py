"""Shapley values: a fair division of what a group achieves among its players."""

from collections.abc import Callable
from math import comb

import numpy as np
from numpy.typing import ArrayLike

from spanjury.stats.arrays import FloatArray

# Maximum number of players for which all subsets are evaluated.
MOST_PLAYERS = 12


def subset_worths(worth: Callable[[frozenset[int]], float], *, players: int) -> FloatArray:
    """Compute the worth of every subset of players.

    Parameters
    ----------
    worth
        Worth of a set of players, numbered from 0; called once a subset, the empty one first.
    players
        From 1 to 12.

    Returns
    -------
    FloatArray
        Shape ``(2**players,)``: bit i of an index is set if player i is in the subset.

    Raises
    ------
    ValueError
        If a range is not as above.

    Examples
    --------
    >>> subset_worths(len, players=2).tolist()
    [0.0, 1.0, 1.0, 2.0]
    """
    if not 1 <= players <= MOST_PLAYERS:
        raise ValueError(f"expected 1 to {MOST_PLAYERS} players, got {players!r}")
    subsets = (
        frozenset(player for player in range(players) if mask >> player & 1)
        for mask in range(2**players)
    )
    return np.array([worth(subset) for subset in subsets], dtype=np.float64)


def shapley_values(worths: ArrayLike) -> FloatArray:
    """Divide the worth of all players among them exactly [1]_.

    A player gets its average contribution over all orders in which players may join.

    Parameters
    ----------
    worths
        Shape ``(2**players,)``, of 1 to 12 players, as `subset_worths` returns them; finite, or
        NaN if undefined. That of no player comes first, and need not be 0.

    Returns
    -------
    FloatArray
        Shape ``(players,)``; sums to the worth of all minus that of none. All NaN if a worth
        is NaN.

    Raises
    ------
    ValueError
        If a shape or a value is not as above.

    References
    ----------
    .. [1] Shapley (1953), A value for n-person games, Annals of Mathematics Studies 28:307-317

    Examples
    --------
    >>> shapley_values([0, 0, 0, 1]).tolist()
    [0.5, 0.5]
    """
    values = np.asarray(worths, dtype=np.float64)
    players = values.size.bit_length() - 1
    if values.shape != (2**players,) or not 1 <= players <= MOST_PLAYERS:
        raise ValueError(f"expected 2 to 2**{MOST_PLAYERS} worths, a power, got {values.shape}")
    if np.isinf(values).any():
        raise ValueError("expected finite worths or NaN, got an infinite one")
    masks = np.arange(values.size)
    sizes = np.bitwise_count(masks)
    orders = np.array([1 / (players * comb(players - 1, size)) for size in range(players)])
    shares = np.empty(players)
    for player in range(players):
        before = masks[masks >> player & 1 == 0]
        added = values[before | 1 << player] - values[before]
        shares[player] = orders[sizes[before]] @ added
    return shares
