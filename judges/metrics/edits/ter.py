"""Translation edit rate: edits that turn an output into a reference, per word of references.

The choice and order of the shifts tried, and the band around the diagonal in which words are
compared, follow Tercom as in sacrebleu [2]_; the numbers are equal. Here each word is encoded as
one character, so that most shifts are compared in native code.

References
----------
.. [1] Snover, Dorr, Schwartz, Micciulla and Makhoul (2006), A study of translation edit rate
       with targeted human annotation, AMTA
.. [2] Post (2018), WMT: sacrebleu, whose TER is that of Tercom
.. [3] Hyyrö (2003), A bit-vector algorithm for computing Levenshtein and Damerau edit distances,
       Nordic Journal of Computing 10(1)
"""

import math
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count, pairwise
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein
from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer

from spanjury.judges.core import Sample, signature
from spanjury.judges.metrics.reductions import SummedRows
from spanjury.judges.metrics.signed import version

_LONGEST, _FAR = 10, 50  # maximum words of a phrase, and maximum distance of a shift
_TRIED = 1000  # maximum shifts; the search then ends and drops the current one


class BandAlignment(NamedTuple):
    """Alignment of the words of two texts.

    Parameters
    ----------
    edits
        Number of words to substitute, delete and insert.
    aligned
        For each word of the reference the index of the aligned word of the output, else of the
        one before it; -1 at the start.
    wrong, missed
        For each word of the output, and of the reference, whether it has no equal counterpart.
    """

    edits: int
    aligned: list[int]
    wrong: list[bool]
    missed: list[bool]


def band_alignment(output: str, reference: str) -> BandAlignment:
    """Align two non-empty texts in which each character encodes a word."""
    steps = _steps_between(output, reference) if len(reference) <= _LONG else []
    low, high = _band(output, reference)
    # An unrestricted path that stays within the band is also the path found in the band.
    if not all(low[row] <= column < high[row] for row, column in steps) or not steps:
        steps = _steps_in_band(output, reference, low=low, high=high)
    return _alignment(steps, output, reference)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ter(SummedRows):
    """TER as sacrebleu computes it, in percent of the mean length of the references.

    Parameters
    ----------
    asian_support
        Whether `normalize` and `no_punctuation` also apply to Chinese and Japanese characters.
    normalize
        Whether the text is tokenised like in Tercom.
    """

    asian_support: bool = False
    case_sensitive: bool = False
    no_punctuation: bool = False
    normalize: bool = False

    @property
    def signature(self) -> str:
        """The options, in sacrebleu's terms, and its version."""
        return signature(
            "ter",
            case="mixed" if self.case_sensitive else "lc",
            norm="yes" if self.normalize else "no",
            punct="no" if self.no_punctuation else "yes",
            asian="yes" if self.asian_support else "no",
            sacrebleu=version("sacrebleu"),
        )

    def statistics(self, samples: Sequence[Sample], /) -> list[list[float]]:
        """Return edits to the nearest reference, and the references' mean length in words."""
        return [self._row(sample) for sample in samples]

    def score_statistics(self, total: Sequence[float], /) -> float:
        """Return the rate of summed counts."""
        edits, length = total
        return 100.0 * (edits / length if length else float(edits > 0))

    def _row(self, sample: Sample) -> list[float]:
        cut = _tokenizer(self)
        output = cut(sample.output.rstrip()).split()
        # Like sacrebleu, tokenize references twice; this matters only for adjacent marks.
        references = [cut(cut(reference.rstrip())).split() for reference in sample.references]
        length = sum(map(len, references)) / len(references)
        return [fewest_edits(output, references), length]


class _Shift(NamedTuple):
    """A shift and the edits left after it; the smallest one is made."""

    edits: int
    less: int  # number of words moved, negative
    start: int
    to: int

    def of(self, words: str) -> str:
        """Return words in their new order; within the phrase, `to` counts from its end."""
        phrase, end = words[self.start : self.start - self.less], self.start - self.less
        if self.to < self.start:
            return words[: self.to] + phrase + words[self.to : self.start] + words[end:]
        to = self.to if self.to > end else self.to - self.less
        return words[: self.start] + words[end:to] + phrase + words[to:]


def fewest_edits(output: Sequence[str], references: Sequence[Sequence[str]]) -> int:
    """Return the minimum number of edits that turn the output into one of the references.

    A reference that cannot be closer than another for any shifts is not searched.
    """
    numbers: defaultdict[str, int] = defaultdict(count(1).__next__)
    ours, *theirs = (
        "".join(chr(numbers[word]) for word in words) for words in (output, *references)
    )
    fewest = len(ours) + max(map(len, theirs)) + 1
    for least, reference in sorted((_least(ours, their), their) for their in theirs):
        if least >= fewest:
            break
        fewest = min(fewest, _edits(ours, reference, least=least, enough=fewest))
    return fewest


def _least(output: str, reference: str) -> int:
    """Return the number of edits if the order of the words did not matter, a lower bound."""
    common = (Counter(output) & Counter(reference)).total()
    return max(len(output), len(reference)) - common


