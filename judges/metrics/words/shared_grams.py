"""How many n-grams two sequences share, counted on arrays of whole numbers."""

import numpy as np

from spanjury.judges.metrics.words.ids import Ids

__all__ = ["shared_by_order", "shared_count"]


def shared_count(left: Ids, right: Ids) -> int:
    """Return the size of the intersection of two multisets of numbers that are not negative.

    Examples
    --------
    >>> shared_count(np.array([5, 5, 7]), np.array([5, 7, 7]))
    2
    """
    if not left.size or not right.size:
        return 0
    both = np.concatenate((left * 2, right * 2 + 1))
    both.sort()
    values = both >> 1
    starts = np.flatnonzero(np.concatenate(([True], values[1:] != values[:-1])))
    of_right = np.add.reduceat(both & 1, starts)
    of_both = np.diff(starts, append=both.size)
    return int(np.minimum(of_right, of_both - of_right).sum())


def shared_by_order(left: Ids, right: Ids, *, order: int) -> list[int]:
    """Return how many n-grams two sequences share, n of 1 to `order`, of any alphabet."""
    ours, theirs, shared = left, right, [shared_count(left, right)]
    for n in range(1, order):
        ours, theirs, _ = _numbered_anew(ours, theirs)
        left, right, base = _numbered_anew(left, right)
        ours, theirs = ours[:-1] * base + left[n:], theirs[:-1] * base + right[n:]
        shared.append(shared_count(ours, theirs))
    return shared


def _numbered_anew(left: Ids, right: Ids) -> tuple[Ids, Ids, int]:
    """Replace numbers by their ranks, and return how many there are."""
    values, ranks = np.unique(np.concatenate((left, right)), return_inverse=True)
    return ranks[: left.size], ranks[left.size :], values.size
