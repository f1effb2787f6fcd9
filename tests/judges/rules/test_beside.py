"""The sentence of the source that speaks of the same as a sentence of the text."""

from spanjury.judges.core import Report, Segment
from spanjury.judges.rules.evidence import same_subject
from spanjury.judges.rules.grounding import GroundingJudge
from spanjury.judges.rules.places import join_inputs
from spanjury.judges.tasks import Catalogue

FAITHFULNESS = Catalogue.load().aspect("qa", "faithfulness")
INPUTS = {
    "Question": "What did the harbour council decide",
    "Context [1]": "The weather was fine. Ships left at noon.",
    "Context [2]": "Prices rose. The harbour council approved the new ferry terminal.",
}


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
