"""Gamma: the agreement of two annotators on the positions of spans, corrected for chance.

Spans of one annotator are aligned with those of the other, or left unaligned, at the lowest cost
[1]_. Two aligned spans cost ``((|s - s'| + |e - e'|) / (length + length'))**2``, and 1 more if
their labels differ; an unaligned span costs 1. The disorder is the cost of the best alignment
divided by the mean number of spans of an annotator, and::

    gamma = 1 - observed disorder / expected disorder

It is 1 for the same spans, about 0 for unrelated spans, and negative if annotators avoid each
other's spans.

References
----------
.. [1] Mathet, Widlöcher, Métivier (2015), The Unified and Holistic Method Gamma for
    Inter-Annotator Agreement Measure and Alignment, Computational Linguistics 41(3):437-479,
    doi:10.1162/COLI_a_00227; with its combined dissimilarity, all weights and the cost of an
    unaligned span 1
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

from spanjury.stats.arrays import FloatArray
from spanjury.stats.spans.spans import IntArray, checked_labels, checked_spans


class Marks(NamedTuple):
    """The spans of one annotator, ordered by text; offsets are in the concatenated texts."""

    starts: IntArray
    ends: IntArray
    texts: IntArray
    """The index of the text that a span is in, from 0."""
    labels: IntArray
    """Zeros if spans have none."""


def text_edges(lengths: ArrayLike) -> IntArray:
    """Return the starts of the texts when concatenated, and the end of the last one.

    Raises `ValueError` if the shape or a value is not as described, or all texts are empty.

    Parameters
    ----------
    lengths
        Length of each text in characters, shape ``(texts,)``, ``texts >= 1``; none negative.
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
    """Shift the spans of each text to its position in the concatenated texts.

    Raises `ValueError` if a shape or a value is not as described, or a span is not within its text.

    Parameters
    ----------
    spans
        For each text, shape ``(n, 2)``: half-open offsets in it.
    edges
        From `text_edges`.
    labels
        For each text, shape ``(n,)``: nonnegative integers; None for no labels.
    """
    if len(spans) != edges.size - 1 or (labels is not None and len(labels) != len(spans)):
        raise ValueError(f"expected spans and labels of {edges.size - 1} texts, got {len(spans)}")
    rows = [checked_spans(span) for span in spans]
    given_labels = [np.zeros(len(row), dtype=np.int64) for row in rows]
    if labels is not None:
        given_labels = [checked_labels(label, row) for label, row in zip(labels, rows, strict=True)]
    texts = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    laid = np.concatenate(rows) + edges[texts, np.newaxis]
    if (laid[:, 1] > edges[texts + 1]).any():
        raise ValueError("expected spans within their texts, got one that runs over the end")
    return Marks(laid[:, 0], laid[:, 1], texts, np.concatenate(given_labels))


