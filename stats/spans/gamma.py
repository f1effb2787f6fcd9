"""Gamma: how far two annotators agree on where spans are, beyond chance.

Spans of one annotator are aligned with those of the other, or left alone, in the way that costs
least [1]_. Two aligned spans cost ``((|s - s'| + |e - e'|) / (length + length'))**2``, and 1 more
if their labels differ; a span left alone costs 1. The disorder is the cost of the best alignment
per span of an annotator, and::

    gamma = 1 - observed disorder / expected disorder

1 for the same spans, about 0 for spans that have nothing to do with each other, below 0 where
annotators avoid each other's spans.

References
----------
.. [1] Mathet, Widlöcher, Métivier (2015), The Unified and Holistic Method Gamma for
   Inter-Annotator Agreement Measure and Alignment, Computational Linguistics 41(3):437-479,
   doi:10.1162/COLI_a_00227; with its combined dissimilarity, all weights and the cost of a span
   left alone 1
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

from spanjury.stats.arrays import FloatArray
from spanjury.stats.spans.random_spans import Marks, marks, random_pair, text_edges

__all__ = ["MIN_SAMPLES", "Gamma", "disorder", "gamma"]

MIN_SAMPLES = 300
"""Fewer random annotations make the expected disorder too uncertain."""

_ALONE = 1.0
_NORMAL_95 = 1.96


class Gamma(NamedTuple):
    """Agreement beyond chance, and what it is made of."""

    gamma: float
    """At most 1; NaN where no span is, or chance could not do worse."""
    observed: float
    """Disorder of the two annotators, in ``[0, 2]``."""
    expected: float
    """Mean disorder of random annotations."""
    precision: float
    """Half of the expected disorder's 95 % interval, as a part of it."""


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

    The texts count together: spans are aligned within a text, and costs are summed over texts.
    For the expected disorder, annotations of all texts, one after another, are shifted in a
    circle by a random number of characters, as [1]_ does in section 5.2 with one text; each of
    two random annotators takes the spans of one of the real ones, drawn at random. A shifted
    span that runs over the end of its text is moved back, and cut if it is longer than the text.

    Parameters
    ----------
    first, second
        The spans of each text, each of the shape ``(n, 2)``: half-open offsets.
    lengths
        Characters of each text, positive.
    rng
        Draws the random annotations.
    labels
        Of the spans of the first and of the second annotator, in the same order: whole numbers
        from 0. None to compare places only.
    samples
        How many random annotations, at least `MIN_SAMPLES`.

    Raises
    ------
    ValueError
        If a shape or a value is not as above, or a span is not within its text.
    """
    if samples < MIN_SAMPLES:
        raise ValueError(f"expected {MIN_SAMPLES} or more samples, got {samples!r}")
    edges = text_edges(lengths)
    told = labels or (None, None)
    both = (marks(first, edges, told[0]), marks(second, edges, told[1]))
    observed = disorder(*both)
    drawn = np.array([disorder(*random_pair(both, edges, rng)) for _ in range(samples)])
    expected = float(drawn.mean())
    if np.isnan(observed) or not expected:
        return Gamma(np.nan, observed, expected, np.nan)
    error = float(drawn.std(ddof=1)) / math.sqrt(samples)
    return Gamma(1 - observed / expected, observed, expected, _NORMAL_95 * error / expected)


def disorder(first: Marks, second: Marks) -> float:
    """Return the cost of the best alignment per span of an annotator, in ``[0, 2]``.

    Parameters
    ----------
    first, second
        From `spanjury.stats.spans.random_spans.marks`, over the same texts.

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
    """Return by how much the best alignment costs less than to leave every span alone."""
    pairs = _worthwhile(first, second)
    # A span whose every partner has no other one is free to take the best of them.
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
    """Pairs of spans of one text that cost less aligned than alone."""

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    gains: FloatArray


def _worthwhile(first: Marks, second: Marks) -> _Pairs:
    begin = np.searchsorted(second.texts, first.texts)
    counts = np.searchsorted(second.texts, first.texts, side="right") - begin
    rows = np.repeat(np.arange(len(counts)), counts)
    columns = np.arange(rows.size) + np.repeat(begin + counts - np.cumsum(counts), counts)
    starts, ends = first.starts[rows], first.ends[rows]
    others, tails = second.starts[columns], second.ends[columns]
    apart = np.abs(starts - others) + np.abs(ends - tails)
    place = (apart / ((ends - starts) + (tails - others))) ** 2
    gains = 2 * _ALONE - place - (first.labels[rows] != second.labels[columns])
    kept = gains > 0
    return _Pairs(rows[kept], columns[kept], gains[kept])


def _assigned(pairs: _Pairs) -> float:
    """Return what the best one-to-one alignment of one text saves."""
    rows, columns = pairs.rows - pairs.rows.min(), pairs.columns - pairs.columns.min()
    gains = np.zeros((rows.max() + 1, columns.max() + 1))
    gains[rows, columns] = pairs.gains
    return float(gains[linear_sum_assignment(gains, maximize=True)].sum())
