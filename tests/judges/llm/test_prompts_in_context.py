"""Prompts on a sentence show the text before it, as something to read and not to judge."""

import pytest

from spanjury.judges.core import Message, Segment
from spanjury.judges.llm.geval import ask_for_score
from spanjury.judges.llm.prompt import PromptOptions, PromptWriter
from spanjury.judges.tasks import Catalogue

CONSISTENCY = Catalogue.load().aspect("summarization", "consistency")
INPUTS = {"Article": "Ann Berg came in May."}


def annotating(segment: Segment) -> tuple[Message, ...]:
    return PromptWriter(PromptOptions(evidence=True)).write(segment, CONSISTENCY).messages


def scoring(segment: Segment) -> tuple[Message, ...]:
    return ask_for_score(segment, CONSISTENCY, steps="1. Read.")


@pytest.mark.parametrize("asked", [annotating, scoring])
def test_the_text_before_a_sentence_is_shown_and_is_no_source(asked: object) -> None:
    assert callable(asked)
    shown = asked(Segment(output="She left in June.", before="Ann came. ", inputs=INPUTS))
    text = shown[-1].content
    assert text.index("Summary up to this sentence: begin\nAnn came. ") < text.index(
        "Summary: begin\nShe left"
    )
    assert "judge the Summary only" in text


@pytest.mark.parametrize("asked", [annotating, scoring])
@pytest.mark.parametrize("before", [None, ""])
def test_a_prompt_without_a_text_before_is_as_it_always_was(
    asked: object, before: str | None
) -> None:
    assert callable(asked)
    whole = asked(Segment(output="She left.", inputs=INPUTS))
    assert asked(Segment(output="She left.", inputs=INPUTS, before=before)) == whole


def test_evidence_is_not_asked_for_from_the_text_before() -> None:
    segment = Segment(output="She left in June.", before="Ann came. ", inputs=INPUTS)
    prompt = PromptWriter(PromptOptions(evidence=True)).write(segment, CONSISTENCY)
    assert prompt.quotable == ("Article",)


def test_an_input_by_the_same_name_is_still_a_source() -> None:
    inputs = {"Summary up to this sentence": "Ann Berg came in May."}
    segment = Segment(output="She left.", before="Ann came. ", inputs=inputs)
    prompt = PromptWriter(PromptOptions(evidence=True)).write(segment, CONSISTENCY)
    assert "Ann Berg came in May." in prompt.messages[-1].content
    assert prompt.quotable == ("Input 1",)
