"""A source, split into sentences and words once for all its users."""

from collections.abc import Sequence
from typing import NamedTuple

from spanjury.judges.text.kept import KeptByText
from spanjury.judges.text.sentences import sentence_intervals
from spanjury.judges.text.words import folded_words


class SourceText(NamedTuple):
    """A text with its sentences.

    Parameters
    ----------
    intervals
        Half-open offsets of its sentences.
    folded
        The folded words of each sentence.
    """

    text: str
    intervals: Sequence[tuple[int, int]]
    folded: Sequence[Sequence[str]]


def _cut(text: str) -> SourceText:
    intervals = [*sentence_intervals(text)]
    return SourceText(text, intervals, [folded_words(text[start:end]) for start, end in intervals])


cut_source = KeptByText(_cut)
"""Split a source into sentences and words; takes time and memory linear in its length."""
