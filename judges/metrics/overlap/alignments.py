"""Pairs of words in which two texts agree, as n-gram metrics and ROUGE-L count them."""

from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz.distance import LCSseq

from spanjury.judges.core import MetricError

_MOST_CELLS = 2_500_000_000
"""Maximum number of cells of an alignment's table, which takes a bit per cell: 300 MB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NgramMatch:
    """An n-gram that occurs in both texts.

    Parameters
    ----------
    output, reference
        Indices of the words with which it begins, ascending, at least one each.
    """

    words: tuple[str, ...]
    output: tuple[int, ...]
    reference: tuple[int, ...]


def ngram_matches(
    output: Sequence[str], reference: Sequence[str], *, n: int
) -> tuple[NgramMatch, ...]:
    """Return the n-grams common to `output` and `reference`, by first occurrence in `output`.

    Raises `ValueError` if `n` is less than 1.

    Parameters
    ----------
    n
        Number of words of an n-gram, at least 1. Shorter texts have none.
    """
    theirs = _starts(reference, n)
    return tuple(
        NgramMatch(words=words, output=tuple(starts), reference=tuple(theirs[words]))
        for words, starts in _starts(output, n).items()
        if words in theirs
    )


def lcs_alignment(output: Sequence[str], reference: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Return the index pairs of a longest common subsequence, both sides ascending.

    The choice among several longest ones is deterministic. Time and space grow with the product of
    the lengths, 64 words of a row at once: 2,000 by 2,000 words take some milliseconds. Raises
    `MetricError` if the product of the lengths is above 2.5 thousand million.

    References
    ----------
    .. [1] Lin (2004), ROUGE: A Package for Automatic Evaluation of Summaries, section 3.1
    """
    if len(output) * len(reference) > _MOST_CELLS:
        raise MetricError(
            f"cannot align {len(output)} words with {len(reference)}: the product of the lengths"
            f" is above {_MOST_CELLS}; align shorter parts"
        )
    numbers: dict[str, int] = {}  # hashes of different words may be equal
    left, right = (
        [numbers.setdefault(word, len(numbers)) for word in words] for words in (output, reference)
    )
    return tuple(
        (same.src_start + step, same.dest_start + step)
        for same in LCSseq.opcodes(left, right)
        if same.tag == "equal"
        for step in range(same.src_end - same.src_start)
    )


def _starts(words: Sequence[str], n: int) -> dict[tuple[str, ...], list[int]]:
    """Return the indices at which each n-gram begins, n-grams by first occurrence."""
    if n < 1:
        raise ValueError(f"an n-gram has one word or more, got {n}")
    starts: dict[tuple[str, ...], list[int]] = {}
    for start in range(len(words) - n + 1):
        starts.setdefault(tuple(words[start : start + n]), []).append(start)
    return starts
