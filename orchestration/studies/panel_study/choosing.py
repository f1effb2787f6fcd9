"""Flattery: what the best of several panels gains by being chosen where it is measured."""

import numpy as np

from spanjury.stats.resampling import Resampled

CHOICE_DRAWS = 200
"""Samples in which the best is chosen again, at the most."""


def flattery(drawn: Resampled) -> float:
    """Return what the best gains by being chosen: the same choice in samples drawn again [1].

    Each sample's best is compared with what it is worth on all texts. The return value is 0 or
    more, or NaN if no sample defines the agreement of all.

    Parameters
    ----------
    drawn
        The agreement of those that are chosen from, in the same samples; draws of shape
        ``(draws, many)``.

    References
    ----------
    .. [1] Harrell, Lee, Mark (1996), Statistics in Medicine 15(4):361-387, section 6.

    Examples
    --------
    >>> from numpy import array
    >>> flattery(Resampled(array([0.5, 0.5]), array([[0.7, 0.5], [0.4, 0.8]])))
    0.15
    """
    moved = drawn.draws - drawn.estimate
    whole = ~np.isnan(moved).any(axis=1)
    if not whole.any():
        return np.nan
    # Draws hold texts twice, which moves all correlations a little: that is no choice's gain.
    gained = moved[whole] - moved[whole].mean(axis=1, keepdims=True)
    chosen = drawn.draws[whole].argmax(axis=1)
    return max(float(gained[np.arange(len(gained)), chosen].mean()), 0.0)
