"""Copies: which sentences stand in the source word for word."""

import pytest

from spanjury.judges.reader.windows import copies_of

SOURCES = {
    "Article": "Ann Lee won 1,200 votes. If the council agrees, the bridge opens in May.",
    "Notes": "The tower is old.",
}


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
