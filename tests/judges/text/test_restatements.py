"""Restatements: other word orders in which a sentence says the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.text.restatements import restatements, unfronted
from spanjury.judges.text.words import folded_words

WORDS = st.sampled_from("is by at if , . The gate was not closed in 1932".split())  # noqa: SIM905


@pytest.mark.parametrize(
    ("sentence", "other"),
    [
        ("The gate was closed by the guard.", "the guard closed the gate."),
        ("The gate was closed at noon by the guard.", "the guard closed the gate at noon."),
        ("The gate must not be closed by guests.", "guests must not closed the gate."),
        ("The gate has been closed.", "closed the gate."),
        ("Because it rained, the match was off.", "the match was off because it rained."),
        ("In 1932 a firm built the bridge.", "a firm built the bridge in 1932."),
    ],
)
def test_a_passive_and_a_phrase_in_front_have_another_order(sentence: str, other: str) -> None:
    assert other in restatements(sentence)


def test_a_passive_without_an_agent_has_no_whole_restatement() -> None:
    assert [*restatements("The gate was closed at noon.", is_source=True)] == []


def test_each_verb_of_a_source_has_its_own_agent() -> None:
    sentence = "The tower was designed by Hall, built by Moss and later sold."
    assert [*restatements(sentence, is_source=True)] == [
        "Hall designed the tower.",
        "Moss built the tower.",
    ]
    assert [*restatements(sentence)] == []


@pytest.mark.parametrize(
    "sentence",
    [
        "The gate is red.",
        "In May, it rained, and the match was off.",
        "Although the gate was closed the guard left.",
        "The guard closed the gate.",
        "",
    ],
)
def test_other_sentences_have_none(sentence: str) -> None:
    assert [*restatements(sentence)] == []
    assert unfronted(sentence) == sentence


@given(st.lists(WORDS, max_size=20).map(" ".join))
def test_no_restatement_has_a_word_that_the_sentence_lacks(sentence: str) -> None:
    for other in restatements(sentence):
        assert {*folded_words(other)} <= {*folded_words(sentence)}
