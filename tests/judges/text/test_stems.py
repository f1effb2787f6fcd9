"""Stems: forms of one word that count as the same."""

import pytest

from spanjury.judges.text.lexicon import FUNCTION_WORDS
from spanjury.judges.text.stems import stem


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("announced", "announcement"),
        ("running", "runs"),
        ("policies", "policy"),
        ("won", "winner"),
        ("children", "child"),
        ("tues", "tuesday"),
        ("cent", "percent"),
    ],
)
def test_forms_of_one_word_have_one_stem(left: str, right: str) -> None:
    assert stem(left) == stem(right)


@pytest.mark.parametrize(("left", "right"), [("evening", "even"), ("1200", "120"), ("cat", "car")])
def test_different_words_keep_different_stems(left: str, right: str) -> None:
    assert stem(left) != stem(right)


def test_a_function_word_is_its_own_stem() -> None:
    assert {stem(word) for word in FUNCTION_WORDS} == FUNCTION_WORDS
