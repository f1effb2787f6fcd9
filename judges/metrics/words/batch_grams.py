"""How many n-grams each pair of a batch shares, all pairs at once."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from spanjury.judges.metrics.words.ids import Ids, dense_ids
from spanjury.judges.metrics.words.shared_grams import shared_by_order

__all__ = ["batch_gram_counts"]

_AT_ONCE = 30_000  # tokens: what is sorted stays in the cache of a core
_BITS = 62  # of a number, beside its sign and the bit that tells the two sides apart


def batch_gram_counts(tokens: Ids, sizes: Ids, *, order: int) -> Ids:
    """Count the n-grams of pairs of texts, and those that they share, n of 1 to `order`.

    Parameters
    ----------
    tokens
        Those of all texts one after another, left, right, left, right, as numbers that are not
        negative, equal ones for equal tokens.
    sizes
        Shape ``(pairs, 2)``: tokens of each text.
    order
        Longest n-grams, 1 or more.

    Returns
    -------
    numpy.ndarray
        Shape ``(pairs, order, 3)``: n-grams of the left, of the right, and shared.

    Examples
    --------
    >>> batch_gram_counts(np.array([5, 6, 7, 6, 7]), np.array([[3, 2]]), order=2).tolist()
    [[[3, 2, 2], [2, 1, 1]]]
    """
    counts = np.empty((len(sizes), order, 3), dtype=np.int64)
    counts[:, :, :2] = np.maximum(0, sizes[:, None, :] - np.arange(order)[:, None])
    start = 0
    for pairs in _batches(sizes.sum(axis=1)):
        end = start + int(sizes[pairs].sum())
        counts[pairs, :, 2] = _shared(tokens[start:end], sizes[pairs], order=order)
        start = end
    return counts


def _batches(sizes: Ids) -> Iterator[slice]:
    """Divide pairs into runs that together have a limited number of tokens, or are one pair."""
    ends = np.cumsum(sizes)
    start = 0
    while start < sizes.size:
        done = ends[start - 1] if start else 0
        end = max(start + 1, int(np.searchsorted(ends, done + _AT_ONCE, side="right")))
        yield slice(start, end)
        start = end


def _shared(tokens: Ids, sizes: Ids, *, order: int) -> Ids:
    """Sort the longest n-grams of all pairs once: their beginnings are then sorted too.

    A gram is one number: of which pair, then `order` times `width` bits, 0 where a text is at
    its end, then of which side.
    """
    if not tokens.size:
        return np.zeros((len(sizes), order), dtype=np.int64)
    tokens = dense_ids(tokens) + 1
    width = int(tokens.max()).bit_length()
    lengths = sizes.ravel()
    if len(sizes).bit_length() + width * order > _BITS:  # an alphabet of any size
        ends = np.cumsum(lengths)
        if len(sizes) == 1:
            return np.array([shared_by_order(tokens[: ends[0]], tokens[ends[0] :], order=order)])
        pairs = zip(np.split(tokens, ends[1:-1:2]), sizes, strict=True)
        return np.vstack([_shared(pair, size[None], order=order) for pair, size in pairs])
    of = np.repeat(np.arange(lengths.size), lengths)
    places = np.arange(tokens.size) + of * (order - 1)
    padded = np.zeros(tokens.size + lengths.size * (order - 1) + order, dtype=np.int64)
    padded[places] = tokens
    whole = padded.copy()
    for n in range(1, order):
        whole = whole << width
        whole[:-n] |= padded[n:]
    grams = ((of >> 1) << (width * order + 1)) | (whole[places] << 1) | (of & 1)
    grams.sort()
    return _shared_by_order(grams, order=order, width=width, pairs=len(sizes))


def _shared_by_order(grams: Ids, *, order: int, width: int, pairs: int) -> Ids:
    of_right = np.concatenate(([0], np.cumsum(grams & 1)))
    apart = grams[1:] ^ grams[:-1]
    shared = np.zeros((pairs, order), dtype=np.int64)
    edge: NDArray[np.bool_] = np.ones(grams.size + 1, dtype=np.bool_)
    for n in range(order):
        shift = 1 + width * (order - 1 - n)
        np.greater_equal(apart, 1 << shift, out=edge[1:-1])
        edges = np.flatnonzero(edge)
        runs, rights = np.diff(edges), np.diff(of_right[edges])
        both = np.minimum(rights, runs - rights)
        held = np.flatnonzero(both)
        numbers = grams[edges[held]] >> shift
        whole = held[(numbers & ((1 << width) - 1)) != 0]  # not what ends in no token
        owners = grams[edges[whole]] >> (width * order + 1)
        shared[:, n] = np.bincount(owners, weights=both[whole], minlength=pairs)
    return shared
