"""A real model behind llama.cpp's real server goes on from an error list: its own, and another.

That the prompt is continued and no new turn is begun shows in its number of tokens, and in
the model's writing on what it wrote before.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
from fakes.judges import mark

from spanjury.adapters.models.embedded import open_embedded
from spanjury.judges.core import (
    Aspect,
    ChatModel,
    ChatRequest,
    Decoding,
    Message,
    ModelOptions,
    Outcome,
    Report,
    Rescoring,
    RescoringMethod,
    Segment,
    Task,
)
from spanjury.judges.llm.annotator import Annotator
from spanjury.judges.llm.error_list import render_errors
from spanjury.judges.text import field_mark

pytestmark = [pytest.mark.anyio, pytest.mark.e2e]

ASPECT = Aspect(
    name="fluency",
    task=Task(name="summarization", description="A summary.", output_header="Summary"),
    definition="The text reads well.",
    kind="form",
    inputs=(),
)
SEGMENT = Segment(segment_id="s", output="The bridge bridge opened in 1935.")
MARK = field_mark([SEGMENT.output])
COUNT = (Message(role="user", content="Count."),)
MORE = mark(SEGMENT.output, "bridge bridge", "A word is repeated.", 5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What the judge said of the text, of its own list, and of a list with one error more."""

    report: Report
    same: Rescoring
    more: Rescoring


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def model(anyio_backend: str) -> AsyncIterator[ChatModel]:
    del anyio_backend
    async with open_embedded("embedded", options=ModelOptions()) as opened:
        yield opened


@pytest.fixture(scope="module")
async def heard(model: ChatModel) -> Heard:
    # A digit is a token of its own: words may be cut otherwise behind a prefix than after a reply.
    judge = Annotator(
        model=model, score="numeric", rules=False, grammar=True, max_errors=1, max_tokens=64
    )
    report = await judge.assess(SEGMENT, ASPECT)
    return Heard(
        report=report,
        same=await judge.rescore(SEGMENT, ASPECT, report.spans),
        more=await judge.rescore(SEGMENT, ASPECT, (*report.spans, MORE)),
    )


async def test_the_null_control_gives_the_score_of_the_assessment(heard: Heard) -> None:
    assert heard.report.outcome is Outcome.SCORED, heard.report.reply
    assert heard.same.method is RescoringMethod.CONTINUED
    assert heard.same.report.score == heard.report.score
    own = render_errors(heard.report.spans, held_to_grammar=True, mark=MARK)
    assert heard.report.reply.startswith(own + heard.same.report.reply)


async def test_another_list_is_gone_on_from_too(heard: Heard) -> None:
    assert heard.more.method is RescoringMethod.CONTINUED
    assert heard.more.report.spans == (*heard.report.spans, MORE)
    assert heard.more.report.reply.strip() in set("12345")


async def test_the_prompt_is_the_assessments_with_the_list_behind_it_and_nothing_more(
    heard: Heard, model: ChatModel
) -> None:
    asked, same, more = (
        report.usage.prompt for report in (heard.report, heard.same.report, heard.more.report)
    )
    longest = len(render_errors((*heard.report.spans, MORE), held_to_grammar=True, mark=MARK))
    assert asked < same < more <= asked + longest
    begun = "one two three four"  # four tokens, and no word that ends or begins a turn
    decoding = Decoding(max_tokens=1)
    bare = await model.complete(ChatRequest(messages=COUNT, decoding=decoding))
    prefilled = await model.complete(ChatRequest(messages=COUNT, prefix=begun, decoding=decoding))
    assert prefilled.usage.prompt == bare.usage.prompt + 4
