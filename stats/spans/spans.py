"""Spans of a text as arrays, and the number of spans that cover each character."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

IntArray = NDArray[np.int64]
Spans = NDArray[np.int64]
"""Half-open offsets, shape ``(n, 2)``, no span empty."""


class Depths(NamedTuple):
    """Number of spans over each stretch of a text; a stretch lies between neighbouring edges."""

    widths: IntArray
    """Characters of each stretch, shape ``(stretches,)``."""
    by_set: tuple[IntArray, ...]
    """For each set, the number of spans that cover a stretch, by label: ``(labels, stretches)``."""


def checked_spans(spans: ArrayLike) -> Spans:
    """Return `spans` as a validated array.

    Raises `ValueError` if a shape or a value is not as described.

    Parameters
    ----------
    spans
        Shape ``(n, 2)``: integers, ``0 <= start < end``; or empty.
    """
    array = np.asarray(spans)
    if array.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":  # noqa: PLR2004
        raise ValueError(f"expected pairs of whole numbers, got {spans!r}")
    if array.min() < 0 or (array[:, 0] >= array[:, 1]).any():
        raise ValueError(f"expected 0 <= start < end, got {spans!r}")
    return array.astype(np.int64)


def checked_labels(labels: ArrayLike, spans: Spans) -> IntArray:
    """Return `labels`, a nonnegative integer per span; raises `ValueError` for anything else."""
    array = np.asarray(labels)
    if array.size == 0:
        array = np.empty(0, dtype=np.int64)
    if array.shape != (len(spans),) or array.dtype.kind not in "iu" or array.min(initial=0) < 0:
        raise ValueError(f"expected {len(spans)} whole numbers from 0, got {labels!r}")
    return array.astype(np.int64)


def depths(*labelled: tuple[Spans, IntArray | None]) -> Depths:
    """Count the spans over each stretch for one or more sets, in O(n log n) for n spans.

    Parameters
    ----------
    labelled
        Spans and their labels, from `checked_spans` and `checked_labels`; None for one label.
    """
    edges = np.unique(np.concatenate([spans.ravel() for spans, _ in labelled]))
    sets = [
        (spans, np.zeros(len(spans), dtype=np.int64) if labels is None else labels)
        for spans, labels in labelled
    ]
    rows = 1 + max((int(labels.max(initial=0)) for _, labels in sets), default=0)
    counted = []
    for spans, row in sets:
        steps = np.zeros((rows, edges.size), dtype=np.int64)
        np.add.at(steps, (row, np.searchsorted(edges, spans[:, 0])), 1)
        np.add.at(steps, (row, np.searchsorted(edges, spans[:, 1])), -1)
        counted.append(np.cumsum(steps, axis=1)[:, :-1])
    return Depths(np.diff(edges), tuple(counted))
