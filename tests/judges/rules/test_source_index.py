"""The index of a source: what it knows and what it puts together."""

import pytest

from spanjury.judges.rules.source_index import index_source
from spanjury.judges.text.stems import stem

NEWS = "The council approved 1,200 homes on Monday. Residents of Leeds will protest in 12 weeks."


def test_a_word_is_known_in_another_form() -> None:
    index = index_source(NEWS)
    assert all(index.knows(stem(word)) for word in ("approves", "approval", "protesters", "home"))
    assert not index.knows(stem("refused"))


def test_numbers_are_known_by_what_they_are_worth() -> None:
    index = index_source("It sold twelve hundred cars for $3 million.")
    assert index.values == [3, 1200, 3e6]
    assert index.states(1200)
    assert not index.states(1201)
    assert index.nearest(1300) == 1200
    assert index_source("no number").nearest(1) is None


def test_no_number_is_read_across_sentences() -> None:
    assert index_source("They are five. Hundred is a word.").values == [5, 100]


def test_words_are_together_in_one_sentence_only() -> None:
    index = index_source(NEWS)
    assert index.in_one_sentence(stem("council"), stem("homes"))
    assert not index.in_one_sentence(stem("council"), stem("residents"))
    assert not index.in_one_sentence(stem("council"), "nowhere")


@pytest.mark.parametrize(
    "data",
    [
        "name[The Eagle], eatType[coffee shop], area[riverside]",
        '{"leaderName": "Ann Lee", "eat_type": "coffee shop"}',
        "Aarhus | leaderName | Jacob Bundsgaard",
    ],
)
def test_data_is_not_prose(data: str) -> None:
    assert not index_source(data).prose


@pytest.mark.parametrize("text", [NEWS, "Storm hits Leeds", ""])
def test_sentences_and_headlines_are_prose(text: str) -> None:
    assert index_source(text).prose


def test_identifiers_are_read_as_words() -> None:
    index = index_source('{"leaderName": "Lee", "date_of_birth": "1970-03-05"}')
    present = ("leader", "name", "leadername", "birth", "march", "1970", "5")
    assert all(index.knows(stem(word)) for word in present)
