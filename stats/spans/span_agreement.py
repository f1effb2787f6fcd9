"""Agreement of the spans found in texts with gold spans: precision, recall and F1.

The overlap of two sets of spans is represented by three sums, which can be added up over texts.
Micro results are ratios of the totals over texts: long texts with many errors have the largest
weight, and a text without any span has none. Macro results are means over texts. There a text with
neither gold spans nor found ones is in perfect agreement, with 1 for all three; if only one side is
empty, F1 is 0, and the result that divides by the empty side is undefined and skipped in its mean.

References
----------
.. [1] Blain et al. (2023), Findings of the WMT 2023 Shared Task on Quality Estimation: characters
    with a half point for the other severity; with the script of its Task 2
.. [2] Scoring script of WMT 2025's error span detection task (`scoring_esa.py` of the
    organisers' repository `wmt25-mteval`): `get_char_f1`
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from spanjury.stats.arrays import FloatArray, safe_divide
from spanjury.stats.spans.spans import checked_labels, checked_spans, depths
from spanjury.stats.weighted import Weighted, mean_drop, ratio


class Overlap(NamedTuple):
    """The overlap of predicted and gold spans of a text, as sums."""

    both: float
    """Characters or spans that agree; partial credit counts as a fraction."""
    predicted: float
    """Characters or spans that were predicted."""
    gold: float
    """Characters or spans that are gold."""


class Agreement(NamedTuple):
    """Precision, recall and their harmonic mean; NaN if undefined."""

    precision: float
    recall: float
    f1: float


def character_overlap(predicted: ArrayLike, gold: ArrayLike) -> Overlap:
    """Count characters: soft agreement, where spans may differ in part.

    Parameters
    ----------
    predicted, gold
        Shape ``(n, 2)`` and ``(m, 2)``: half-open offsets. A character in two spans of one
        side counts once.

    Raises
    ------
    ValueError
        If a shape or a value is not as above.

    Examples
    --------
    >>> character_overlap([(0, 6)], [(4, 8), (5, 10)])
    Overlap(both=2.0, predicted=6.0, gold=6.0)
    """
    swept = depths((checked_spans(predicted), None), (checked_spans(gold), None))
    marked, true = (counts[0] > 0 for counts in swept.by_set)
    sums = (swept.widths @ both for both in (marked & true, marked, true))
    return Overlap(*(float(total) for total in sums))


def exact_overlap(predicted: ArrayLike, gold: ArrayLike) -> Overlap:
    """Count spans: hard agreement, for which start and end must be equal.

    Parameters and errors are those of `character_overlap`. Equal spans of one side count once.
    """
    marked, true = ({*map(tuple, checked_spans(side).tolist())} for side in (predicted, gold))
    return Overlap(float(len(marked & true)), float(len(marked)), float(len(true)))


def graded_overlap(
    predicted: ArrayLike,
    gold: ArrayLike,
    *,
    predicted_grades: ArrayLike,
    gold_grades: ArrayLike,
    partial: float = 0.5,
) -> Overlap:
    """Count characters by severity, like the error span tasks of WMT.

    On each character, the marks of a grade that both sides have agree; of the remaining marks,
    pairs of different grades get partial credit [2]_::

        sum_g min(f_g, t_g) + partial * min(sum_g max(0, f_g - t_g), sum_g max(0, t_g - f_g))

    with f_g and t_g the found and gold spans of grade g on the character. So a character in two
    spans of one side counts twice, like in [2]_; without such characters it is also the measure of
    2023 [1]_. With `partial` 0, only equal grades agree, and the grades may also be categories. If
    a whole corpus has no found spans, or no gold spans, WMT sets the undefined result to 1;
    `micro_effect` returns NaN.

    Parameters
    ----------
    predicted, gold
        As in `character_overlap`.
    predicted_grades, gold_grades
        Shape ``(n,)`` and ``(m,)``: nonnegative integers. WMT has two: minor, and major or
        critical.
    partial
        Credit for a character marked with another grade, in ``[0, 1]``.

    Raises
    ------
    ValueError
        If a shape or a value is not as above.
    """
    if not 0 <= partial <= 1:
        raise ValueError(f"expected a credit in [0, 1], got {partial!r}")
    sides = [checked_spans(predicted), checked_spans(gold)]
    grades = [
        checked_labels(grades, side)
        for grades, side in zip((predicted_grades, gold_grades), sides, strict=True)
    ]
    widths, (marked, true) = depths((sides[0], grades[0]), (sides[1], grades[1]))
    same = np.minimum(marked, true).sum(axis=0)
    excess, lack = (
        np.maximum(0, difference).sum(axis=0) for difference in (marked - true, true - marked)
    )
    credit = same + partial * np.minimum(excess, lack)
    sums = (widths @ count for count in (credit, marked.sum(axis=0), true.sum(axis=0)))
    return Overlap(*(float(total) for total in sums))


def micro_effect(overlaps: ArrayLike) -> Weighted:
    """Return the micro results as an effect for `bootstrap`.

    Raise `ValueError` if the shape is not as described.

    Parameters
    ----------
    overlaps
        Shape ``(texts, 3)``: `Overlap` of each text, the items of the bootstrap; NaN for a
        text that is skipped.

    Returns
    -------
    Weighted
        Effects of the shape ``(draws, 3)``: precision, recall, F1; NaN where undefined.
    """
    both, predicted, gold = _columns(overlaps)
    return ratio(np.stack([both, both, 2 * both]), np.stack([predicted, gold, predicted + gold]))


def macro_effect(overlaps: ArrayLike) -> Weighted:
    """Return the macro results as an effect for `bootstrap`; see `micro_effect`."""
    both, predicted, gold = _columns(overlaps)
    empty = predicted + gold == 0
    figures = [
        np.where(empty, 1.0, safe_divide(above, below))
        for above, below in ((both, predicted), (both, gold), (2 * both, predicted + gold))
    ]
    return mean_drop(np.stack(figures))


def _columns(overlaps: ArrayLike) -> FloatArray:
    rows = np.asarray(overlaps, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != len(Overlap._fields):  # noqa: PLR2004
        raise ValueError(f"expected three sums for each text, got the shape {rows.shape}")
    return rows.T
