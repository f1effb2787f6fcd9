"""Packs: sentences that are read in one pass, those of one source beside one copy of it.

Each piece sees its own source and the pieces of its own sentence before it, as if the sentence
stood alone behind the source. Trainer and judge pack alike, since both use this.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ids = tuple[int, ...]

_MOST = 640
"""Pieces of a pack, unless those of one source are more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pack:
    """Sources with their sentences in a row; arrays are ``(pieces,)``.

    Parameters
    ----------
    ids, positions
        Number of each piece, and its place behind the beginning of its own source.
    allowed
        ``(pieces, pieces)``: whether the first sees the second.
    sentences
        The sentence that each piece is of, by its place in what was packed; -1 for a source's.
    befores
        Place in the pack of the piece before each, among those that it sees.
    """

    ids: NDArray[np.int64]
    positions: NDArray[np.int64]
    allowed: NDArray[np.bool_]
    sentences: NDArray[np.int64]
    befores: NDArray[np.int64]


def packs(sources: Sequence[Ids], sentences: Sequence[Ids]) -> Iterator[Pack]:
    """Yield packs of `sentences`, each beside its own of `sources`; both hold numbers of pieces."""
    by_source: dict[Ids, list[int]] = {}
    for index, source in enumerate(sources):
        by_source.setdefault(source, []).append(index)
    group: dict[Ids, list[int]] = {}
    size = 0
    for source, indices in by_source.items():
        more = len(source) + sum(len(sentences[index]) for index in indices)
        if group and size + more > _MOST:
            yield _pack(group, sentences)
            group, size = {}, 0
        group[source] = indices
        size += more
    if group:
        yield _pack(group, sentences)


def _pack(group: dict[Ids, list[int]], sentences: Sequence[Ids]) -> Pack:
    ids: list[int] = []
    positions: list[int] = []
    numbers: list[int] = []
    owners: list[int] = []
    befores: list[int] = []
    for number, (source, indices) in enumerate(group.items()):
        start, count = len(ids), len(source)
        ids += source
        positions += range(count)
        owners += [-1] * count
        befores += [start, *range(start, start + count - 1)]
        for index in indices:
            first, own = len(ids), sentences[index]
            ids += own
            positions += range(count, count + len(own))
            owners += [index] * len(own)
            befores += [start + count - 1, *range(first, first + len(own) - 1)]
        numbers += [number] * (len(ids) - start)
    of_source, owner, order = np.array(numbers), np.array(owners), np.arange(len(ids))
    allowed = (of_source[:, None] == of_source) & (order[:, None] >= order)
    allowed &= (owner < 0) | (owner[:, None] == owner)
    return Pack(
        ids=np.array(ids),
        positions=np.array(positions),
        allowed=allowed,
        sentences=owner,
        befores=np.array(befores),
    )
