"""Words: where they stand, how they are folded, their stems, and the languages of two texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.text.languages import (
    different_languages,
    foreign_language,
    script,
    unlike_languages,
)
from spanjury.judges.text.lexicon import FUNCTION_WORDS
from spanjury.judges.text.stems import stem
from spanjury.judges.text.words import Word, fold_word, folded_words, words

ENGLISH = "The city approved the new bridge over the river, and the mayor spoke of it."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ann's dogs don't bark", ["ann", "dogs", "don", "t", "bark"]),
        ("the team 's draw", ["the", "team", "draw"]),
        ("leader_name of 1,200 and 1, 200", ["leader", "name", "of", "1200", "and", "1200"]),
        ("the buses 12, 138, 139", ["the", "buses", "12", "138", "139"]),
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


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (ENGLISH, "Kaupunki hyväksyi uuden sillan.", ("English", "unknown")),
        (ENGLISH, "Gur pvgl nccebirq gur oevqtr.", ("English", "unknown")),
        (ENGLISH, "Rada zatwierdziła nowy budżet.", ("English", "unknown")),
        (ENGLISH, "Die Stadt hat der neuen Brücke zugestimmt.", ("English", "German")),
        ("Die Stadt hat der Brücke nicht zugestimmt.", "The city said so.", ("German", "English")),
        ("Der Zug fährt um acht Uhr ab.", "The train leaves at eight.", ("German", "English")),
        ("De trein vertrekt om acht uur.", "The train leaves at eight.", ("Dutch", "English")),
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
        ("yes i do like to go bowling with him", None),
        ("", None),
    ],
)
def test_a_language_besides_english_needs_two_of_its_words(text: str, expected: str | None) -> None:
    assert foreign_language(text.split()) == expected
