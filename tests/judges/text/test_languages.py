"""Scripts and languages: whether the words of two texts compare."""

import pytest

from spanjury.judges.text.languages import different_languages, script


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain words", "Latin"),
        ("déjà vu", "Latin"),
        ("Привет, Bob", "Cyrillic"),
        ("他来了", "Chinese or Japanese"),
        ("これは本です", "Chinese or Japanese"),
        ("123 !?", None),
        ("", None),
        ("\ud800é", "Latin"),
    ],
)
def test_a_text_is_in_the_script_of_most_of_its_letters(text: str, expected: str | None) -> None:
    assert script(text) == expected


def test_marker_words_tell_languages_apart() -> None:
    french = ["le", "chat", "et", "les", "chiens", "dans", "la", "maison"]
    english = ["the", "cat", "and", "the", "dogs", "of", "that", "house"]
    assert different_languages(french, english) == ("French", "English")
    assert different_languages(english, english) is None


def test_few_marker_words_tell_nothing() -> None:
    assert different_languages(["le", "chat"], ["the", "cat"]) is None
