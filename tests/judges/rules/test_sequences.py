"""Sequences of words: a search in signs and sets of hashes say the same."""

from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.rules.source_index import SHORT, Sequences, signs_of

WORDS = st.lists(
    st.sampled_from(["the", "city", "will", "close", "its", "old", "pool"]), max_size=20
)


def test_two_and_three_words_in_a_row_are_held_as_they_stand() -> None:
    words = ["the", "city", "will", "close", "the", "pool"]
    source = Sequences(words, signs=signs_of({*words}))
    assert source.held(["close", "the", "city", "pool"], size=2) == [True, True, False]
    assert source.held(["will", "close", "the", "city"], size=3) == [True, False]
    assert source.held(["pool"], size=2) == []


@given(WORDS, WORDS, st.sampled_from((2, 3)))
def test_all_sources_are_searched_alike(source: list[str], words: list[str], size: int) -> None:
    short = Sequences(source, signs=signs_of({*source}))
    assert short.held(words, size=size) == Sequences(source, signs=None).held(words, size=size)


def test_there_are_signs_for_every_word_of_a_short_source_and_no_more() -> None:
    assert len(signs_of({str(number) for number in range(SHORT)}) or ()) == SHORT
    assert signs_of({str(number) for number in range(100 * SHORT)}) is None
