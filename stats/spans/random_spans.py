"""Spans of many texts laid end to end, and the same spans at random places."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from spanjury.stats.spans.spans import IntArray, checked_labels, checked_spans

__all__ = ["Marks", "marks", "random_pair", "text_edges"]


class Marks(NamedTuple):
    """The spans of one annotator, ordered by text; offsets are of all texts laid end to end."""

    starts: IntArray
    ends: IntArray
    texts: IntArray
    """Which text a span lies in, from 0."""
    labels: IntArray
    """Zeros where spans have none."""


def text_edges(lengths: ArrayLike) -> IntArray:
    """Return where texts laid end to end begin, and after them where the last one ends.

    Parameters
    ----------
    lengths
        Characters of each text, shape ``(texts,)``, ``texts >= 1``; none negative.

    Raises
    ------
    ValueError
        If the shape or a value is not as above, or all texts are empty.
    """
    array = np.asarray(lengths)
    if array.ndim != 1 or array.dtype.kind not in "iu" or array.min(initial=0) < 0:
        raise ValueError(f"expected the lengths of texts, got {lengths!r}")
    edges = np.concatenate([[0], np.cumsum(array, dtype=np.int64)])
    if not edges[-1]:
        raise ValueError(f"expected texts that are not all empty, got {lengths!r}")
    return edges


def marks(
    spans: Sequence[ArrayLike], edges: IntArray, labels: Sequence[ArrayLike] | None = None
) -> Marks:
    """Lay the spans of each text where the text lies.

    Parameters
    ----------
    spans
        For each text, shape ``(n, 2)``: half-open offsets in it.
    edges
        From `text_edges`.
    labels
        For each text, shape ``(n,)``: whole numbers from 0; None for no labels.

    Raises
    ------
    ValueError
        If a shape or a value is not as above, or a span is not within its text.
    """
    if len(spans) != edges.size - 1 or (labels is not None and len(labels) != len(spans)):
        raise ValueError(f"expected spans and labels of {edges.size - 1} texts, got {len(spans)}")
    rows = [checked_spans(one) for one in spans]
    told = [np.zeros(len(row), dtype=np.int64) for row in rows]
    if labels is not None:
        told = [checked_labels(one, row) for one, row in zip(labels, rows, strict=True)]
    texts = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    laid = np.concatenate(rows) + edges[texts, np.newaxis]
    if (laid[:, 1] > edges[texts + 1]).any():
        raise ValueError("expected spans within their texts, got one that runs over the end")
    return Marks(laid[:, 0], laid[:, 1], texts, np.concatenate(told))


def random_pair(both: tuple[Marks, Marks], edges: IntArray, rng: Generator) -> tuple[Marks, Marks]:
    """Return the spans of two random annotators.

    Each has the spans of one of `both`, drawn at random, shifted in a circle by a random number
    of characters; shifts are half a mean span apart or more, where the texts are long enough
    for that, lest chance repeat an annotator.
    """
    size = int(edges[-1])
    spread = np.concatenate([one.ends - one.starts for one in both])
    apart = min(int(np.ceil(spread.mean() / 2)) if spread.size else 0, (size - 1) // 2)
    shift = int(rng.integers(size))
    other = shift + int(rng.integers(apart, size - apart))
    chosen = rng.integers(2, size=2)
    return _shifted(both[chosen[0]], shift, edges), _shifted(both[chosen[1]], other, edges)


def _shifted(one: Marks, by: int, edges: IntArray) -> Marks:
    """Move spans in a circle; one that runs over the end of its text is moved back or cut."""
    starts = (one.starts + by) % edges[-1]
    texts = np.searchsorted(edges, starts, side="right") - 1
    over = np.maximum(0, starts + (one.ends - one.starts) - edges[texts + 1])
    ends = np.minimum(starts + (one.ends - one.starts), edges[texts + 1])
    starts = np.maximum(starts - over, edges[texts])
    order = np.argsort(texts, kind="stable")
    return Marks(starts[order], ends[order], texts[order], one.labels[order])
