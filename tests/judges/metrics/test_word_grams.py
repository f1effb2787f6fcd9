"""Texts that count as a word, and as an n-gram."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.metrics.words.grams import Tokens, grams, tokenise


@pytest.mark.parametrize(
    ("text", "tokens", "expected"),
    [
        ("The cat's 3.5-kg Toy!", "words", ["the", "cat's", "3.5", "kg", "toy"]),
        ("Well… (no)", "words-and-marks", ["well", "…", "(", "no", ")"]),
        ("Well… (no)", "blanks", ["well…", "(no)"]),
        ("L’été à Zürich", "words", ["l’été", "à", "zürich"]),
        ("東京は大きい。", "words-and-marks", ["東", "京", "は", "大", "き", "い", "。"]),
        ("हिन्दी भाषा", "words", ["हिन्दी", "भाषा"]),
        ("שָׁלוֹם עולם", "words", ["שָׁלוֹם", "עולם"]),
        ("ok 👍🏽", "words", ["ok"]),
        ("a_b", "words-and-marks", ["a", "_", "b"]),
        ("\ud800 x", "words-and-marks", ["\ud800", "x"]),
        (" \n\t", "words-and-marks", []),
    ],
)
def test_words_are_found_in_many_scripts(text: str, tokens: Tokens, expected: list[str]) -> None:
    assert list(tokenise(text, tokens)) == expected


@given(st.text(alphabet=st.characters(max_codepoint=127)), st.sampled_from(["é", "字"]))
def test_ascii_is_cut_the_same_beside_other_scripts(text: str, other: str) -> None:
    assert tokenise(f"{text} {other}", "words-and-marks") == (
        *tokenise(text, "words-and-marks"),
        other,
    )


def test_a_long_text_is_cut_as_a_short_one_is() -> None:
    assert tokenise("two words " * 9000, "words") == ("two", "words") * 9000


def test_grams_are_runs_of_words() -> None:
    assert list(grams("abcd", order=3)) == [("a", "b", "c"), ("b", "c", "d")]
    assert list(grams("ab", order=3)) == [("a", "b")]
    assert list(grams("", order=3)) == []
