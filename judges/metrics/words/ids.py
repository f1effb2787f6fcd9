"""Texts as arrays of integers, compared at the speed of numpy."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
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
    numbers: defaultdict[Hashable, int] = defaultdict(count().__next__)
    tokens = np.array([*map(numbers.__getitem__, chain.from_iterable(sides))], dtype=np.int64)
    ends = np.cumsum([len(side) for side in sides], dtype=np.int64)
    return np.split(tokens, ends)[:-1]  # without the empty part after the last


def dense_ids(ids: Ids) -> Ids:
    """Renumber `ids` from 0 without gaps, keeping their order."""
    if int(ids.max(initial=0)) > _SPARSE * ids.size:
        return ranked(ids)[0]
    present = np.zeros(int(ids.max(initial=0)) + 1, dtype=np.int64)
    present[ids] = 1
    return (np.cumsum(present) - 1)[ids]


def ranked(keys: Ids) -> tuple[Ids, int]:
    """Return the rank of each non-negative number in `keys`, and the number of distinct ones."""
    ordered, order = in_order(keys)
    new = np.diff(ordered, prepend=-1) != 0
    ranks = np.empty_like(keys)
    ranks[order] = np.cumsum(new) - 1
    return ranks, int(new.sum())


def in_order(keys: Ids) -> tuple[Ids, Ids]:
    """Return non-negative numbers in ascending order, and the former index of each."""
    bits = int(keys.size).bit_length()
    if int(keys.max(initial=0)).bit_length() + bits > _BITS:
        order = np.argsort(keys, kind="stable")
        return keys[order], order
    # Sorting numbers that contain their index is several times as fast as `argsort`.
    with_index = (keys << bits) | np.arange(keys.size)
    with_index.sort()
    return with_index >> bits, with_index & ((1 << bits) - 1)


def contained(keys: Ids, ids: Ids) -> NDArray[np.bool_]:
    """Return, for each key, whether it is one of the sorted `ids`."""
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
