"""Comparison of a judge's spans with the positions of the damage.

A judge that marks half of a text hits half of the damage without having noticed it. So each rate
is accompanied by the rate that the same spans would achieve by chance.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Intervals = NDArray[np.int64]
"""Half-open offsets, shape ``(n, 2)``."""


class Localisation(NamedTuple):
    """The overlap of spans and damage, as sums that can be added up over texts."""

    places: int
    """Places of damage."""
    hits: int
    """Places that a span overlaps."""
    hits_by_chance: float
    """Number of hits expected if each place were anywhere in its text."""
    marked: int
    """Characters in spans."""
    damaged: int
    """Characters at the places."""
    both: int
    """Characters in spans and at the places."""

    @property
    def hit_rate(self) -> float:
        """Share of places hit; NaN without a place."""
        return _quotient(self.hits, self.places)

    @property
    def chance(self) -> float:
        """The hit rate expected by chance; NaN without a place."""
        return _quotient(self.hits_by_chance, self.places)

    @property
    def beyond_chance(self) -> float:
        """The hit rate rescaled so that chance is 0; negative if worse; NaN if chance is 1."""
        return _quotient(self.hits - self.hits_by_chance, self.places - self.hits_by_chance)

    @property
    def precision(self) -> float:
        """Share of marked characters that are at the places; NaN without a span."""
        return _quotient(self.both, self.marked)

    @property
    def recall(self) -> float:
        """Share of characters at the places that are marked; NaN without a place."""
        return _quotient(self.both, self.damaged)


def new_spans(damaged: ArrayLike, clean: ArrayLike, *, same: float = 0.5) -> Intervals:
    """Return the spans that a judge marks in a damaged text only.

    Raise `ValueError` if a shape or a range is not as described.

    Parameters
    ----------
    damaged
        Spans on the damaged text, shape ``(n, 2)``: half-open offsets.
    clean
        Spans on the clean text, shape ``(m, 2)``, as offsets of the damaged text; empty
        if the marked text was deleted.
    same
        Minimum intersection over union of two spans that are considered the same, in
        ``(0, 1]``; 1 for identical spans only.

    Returns
    -------
    Intervals
        Those rows of `damaged` that are not the same as any row of `clean`.

    Examples
    --------
    >>> new_spans([(0, 10), (20, 30)], [(1, 10)]).tolist()
    [[20, 30]]
    """
    if not 0 < same <= 1:
        raise ValueError(f"expected a share in (0, 1], got {same!r}")
    now, before = _checked(damaged), _checked(clean)
    starts, ends = now[:, [0]], now[:, [1]]
    shared = np.minimum(ends, before[:, 1]) - np.maximum(starts, before[:, 0])
    either = (ends - starts) + (before[:, 1] - before[:, 0]) - shared
    dominated = np.any((shared > 0) & (shared >= same * either), axis=1)
    return np.compress(~dominated, now, axis=0)


def localisation(
    spans: ArrayLike, damaged: ArrayLike, *, length: int, tolerance: int = 1
) -> Localisation:
    """Compare spans with the places of the damage in a text.

    Parameters
    ----------
    spans
        Shape ``(n, 2)``: half-open offsets in the damaged text; from `new_spans`.
    damaged
        Shape ``(m, 2)``: half-open offsets in the same text. The place of a deletion is empty:
        it is widened by ``tolerance + 1`` characters on each side, so that a span that ends at most
        `tolerance` characters away hits it.
    length
        Length of the damaged text in characters.
    tolerance
        At least 0.

    Returns
    -------
    Localisation
        The chance of a hit is the share of intervals of the same length in the text that a span
        overlaps. Characters in two spans, or at two places, count once.

    Raises
    ------
    ValueError
        If a shape is not as above, or an interval is not within the text.

    Examples
    --------
    >>> found = localisation([(4, 8)], [(5, 7), (15, 17)], length=20)
    >>> found.hit_rate, round(found.chance, 3)  # 5 of the 19 places of two characters
    (0.5, 0.263)
    """
    if tolerance < 0:
        raise ValueError(f"expected a tolerance of 0 or more, got {tolerance!r}")
    marked = _mask(_checked(spans, length=length), length)
    damage = _widened(_checked(damaged, length=length), length, by=tolerance + 1)
    at_damage = _mask(damage, length)
    return Localisation(
        places=len(damage),
        hits=sum(bool(marked[start:end].any()) for start, end in damage),
        hits_by_chance=sum(_chance_of_hit(marked, int(end - start)) for start, end in damage),
        marked=int(marked.sum()),
        damaged=int(at_damage.sum()),
        both=int((marked & at_damage).sum()),
    )


def pooled(results: Iterable[Localisation]) -> Localisation:
    """Return the sums of the results of several texts: each place has the same weight."""
    sums = [sum(column) for column in zip(*results, strict=True)]
    return Localisation._make(sums or [0] * len(Localisation._fields))


def _checked(intervals: ArrayLike, *, length: int | None = None) -> Intervals:
    array = np.asarray(intervals)
    if array.size == 0:
        array = np.empty((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":  # noqa: PLR2004
        raise ValueError(f"expected pairs of whole numbers, got {intervals!r}")
    outside = length is not None and array.max(initial=0) > length
    if outside or array.min(initial=0) < 0 or (array[:, 0] > array[:, 1]).any():
        raise ValueError(f"expected starts and ends in a text of {length}, got {intervals!r}")
    return array.astype(np.int64)


def _widened(intervals: Intervals, length: int, *, by: int) -> Intervals:
    """Return the places, with empty ones widened to the characters around them."""
    empty = intervals[:, 0] == intervals[:, 1]
    starts = intervals[:, 0] - by * empty
    ends = intervals[:, 1] + by * empty
    return np.stack([np.maximum(starts, 0), np.minimum(ends, length)], axis=1)


def _mask(intervals: Intervals, length: int) -> NDArray[np.bool_]:
    mask = np.zeros(length, dtype=np.bool_)
    for start, end in intervals:
        mask[start:end] = True
    return mask


def _chance_of_hit(marked: NDArray[np.bool_], width: int) -> float:
    """Return the share of all windows of a width that contain a marked character."""
    reached = np.concatenate([[0], np.cumsum(marked)])
    return float(np.mean(reached[width:] > reached[: reached.size - width]))


def _quotient(above: float, below: float) -> float:
    return above / below if below else np.nan
