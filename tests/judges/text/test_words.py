"""Words: where they stand and how they are folded."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.text.words import Word, fold_word, folded_words, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ann's dogs don't bark", ["ann", "dogs", "don", "t", "bark"]),
        ("the team 's draw", ["the", "team", "draw"]),
        ("leader_name of 1,200 and 1, 200", ["leader", "name", "of", "1200", "and", "1200"]),
        ("May 2, 2015", ["may", "2", "2015"]),
        ("the 21st, the 20 th and 2.50%", ["the", "21", "the", "20", "and", "2.5", "percent"]),
        ("£4m", ["4", "m"]),
        ("BEYONCÉ café", ["beyonce", "cafe"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("Straße", ["strasse"]),
        ("", []),
        ("'' ... \ud800", []),
    ],
)
def test_words_are_letters_or_numbers_folded(text: str, expected: list[str]) -> None:
    assert [word.folded for word in words(text)] == expected


def test_offsets_count_from_where_the_text_begins() -> None:
    assert words("a 1,200", offset=10) == [
        Word(start=10, end=11, text="a", folded="a"),
        Word(start=12, end=17, text="1,200", folded="1200"),
    ]


@pytest.mark.parametrize(
    ("word", "folded"),
    [("007", "7"), ("0", "0"), ("1.0", "1"), ("1.2.30", "1.2.30"), ("1,000.50", "1000.5")],
)
def test_a_number_is_folded_to_one_spelling(word: str, folded: str) -> None:
    assert fold_word(word) == folded


@given(st.text())
def test_every_word_stands_where_it_says(text: str) -> None:
    for word in words(text):
        assert text[word.start : word.end] == word.text
        assert word.folded


@given(st.text(alphabet=st.characters(max_codepoint=0x2FFF)))
def test_the_fast_way_finds_the_same_words(text: str) -> None:
    assert folded_words(text) == [word.folded for word in words(text)]
