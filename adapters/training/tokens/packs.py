"""Packs: texts that begin alike are read in one pass, and share what they begin with."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ids = tuple[int, ...]

_MOST = 640
"""Maximum number of tokens per pack; the endings of one beginning may exceed it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pack:
    """Beginnings and their endings, concatenated; arrays have the shape ``(tokens,)``.

    Parameters
    ----------
    ids, positions
        Id of each token, and its position after the start of its own text.
    allowed
        ``(tokens, tokens)``: whether the first attends to the second.
    texts
        Index of each token's text; -1 for tokens of a beginning.
    """

    ids: NDArray[np.int64]
    positions: NDArray[np.int64]
    allowed: NDArray[np.bool_]
    texts: NDArray[np.int64]


def packs(beginnings: Sequence[Ids], endings: Sequence[Ids]) -> Iterator[Pack]:
    """Yield packs of texts, each with an item of `beginnings` and one of `endings`, as ids."""
    by_beginning: dict[Ids, list[int]] = {}
    for index, beginning in enumerate(beginnings):
        by_beginning.setdefault(beginning, []).append(index)
    group: dict[Ids, list[int]] = {}
    size = 0
    for beginning, indices in by_beginning.items():
        more = len(beginning) + sum(len(endings[index]) for index in indices)
        if group and size + more > _MOST:
            yield _pack(group, endings)
            group, size = {}, 0
        group[beginning] = indices
        size += more
    if group:
        yield _pack(group, endings)


def _pack(group: dict[Ids, list[int]], endings: Sequence[Ids]) -> Pack:
    ids: list[int] = []
    positions: list[int] = []
    numbers: list[int] = []
    owners: list[int] = []
    for number, (beginning, indices) in enumerate(group.items()):
        start, count = len(ids), len(beginning)
        ids += beginning
        positions += range(count)
        owners += [-1] * count
        for index in indices:
            own = endings[index]
            ids += own
            positions += range(count, count + len(own))
            owners += [index] * len(own)
        numbers += [number] * (len(ids) - start)
    of_beginning, owner, order = np.array(numbers), np.array(owners), np.arange(len(ids))
    allowed = (of_beginning[:, None] == of_beginning) & (order[:, None] >= order)
    allowed &= (owner < 0) | (owner[:, None] == owner)
    return Pack(ids=np.array(ids), positions=np.array(positions), allowed=allowed, texts=owner)
