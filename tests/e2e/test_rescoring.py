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
from spanjury.judges.llm.error_list import cue, render_errors
from spanjury.judges.llm.verdict import verdict_line
from spanjury.judges.text import field_mark

pytestmark = [pytest.mark.asyncio_only, pytest.mark.e2e]

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
class Replies:
    """The judge's replies to the text, to its own list, and to a list with one error more."""

    report: Report
    same: Rescoring
    more: Rescoring


@pytest.fixture(scope="module")
async def model(anyio_backend: str) -> AsyncIterator[ChatModel]:
    async with open_embedded("embedded", options=ModelOptions()) as opened:
        yield opened


@pytest.fixture(scope="module")
async def replies(model: ChatModel) -> Replies:
    # A digit is a token of its own: words may be cut otherwise behind a prefix than after a reply.
    judge = Annotator(
        model=model, score="numeric", rules=False, form="grammar", max_errors=1, max_tokens=64
    )
    report = await judge.assess(SEGMENT, ASPECT)
    return Replies(
        report=report,
        same=await judge.rescore(SEGMENT, ASPECT, report.spans),
        more=await judge.rescore(SEGMENT, ASPECT, (*report.spans, MORE)),
    )


async def test_the_null_control_gives_the_score_of_the_assessment(replies: Replies) -> None:
    assert replies.report.outcome is Outcome.SCORED, replies.report.reply
    assert replies.same.method is RescoringMethod.CONTINUED
    assert replies.same.report.score == replies.report.score
    listed = render_errors(replies.report.spans, held_to_grammar=True, mark=MARK)
    verdict = verdict_line(faulty=bool(replies.report.spans), mark=MARK)
    own = f"{listed.removesuffix(cue(MARK))}{verdict}\n{cue(MARK)}"
    assert replies.report.reply.startswith(own + replies.same.report.reply)


async def test_another_list_is_gone_on_from_too(replies: Replies) -> None:
    assert replies.more.method is RescoringMethod.CONTINUED
    assert replies.more.report.spans == (*replies.report.spans, MORE)
    assert replies.more.report.reply.strip() in set("12345")


async def test_the_prompt_is_the_assessments_with_the_list_behind_it_and_nothing_more(
    replies: Replies, model: ChatModel
) -> None:
    asked, same, more = (
        report.usage.prompt for report in (replies.report, replies.same.report, replies.more.report)
    )
    longest = len(render_errors((*replies.report.spans, MORE), held_to_grammar=True, mark=MARK))
    assert asked < same < more <= asked + longest
    begun = "one two three four"  # four tokens, and no word that ends or begins a turn
    decoding = Decoding(max_tokens=1)
    bare = await model.complete(ChatRequest(messages=COUNT, decoding=decoding))
    prefilled = await model.complete(ChatRequest(messages=COUNT, prefix=begun, decoding=decoding))
    assert prefilled.usage.prompt == bare.usage.prompt + 4
