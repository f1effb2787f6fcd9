"""Scripts and languages: whether the words of two texts compare."""

import pytest

from spanjury.judges.text.languages import (
    different_languages,
    foreign_language,
    script,
    unlike_languages,
)


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


ENGLISH = "The city approved the new bridge over the river, and the mayor spoke of it."


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (ENGLISH, "Kaupunki hyväksyi uuden sillan.", ("English", "unknown")),
        (ENGLISH, "Gur pvgl nccebirq gur oevqtr.", ("English", "unknown")),
        (ENGLISH, "Rada zatwierdziła nowy budżet.", ("English", "unknown")),
        (ENGLISH, "Die Stadt hat der neuen Brücke zugestimmt.", ("English", "German")),
        ("Die Stadt hat der Brücke nicht zugestimmt.", "The city said so.", ("German", "English")),
        ("Die Stadt hat der Brücke nicht zugestimmt.", "Brücke abgelehnt, Stadt spart.", None),
        (ENGLISH, "Council approves bridge over river.", None),
        (ENGLISH, "Mayor Jane Roe spoke.", None),
        (ENGLISH, "Brücke fertig.", None),  # too few words to tell
    ],
)
def test_an_uncertain_language_is_not_taken_for_english(
    left: str, right: str, expected: tuple[str, str] | None
) -> None:
    assert unlike_languages(left, right) == expected


def test_few_marker_words_tell_nothing() -> None:
    assert different_languages(["le", "chat"], ["the", "cat"]) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("die brucke und der turm sind nicht offen", "German"),
        ("le pont a ouvert et les gens sont contents", "French"),
        ("the council said that the bridge would not open in may", None),
        ("rio de janeiro and el salvador are not in the costa del sol", None),
        ("die hard was shown in van nuys", None),
        ("der", None),
        ("", None),
    ],
)
def test_a_language_besides_english_needs_two_of_its_words(text: str, expected: str | None) -> None:
    assert foreign_language(text.split()) == expected
