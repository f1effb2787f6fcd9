"""Alignment of the words of two texts, searched within a band around the diagonal.

Of several alignments with as few edits it is sacrebleu's [1], and so is the band.

References
----------
.. [1] Post (2018), WMT: sacrebleu, whose TER is that of Tercom
.. [2] Hyyrö (2003), A bit-vector algorithm for computing Levenshtein and Damerau edit distances,
       Nordic Journal of Computing 10(1)
"""

import math
from collections import defaultdict
from itertools import pairwise
from typing import NamedTuple

_BAND = 25  # words to each side of the diagonal
_BEYOND = 1 << 60  # edits to where the band does not reach
_LONG = 2_000  # words of a reference whose rows of bits would take too much memory
_NO_WORD = "\0"


_Steps = list[tuple[int, int]]


class BandAlignment(NamedTuple):
    """Alignment of the words of two texts.

    Parameters
    ----------
    edits
        How many words are to be changed, left out and added.
    aligned
        For each word of the reference that of the output which stands for it, else the one
        before it; -1 at the start.
    wrong, missed
        For each word of the output, and of the reference, whether the other has it there not.
    """

    edits: int
    aligned: list[int]
    wrong: list[bool]
    missed: list[bool]


def band_alignment(output: str, reference: str) -> BandAlignment:
    """Align texts of which each character is a word; neither is empty.

    Examples
    --------
    >>> band_alignment("xbc", "abcd")
    BandAlignment(edits=2, aligned=[0, 1, 2, 2], wrong=[True, False, False], \
missed=[True, False, False, True])
    """
    steps = _steps_between(output, reference) if len(reference) <= _LONG else []
    low, high = _band(output, reference)
    # A way without a band that lies within it is also the one that is found with it.
    if not all(low[row] <= column < high[row] for row, column in steps) or not steps:
        steps = _steps_in_band(output, reference, low=low, high=high)
    return _alignment(steps, output, reference)


def _band(output: str, reference: str) -> tuple[list[int], list[int]]:
    """Return the columns, from and to, of each row: a row for no word, one for one, and so on."""
    ratio, end = len(reference) / len(output), len(reference) + 1
    # Rows of very long references would not meet.
    width = _BAND if ratio / 2 <= _BAND else math.ceil(ratio / 2 + _BAND)
    diagonal = [math.floor(row * ratio) for row in range(len(output) + 1)]
    low = [max(0, column - width) for column in diagonal]
    high = [min(end, column + width) for column in diagonal]
    high[0] = high[-1] = end
    return low, high


def _steps_between(output: str, reference: str) -> _Steps:
    """Return the cells from the end to the start, found in whole rows of bits, [2] figure 5."""
    held: defaultdict[str, int] = defaultdict(int)
    for column, word in enumerate(reference):
        held[word] |= 1 << column
    whole = (1 << len(reference)) - 1
    more, less = whole, 0  # where a cell has an edit more than the one to its left, or one less
    rows: list[tuple[int, int]] = []
    for word in output:
        same = held[word]
        level = (((same & more) + more) ^ more) | same | less  # no more than to its upper left
        below = less | (whole & ~(level | more))  # an edit more than the one above it
        rows.append((level, below))
        right = (below << 1) | 1
        more, less = whole & (((level & more) << 1) | ~(level | right)), whole & right & level
    row, column = len(output), len(reference)
    steps = [(row, column)]
    while row and column:
        level, below = rows[row - 1]
        bit = 1 << (column - 1)
        if output[row - 1] == reference[column - 1] or not level & bit:
            row, column = row - 1, column - 1
        elif below & bit:
            row -= 1
        else:
            column -= 1
        steps.append((row, column))
    return steps


def _steps_in_band(output: str, reference: str, *, low: list[int], high: list[int]) -> _Steps:
    """Return the cells from the end to the start, worked out one by one."""
    rows = _costs(output, reference, low=low, high=high)
    row, column = len(output), len(reference)
    steps = [(row, column)]
    while row and column:
        here = rows[row][column - low[row]]
        above, at = rows[row - 1], column - low[row - 1]
        change = output[row - 1] != reference[column - 1]
        if 0 < at <= len(above) and above[at - 1] + change == here:
            row, column = row - 1, column - 1
        elif at < len(above) and above[at] + 1 == here:
            row -= 1
        else:
            column -= 1
        steps.append((row, column))
    return steps


def _costs(output: str, reference: str, *, low: list[int], high: list[int]) -> list[list[int]]:
    """Return the edits to each cell of the band."""
    wanted = _NO_WORD + reference
    costs = [*range(len(wanted))]
    rows = [costs]
    for row, word in enumerate(output, start=1):
        start, end, before = low[row], high[row], low[row - 1]
        beside = [_BEYOND, *costs, *[_BEYOND] * (end - before - len(costs))][start - before :]
        left, costs = _BEYOND, []
        for other, corner, above in zip(wanted[start:end], beside, beside[1:], strict=False):
            left = min(left, above) + 1
            left = min(left, corner + (other != word))
            costs.append(left)
        rows.append(costs)
    return rows


def _alignment(steps: _Steps, output: str, reference: str) -> BandAlignment:
    """Read an alignment off its way, which ends where one of the texts begins."""
    edits = sum(steps[-1])
    aligned = [-1] * len(reference)
    wrong, missed = [True] * len(output), [True] * len(reference)
    for (row, column), (above, left) in pairwise(steps):
        if left < column:
            aligned[left] = row - 1
        if above < row and left < column:
            wrong[above] = missed[left] = output[above] != reference[left]
            edits += wrong[above]
        else:
            edits += 1
    return BandAlignment(edits, aligned, wrong, missed)
