"""Texts as arrays of integers, compared at the speed of numpy."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from itertools import chain, count

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]

_BITS = 63  # bits of a number, without its sign
_SPARSE = 10  # ratio of numbers to tokens above which sorting is faster than a table


def character_ids(text: str) -> Ids:
    """Return the code points of `text`."""
    data = text.encode("utf-32-le", "surrogatepass")
    return np.frombuffer(data, dtype=np.uint32).astype(np.int64)


def token_ids(*sides: Sequence[Hashable]) -> list[Ids]:
    """Assign a number from 0 to each token, the same in all sequences."""
    tokens = flat_ids(sides)
    ends = np.cumsum([len(side) for side in sides], dtype=np.int64)
    return np.split(tokens, ends)[:-1]  # without the empty part after the last


def flat_ids(sides: Iterable[Sequence[Hashable]]) -> Ids:
    """Return the tokens of all sequences, concatenated, as numbers from 0."""
    numbers: defaultdict[Hashable, int] = defaultdict(count().__next__)
    return np.array([*map(numbers.__getitem__, chain.from_iterable(sides))], dtype=np.int64)


def dense_ids(ids: Ids) -> Ids:
    """Renumber `ids` from 0 without gaps, keeping their order.

    Examples
    --------
    >>> dense_ids(np.array([7, 2, 7])).tolist()
    [1, 0, 1]
    """
    if int(ids.max(initial=0)) > _SPARSE * ids.size:
        return ranked(ids)[0]
    present = np.zeros(int(ids.max(initial=0)) + 1, dtype=np.int64)
    present[ids] = 1
    return (np.cumsum(present) - 1)[ids]


def ranked(keys: Ids) -> tuple[Ids, int]:
    """Return the rank of each non-negative number in `keys`, and how many distinct ones there are.

    Examples
    --------
    >>> ranked(np.array([7, 2, 7]))
    (array([1, 0, 1]), 2)
    """
    ordered, order = in_order(keys)
    new = np.diff(ordered, prepend=-1) != 0
    ranks = np.empty_like(keys)
    ranks[order] = np.cumsum(new) - 1
    return ranks, int(new.sum())


def in_order(keys: Ids) -> tuple[Ids, Ids]:
    """Return non-negative numbers in ascending order, and the former index of each.

    Examples
    --------
    >>> in_order(np.array([7, 2, 7]))
    (array([2, 7, 7]), array([1, 0, 2]))
    """
    bits = int(keys.size).bit_length()
    if int(keys.max(initial=0)).bit_length() + bits > _BITS:
        order = np.argsort(keys, kind="stable")
        return keys[order], order
    # Sorting numbers that contain their index is several times as fast as `argsort`.
    with_index = (keys << bits) | np.arange(keys.size)
    with_index.sort()
    return with_index >> bits, with_index & ((1 << bits) - 1)


def contained(keys: Ids, ids: Ids) -> NDArray[np.bool_]:
    """Return, for each key, whether it is one of the sorted `ids`.

    Examples
    --------
    >>> contained(np.array([3, 9]), np.array([2, 3, 3])).tolist()
    [True, False]
    """
    if not ids.size:
        return np.zeros(keys.size, dtype=np.bool_)
    nearest = np.minimum(np.searchsorted(ids, keys), ids.size - 1)
    is_contained: NDArray[np.bool_] = ids[nearest] == keys
    return is_contained


def padded(sides: Sequence[Ids], *, filling: int) -> Ids:
    """Stack sequences as rows padded with `filling`, shape ``(len(sides), longest)``."""
    table = np.full((len(sides), max(side.size for side in sides)), filling, dtype=np.int64)
    for row, side in zip(table, sides, strict=True):
        row[: side.size] = side
    return table
