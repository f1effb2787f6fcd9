"""Runs: which words make one finding."""

from collections.abc import Sequence

import pytest

from spanjury.judges.checker.evidence import runs
from spanjury.judges.core import Likelihoods
from spanjury.judges.text.tokens import tokens


def marked(text: str, *words: str) -> list[str]:
    """Return the runs of `text` where every one of `words` is contradicted, punctuation too."""
    read = tokens(text)
    bad, good = Likelihoods(0.1, 0.9, 0.0), Likelihoods(0.9, 0.1, 0.0)
    likely = [bad if token.text in words else good for token in read]
    runs_found = runs(read, likely, threshold=0.5)
    return [text[read[run.first].start : read[run.stop - 1].end] for run in runs_found]


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("He sold two red cars.", ["two", "cars"], ["two", "cars"]),
        ("He sold cars in Paris.", ["cars", "Paris"], ["cars in Paris"]),
        ("He sold cars out of Paris.", ["cars", "Paris"], ["cars", "Paris"]),
        ("He sold cars, Paris and all.", ["cars", "Paris"], ["cars", "Paris"]),
        ("A well-known man.", ["known", "man"], ["well-known man"]),
        ("An old-fashioned man.", ["old", "fashioned"], ["old-fashioned"]),
        ("A state-of-the-art house.", ["art"], ["state-of-the-art"]),
        ("A state-of-the-art house.", ["state", "art"], ["state-of-the-art"]),
        ("An old - red car.", ["red"], ["red"]),
        ("It was in the house of Ann.", ["in", "the", "house", "of"], ["house"]),
        ("It did not close.", ["did", "not"], ["not"]),
        ("It may not be.", ["may", "be"], ["may not be"]),
        ("It didn't close.", ["didn't", "close"], ["didn't close"]),
        ("So she left him.", ["she"], ["she"]),
        ("It closed .", ["."], []),
        ("It closed !", ["closed", "!"], ["closed"]),
    ],
)
def test_marked_words_become_runs(text: str, words: Sequence[str], expected: list[str]) -> None:
    assert marked(text, *words) == expected