def _edits(output: str, reference: str, *, least: int, enough: int) -> int:
    """Shift phrases while it reduces the edits; a result of `enough` or more may be inexact."""
    if not output or not reference:
        return least
    alignment, shifts, tried = band_alignment(output, reference), 0, 0
    while alignment.edits > least and shifts + least < enough:
        candidates, tried = _candidates(output, reference, alignment=alignment, tried=tried)
        if tried >= _TRIED:
            break
        best = _best(candidates, output, reference, below=alignment.edits)
        if best is None:
            break
        output, shifts = best.of(output), shifts + 1
        alignment = band_alignment(output, reference)
    return shifts + alignment.edits


def _best(shifts: set[_Shift], output: str, reference: str, *, below: int) -> _Shift | None:
    """Return the smallest shift if it leaves fewer edits than `below`, else None."""
    hoped = [
        shift._replace(edits=edits)
        for shift in shifts
        # Without a band there are at most as many edits as with one.
        if (edits := Levenshtein.distance(shift.of(output), reference, score_cutoff=below - 1))
        < below
    ]
    best = None
    for shift in sorted(hoped):
        if best is not None and best < shift:
            break
        within = shift._replace(edits=band_alignment(shift.of(output), reference).edits)
        if within.edits < below and (best is None or within < best):
            best = within
    return best


def _candidates(
    output: str, reference: str, *, alignment: BandAlignment, tried: int
) -> tuple[set[_Shift], int]:
    """Return shifts of phrases that the reference has elsewhere, and the number tried so far.

    The number counts repeated shifts; the search ends when it reaches a bound.
    """
    positions, wrong, missed = alignment.aligned, alignment.wrong, alignment.missed
    shifts: set[_Shift] = set()
    for start, of, most in _matches(output, reference):
        targets = [positions[of - 1] + 1 if of else 0]
        for length in range(1, most + 1):
            to = positions[of + length - 1] + 1
            if to != targets[-1]:
                targets.append(to)
            apart = not start <= positions[of] < start + length
            if apart and any(wrong[start : start + length]) and any(missed[of : of + length]):
                tried += len(targets)
                shifts.update(_Shift(0, -length, start, target) for target in targets)
                if tried >= _TRIED:
                    return shifts, tried
    return shifts, tried


def _matches(output: str, reference: str) -> Iterator[tuple[int, int, int]]:
    """Yield the starts of equal phrases in both texts, not too far apart, and their length."""
    indices: defaultdict[str, list[int]] = defaultdict(list)
    for of, word in enumerate(reference):
        indices[word].append(of)
    for start, word in enumerate(output):
        starts = indices.get(word, ())
        for of in starts[bisect_left(starts, start - _FAR) : bisect_left(starts, start + _FAR + 1)]:
            most = min(_LONGEST, len(output) - start, len(reference) - of)
            length = 1
            while length < most and output[start + length] == reference[of + length]:
                length += 1
            yield start, of, length


@lru_cache(maxsize=16)
def _tokenizer(options: Ter) -> TercomTokenizer:
    return TercomTokenizer(
        normalized=options.normalize,
        no_punct=options.no_punctuation,
        asian_support=options.asian_support,
        case_sensitive=options.case_sensitive,
    )


_BAND = 25  # words to each side of the diagonal
_BEYOND = 1 << 60  # edits of cells outside the band
_LONG = 2_000  # maximum words of a reference: longer rows of bits take too much memory
_NO_WORD = "\0"


_Steps = list[tuple[int, int]]


def _band(output: str, reference: str) -> tuple[list[int], list[int]]:
    """Return the half-open range of columns of each row; row n represents n words of the output."""
    ratio, end = len(reference) / len(output), len(reference) + 1
    # Otherwise the bands of successive rows would not overlap for very long references.
    width = _BAND if ratio / 2 <= _BAND else math.ceil(ratio / 2 + _BAND)
    diagonal = [math.floor(row * ratio) for row in range(len(output) + 1)]
    low = [max(0, column - width) for column in diagonal]
    high = [min(end, column + width) for column in diagonal]
    high[0] = high[-1] = end
    return low, high


def _steps_between(output: str, reference: str) -> _Steps:
    """Return the cells from the end to the start, computed in whole rows of bits, [3] figure 5."""
    columns: defaultdict[str, int] = defaultdict(int)
    for column, word in enumerate(reference):
        columns[word] |= 1 << column
    whole = (1 << len(reference)) - 1
    more, less = whole, 0  # cells with one edit more, or less, than the cell to the left
    rows: list[tuple[int, int]] = []
    for word in output:
        same = columns[word]
        level = (((same & more) + more) ^ more) | same | less  # as many as at the upper left
        below = less | (whole & ~(level | more))  # one edit more than in the cell above
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
    """Return the cells from the end to the start, computed cell by cell."""
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
        previous = [_BEYOND, *costs, *[_BEYOND] * (end - before - len(costs))][start - before :]
        left, costs = _BEYOND, []
        for other, corner, above in zip(wanted[start:end], previous, previous[1:], strict=False):
            left = min(left, above) + 1
            left = min(left, corner + (other != word))
            costs.append(left)
        rows.append(costs)
    return rows


def _alignment(steps: _Steps, output: str, reference: str) -> BandAlignment:
    """Derive an alignment from its path, which ends where one of the texts begins."""
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
