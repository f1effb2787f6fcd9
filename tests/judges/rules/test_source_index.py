"""The index of a source: its words, numbers and sequences, and its sentence on the same matter."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import Report, Segment
from spanjury.judges.rules.evidence import same_subject
from spanjury.judges.rules.grounding import GroundingJudge
from spanjury.judges.rules.source_index import SHORT, Sequences, index_source, join_inputs, signs_of
from spanjury.judges.tasks import Catalogue
from spanjury.judges.text.numbers import Number, numbers
from spanjury.judges.text.stems import stem

WORDS = ("one", "two", "ten", "twenty", "hundred", "million", "and", "dozen", "m", "7", "0.5", "x")
LETTERS = st.lists(
    st.sampled_from(["the", "city", "will", "close", "its", "old", "pool"]), max_size=20
)
NEWS = "The council approved 1,200 homes on Monday. Residents of Leeds will protest in 12 weeks."
FAITHFULNESS = Catalogue.load().aspect("qa", "faithfulness")
INPUTS = {
    "Question": "What did the harbour council decide",
    "Context [1]": "The weather was fine. Ships left at noon.",
    "Context [2]": "Prices rose. The harbour council approved the new ferry terminal.",
}


def test_numbers_are_read_from_words() -> None:
    for text, values in [
        ("1200", [1200]),
        ("twelve hundred", [1200]),
        ("two hundred and six people", [206]),
        ("twenty five of thirty", [25, 30]),
        ("two three", [2, 3]),
        ("1.5 million and 3 bn", [1.5e6, 3e9]),
        ("one hundred thousand", [100_000]),
        ("two dozen", [24]),
        ("one of them", []),
        ("zero risk", []),
        ("m and k", []),
        ("1.2.3", [float("inf")]),
        ("9" * 400, [float("inf")]),
        ("half a million", [1e6]),
    ]:
        assert [number.value for number in numbers(text.split())] == values, (text, values)


def test_a_number_tells_its_words_and_whether_it_is_spelled() -> None:
    assert list(numbers(["about", "four", "million", "5", "m"])) == [
        Number(first=1, stop=3, value=4e6, spelled=True),
        Number(first=3, stop=5, value=5e6, spelled=False),
    ]


@given(st.lists(st.sampled_from(WORDS)))
def test_numbers_never_overlap(folded: list[str]) -> None:
    read = list(numbers(folded))
    assert all(left.stop <= right.first for left, right in pairwise(read))
    assert all(number.first < number.stop <= len(folded) for number in read)


def test_two_and_three_words_in_a_row_are_held_as_they_stand() -> None:
    words = ["the", "city", "will", "close", "the", "pool"]
    source = Sequences(words, signs=signs_of({*words}))
    assert source.held(["close", "the", "city", "pool"], size=2) == [True, True, False]
    assert source.held(["will", "close", "the", "city"], size=3) == [True, False]
    assert source.held(["pool"], size=2) == []


@given(LETTERS, LETTERS, st.sampled_from((2, 3)))
def test_all_sources_are_searched_alike(source: list[str], words: list[str], size: int) -> None:
    short = Sequences(source, signs=signs_of({*source}))
    assert short.held(words, size=size) == Sequences(source, signs=None).held(words, size=size)


def test_there_are_signs_for_every_word_of_a_short_source_and_no_more() -> None:
    assert len(signs_of({str(number) for number in range(SHORT)}) or ()) == SHORT
    assert signs_of({str(number) for number in range(100 * SHORT)}) is None


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


async def judged(output: str, inputs: dict[str, str]) -> Report:
    segment = Segment(segment_id="1", output=output, inputs=inputs)
    return await GroundingJudge().assess(segment, FAITHFULNESS)


async def test_a_name_that_the_source_lacks_is_shown_the_sentence_about_the_same() -> None:
    output = "The harbour council approved the new ferry terminal of Jane Roe."
    (span,) = (await judged(output, INPUTS)).spans
    (evidence,) = span.evidence
    assert (span.text, span.category) == ("Jane Roe", "unsupported name")
    assert (evidence.input, evidence.text) == (
        "Context [2]",
        "The harbour council approved the new ferry terminal.",
    )
    assert INPUTS["Context [2]"][evidence.start : evidence.end] == evidence.text


async def test_unsupported_topics_have_no_evidence() -> None:
    (span,) = (await judged("The council met Jane Roe.", INPUTS)).spans
    assert (span.text, span.evidence) == ("Jane Roe", ())


def test_the_words_must_be_three_and_half_of_all() -> None:
    source = join_inputs({"Article": "A ferry carried sheep over the lake. It rained."})
    lakes = ("ferry", "carried", "sheep")
    assert same_subject(lakes[:2], source=source) is None
    passage = same_subject([*lakes, "dogs", "cats", "hens"], source=source)
    assert passage is not None
    assert passage.text == "A ferry carried sheep over the lake."
    assert same_subject([*lakes, "dogs", "cats", "hens", "cows"], source=source) is None


def test_words_of_grammar_do_not_count() -> None:
    source = join_inputs({"Article": "It was the one of the two that he had with him."})
    words = ["it", "was", "the", "one", "of", "the", "two", "that", "he", "had"]
    assert same_subject(words, source=source) is None


def test_no_place_reaches_from_one_input_into_the_next() -> None:
    inputs = {"Context [1]": "the ferry carried", "Context [2]": "sheep over the lake"}
    assert same_subject(["ferry", "carried", "sheep", "lake"], source=join_inputs(inputs)) is None


def test_the_first_of_equally_similar_sentences_is_shown() -> None:
    inputs = {"A": "No. Ferries carried sheep.", "B": "Ferries carried sheep."}
    passage = same_subject(["ferries", "carried", "sheep"], source=join_inputs(inputs))
    assert passage is not None
    assert (passage.input, passage.start) == ("A", 4)


def test_a_sentence_that_is_a_page_long_shows_nothing() -> None:
    text = "ferry carried sheep " * 40
    words = ["ferry", "carried", "sheep"]
    assert same_subject(words, source=join_inputs({"A": f"{text}."})) is None
