"""Runs: which words make one finding."""

from collections.abc import Sequence

import pytest

from spanjury.judges.core import Likelihoods
from spanjury.judges.reader.copies import copies_of
from spanjury.judges.reader.runs import runs
from spanjury.judges.text.tokens import tokens

SOURCES = {
    "Article": "Ann Lee won 1,200 votes. If the council agrees, the bridge opens in May.",
    "Notes": "The tower is old.",
}


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
        ("It didn't close.", ["didn't", "close"], ["didn't close"]),
        ("So she left him.", ["she"], ["she"]),
        ("It closed .", ["."], []),
        ("It closed !", ["closed", "!"], ["closed"]),
    ],
)
def test_marked_words_become_runs(text: str, words: Sequence[str], expected: list[str]) -> None:
    assert marked(text, *words) == expected


@pytest.mark.parametrize(
    ("sentence", "copied"),
    [
        ("ANN LEE WON 1200 VOTES", True),
        ("Lee won", True),
        ("won 1,200 votes. If the council", True),
        ("Ann Lee won 1,300 votes.", False),
        ("Lee Ann won", False),
        ("The bridge opens in May.", False),
        ("If the council agrees, the bridge opens in May.", True),
        ("in May. The tower", False),
        ("The tower is old.", True),
        ("tower is oldest", False),
        ("…", True),
    ],
)
def test_a_copy_stands_in_one_input_word_for_word_and_means_the_same(
    sentence: str, *, copied: bool
) -> None:
    assert copies_of(SOURCES).holds(sentence) is copied


def test_a_passage_that_is_first_denied_is_a_copy_of_no_later_one() -> None:
    twice = {"Article": "They deny that the bridge is open. Later the bridge is open."}
    assert not copies_of(twice).holds("The bridge is open.")


def test_an_empty_source_holds_no_word() -> None:
    assert not copies_of({"Article": " "}).holds("Anything at all.")
    assert not copies_of({"Article": " "}).holds("No")