def random_pair(both: tuple[Marks, Marks], edges: IntArray, rng: Generator) -> tuple[Marks, Marks]:
    """Return the spans of two random annotators.

    Each has the spans of one of `both`, drawn at random, shifted circularly by a random number of
    characters. If the texts are long enough, the shifts differ by at least half a mean span, so
    that chance does not reproduce an annotator.
    """
    size = int(edges[-1])
    spread = np.concatenate([side.ends - side.starts for side in both])
    apart = min(int(np.ceil(spread.mean() / 2)) if spread.size else 0, (size - 1) // 2)
    shift = int(rng.integers(size))
    other = shift + int(rng.integers(apart, size - apart))
    chosen = rng.integers(2, size=2)
    return _shifted(both[chosen[0]], shift, edges), _shifted(both[chosen[1]], other, edges)


def _shifted(spans: Marks, by: int, edges: IntArray) -> Marks:
    """Shift spans circularly; one that crosses the end of its text is moved back or cut."""
    starts = (spans.starts + by) % edges[-1]
    texts = np.searchsorted(edges, starts, side="right") - 1
    over = np.maximum(0, starts + (spans.ends - spans.starts) - edges[texts + 1])
    ends = np.minimum(starts + (spans.ends - spans.starts), edges[texts + 1])
    starts = np.maximum(starts - over, edges[texts])
    order = np.argsort(texts, kind="stable")
    return Marks(starts[order], ends[order], texts[order], spans.labels[order])


MIN_SAMPLES = 300
"""With fewer random annotations, the expected disorder is too uncertain."""

_ALONE = 1.0
_NORMAL_95 = 1.96


class Gamma(NamedTuple):
    """Agreement beyond chance, and its components."""

    gamma: float
    """At most 1; NaN without spans, or if the expected disorder is 0."""
    observed: float
    """Disorder of the two annotators, in ``[0, 2]``."""
    expected: float
    """Mean disorder of random annotations."""
    precision: float
    """Half the width of the expected disorder's 95 % interval, relative to it."""


def gamma(
    first: Sequence[ArrayLike],
    second: Sequence[ArrayLike],
    *,
    lengths: ArrayLike,
    rng: Generator,
    labels: tuple[Sequence[ArrayLike], Sequence[ArrayLike]] | None = None,
    samples: int = MIN_SAMPLES,
) -> Gamma:
    """Compare the spans of two annotators of the same texts.

    The texts are evaluated together: spans are aligned within a text, and costs are summed over
    texts. For the expected disorder, the annotations of the concatenated texts are shifted
    circularly by a random number of characters, like those of one text in section 5.2 of [1]_; each
    of two random annotators gets the spans of one of the real ones, drawn at random. A shifted span
    that crosses the end of its text is moved back, and cut if it is longer than the text.

    Parameters
    ----------
    first, second
        The spans of each text, each of the shape ``(n, 2)``: half-open offsets.
    lengths
        Length of each text in characters, positive.
    rng
        Generator of the random annotations.
    labels
        Of the spans of the first and of the second annotator, in the same order: nonnegative
        integers. None to compare positions only.
    samples
        Number of random annotations, at least `MIN_SAMPLES`.

    Raises
    ------
    ValueError
        If a shape or a value is not as above, or a span is not within its text.
    """
    if samples < MIN_SAMPLES:
        raise ValueError(f"expected {MIN_SAMPLES} or more samples, got {samples!r}")
    edges = text_edges(lengths)
    given_labels = labels or (None, None)
    both = (marks(first, edges, given_labels[0]), marks(second, edges, given_labels[1]))
    observed = disorder(*both)
    drawn = np.array([disorder(*random_pair(both, edges, rng)) for _ in range(samples)])
    expected = float(drawn.mean())
    if np.isnan(observed) or not expected:
        return Gamma(np.nan, observed, expected, np.nan)
    error = float(drawn.std(ddof=1)) / math.sqrt(samples)
    return Gamma(1 - observed / expected, observed, expected, _NORMAL_95 * error / expected)


def disorder(first: Marks, second: Marks) -> float:
    """Return the cost of the best alignment over the mean number of spans, in ``[0, 2]``.

    Parameters
    ----------
    first, second
        From `spanjury.stats.spans.gamma.marks`, over the same texts.

    Returns
    -------
    float
        NaN if neither annotator has a span.
    """
    count = len(first.texts) + len(second.texts)
    if not count:
        return np.nan
    return float(_ALONE * count - _saved(first, second)) / (count / 2)


def _saved(first: Marks, second: Marks) -> float:
    """Return how much less the best alignment costs than no alignment at all."""
    pairs = _candidate_pairs(first, second)
    # A span all of whose partners have no other partner can be aligned with the best of them.
    free, saved = np.zeros(len(pairs.gains), dtype=np.bool_), 0.0
    for ours, theirs in ((pairs.rows, pairs.columns), (pairs.columns, pairs.rows)):
        rivals = np.bincount(theirs)[theirs] if len(theirs) else theirs
        most, best = np.zeros((2, 1 + int(ours.max(initial=0))))
        np.maximum.at(most, ours, rivals)
        alone = ~free & (most[ours] == 1)
        np.maximum.at(best, ours[alone], pairs.gains[alone])
        saved += float(best.sum())
        free |= alone
    rest = _Pairs(pairs.rows[~free], pairs.columns[~free], pairs.gains[~free])
    if not len(rest.rows):
        return saved
    borders = np.flatnonzero(np.diff(first.texts[rest.rows])) + 1
    blocks = zip(
        np.split(rest.rows, borders),
        np.split(rest.columns, borders),
        np.split(rest.gains, borders),
        strict=True,
    )
    return saved + sum(_assigned(_Pairs(*block)) for block in blocks)


class _Pairs(NamedTuple):
    """Pairs of spans of one text that cost less aligned than unaligned."""

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    gains: FloatArray


def _candidate_pairs(first: Marks, second: Marks) -> _Pairs:
    begin = np.searchsorted(second.texts, first.texts)
    counts = np.searchsorted(second.texts, first.texts, side="right") - begin
    rows = np.repeat(np.arange(len(counts)), counts)
    columns = np.arange(rows.size) + np.repeat(begin + counts - np.cumsum(counts), counts)
    starts, ends = first.starts[rows], first.ends[rows]
    others, tails = second.starts[columns], second.ends[columns]
    apart = np.abs(starts - others) + np.abs(ends - tails)
    positional = (apart / ((ends - starts) + (tails - others))) ** 2
    gains = 2 * _ALONE - positional - (first.labels[rows] != second.labels[columns])
    kept = gains > 0
    return _Pairs(rows[kept], columns[kept], gains[kept])


def _assigned(pairs: _Pairs) -> float:
    """Return the savings of the best one-to-one alignment of one text."""
    rows, columns = pairs.rows - pairs.rows.min(), pairs.columns - pairs.columns.min()
    gains = np.zeros((rows.max() + 1, columns.max() + 1))
    gains[rows, columns] = pairs.gains
    return float(gains[linear_sum_assignment(gains, maximize=True)].sum())
