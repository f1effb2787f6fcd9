"""The capability, in real agents over real panels; only the models are scripted."""

from collections.abc import AsyncIterator, Callable
from datetime import date

import pytest
from fakes.judges import FixedJudge
from fakes.repairing import panel_of
from pydantic import BaseModel
from pydantic_ai import Agent, DeferredToolRequests, Tool, UnexpectedModelBehavior
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    RetryFeedbackPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel

from spanjury.agents import JuryCapability, Review
from spanjury.judges.core import ConfigError, JudgeError, ModelTimeoutError

pytestmark = pytest.mark.asyncio_only

ASKED = "Book a table for four on 8 May 2026."
RIGHT, WRONG = date(2026, 5, 8), date(2026, 5, 9)
ANSWER = "Table R-17 is booked for 8 May."

Reply = str | list[date]
"""An answer, or the dates for which the model books a table, each in a call of its own."""

Streaming = Callable[[list[ModelMessage], AgentInfo], AsyncIterator[str | DeltaToolCalls]]


def scripted(*replies: Reply) -> FunctionModel:
    """Return a model whose reply depends on the number of its replies so far."""

    def reply_to(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        reply = replies[sum(isinstance(message, ModelResponse) for message in messages)]
        if isinstance(reply, list):
            calls = [ToolCallPart("book", {"day": str(day), "guests": 4}) for day in reply]
            return ModelResponse(parts=calls)
        if info.output_tools:
            return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, {"text": reply})])
        return ModelResponse(parts=[TextPart(reply)])

    return FunctionModel(reply_to)


def streamed(model: FunctionModel) -> Streaming:
    """Return a function that sends what `model` replies in one piece a part."""

    async def send(
        messages: list[ModelMessage], info: AgentInfo
    ) -> AsyncIterator[str | DeltaToolCalls]:
        assert model.function is not None
        reply = model.function(messages, info)
        assert isinstance(reply, ModelResponse)
        for number, part in enumerate(reply.parts):
            if isinstance(part, TextPart):
                yield part.content
            elif isinstance(part, ToolCallPart):
                yield {
                    number: DeltaToolCall(
                        name=part.tool_name,
                        json_args=part.args_as_json_str(),
                        tool_call_id=part.tool_call_id,
                    )
                }

    return send


class Desk:
    """Books tables, and keeps what it booked."""

    def __init__(self) -> None:
        self.booked: list[date] = []

    async def book(self, day: date, guests: int) -> dict[str, object]:
        """Book a table."""
        self.booked.append(day)
        return {"table": "R-17", "date": str(day), "guests": guests}


def reviewed(
    *replies: Reply, retries: int = 2, on_review: Callable[[Review], None] = lambda _: None
) -> tuple[Agent[None, str], Desk]:
    """Return an agent that offline judges review, and its desk."""
    desk = Desk()
    capability = JuryCapability(on_review=on_review)
    agent = Agent(scripted(*replies), tools=[desk.book], capabilities=[capability], retries=retries)
    return agent, desk


def sent_back(messages: list[ModelMessage]) -> list[str]:
    """Return what the model got in place of results, and about its answers."""
    return [
        str(part.content)
        for message in messages
        for part in message.parts
        if isinstance(part, RetryFeedbackPart)
        or (isinstance(part, ToolReturnPart) and part.outcome == "retried")
    ]


async def test_a_wrong_call_is_not_carried_out_and_goes_back_with_its_error() -> None:
    reviews: list[Review] = []
    agent, desk = reviewed([WRONG], [RIGHT], ANSWER, on_review=reviews.append)
    done = await agent.run(ASKED)
    assert done.output == ANSWER
    assert desk.booked == [RIGHT]
    (feedback,) = sent_back(done.all_messages())
    assert '1. "2026-05-09", turn 2, call 1, $.day' in feedback
    assert [review.passed for review in reviews] == [False, True, True]


async def test_no_call_beside_a_wrong_one_is_carried_out() -> None:
    agent, desk = reviewed([RIGHT, WRONG], [RIGHT], ANSWER)
    done = await agent.run(ASKED)
    assert desk.booked == [RIGHT]
    beside, feedback = sent_back(done.all_messages())
    assert "call of the same turn has an error" in beside
    assert '"2026-05-09", turn 2, call 2, $.day' in feedback


async def test_a_wrong_answer_goes_back_and_what_was_booked_stays_booked_once() -> None:
    agent, desk = reviewed([RIGHT], "Table R-71 is booked for 8 May.", ANSWER)
    done = await agent.run(ASKED)
    assert done.output == ANSWER
    assert desk.booked == [RIGHT]
    (feedback,) = sent_back(done.all_messages())
    assert '"R-71", turn 4' in feedback


async def test_a_right_run_passes_without_another_request() -> None:
    agent, desk = reviewed([RIGHT], ANSWER)
    done = await agent.run(ASKED)
    assert (desk.booked, sent_back(done.all_messages())) == ([RIGHT], [])
    assert done.usage.requests == 2


async def test_an_agent_that_errs_again_ends_without_having_booked() -> None:
    agent, desk = reviewed([WRONG], [WRONG], retries=1)
    with pytest.raises(UnexpectedModelBehavior):
        await agent.run(ASKED)
    assert desk.booked == []


async def test_runs_of_one_agent_know_nothing_of_each_other() -> None:
    agent, desk = reviewed([WRONG], [RIGHT], ANSWER)
    first, second = await agent.run(ASKED), await agent.run(ASKED)
    assert len(sent_back(first.all_messages())) == len(sent_back(second.all_messages())) == 1
    assert desk.booked == [RIGHT, RIGHT]


async def test_a_call_that_is_repeated_again_and_again_is_carried_out_once() -> None:
    agent, desk = reviewed([RIGHT], [RIGHT], [RIGHT], ANSWER)
    done = await agent.run(ASKED)
    assert done.output == ANSWER
    assert desk.booked == [RIGHT]
    first, second = sent_back(done.all_messages())
    assert "just before and succeeded" in first
    assert "just before and succeeded" in second


async def test_a_wrong_call_goes_back_before_it_waits_for_approval() -> None:
    desk = Desk()
    agent = Agent(
        scripted([WRONG], [RIGHT]),
        tools=[Tool(desk.book, requires_approval=True)],
        output_type=[str, DeferredToolRequests],
        capabilities=[JuryCapability()],
    )
    output = (await agent.run(ASKED)).output
    assert isinstance(output, DeferredToolRequests)
    assert [call.args for call in output.approvals] == [{"day": str(RIGHT), "guests": 4}]


async def test_a_history_that_is_cut_ends_no_run() -> None:
    desk = Desk()
    replies = iter(([RIGHT], [WRONG], "Anything else?"))

    def reply_to(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        del messages
        model = scripted(next(replies))
        assert model.function is not None
        reply = model.function([], info)
        assert isinstance(reply, ModelResponse)
        return reply

    def cut(messages: list[ModelMessage]) -> list[ModelMessage]:
        return messages[:1] + messages[-2:] if len(messages) > 3 else messages

    capabilities = [ProcessHistory(cut), JuryCapability()]
    agent = Agent(FunctionModel(reply_to), tools=[desk.book], capabilities=capabilities)
    assert (await agent.run(ASKED)).output == "Anything else?"
    assert desk.booked == [RIGHT]


async def test_an_error_of_an_earlier_run_is_not_sent_back() -> None:
    unreviewed = Agent(scripted("Your old booking is R-907."))
    history = (await unreviewed.run("Which booking do I have?")).all_messages()
    agent, _ = reviewed("never", "You are welcome.", retries=0)
    done = await agent.run("Thanks!", message_history=history)
    assert done.output == "You are welcome."


async def test_a_stream_is_reviewed_too() -> None:
    desk = Desk()
    model = FunctionModel(stream_function=streamed(scripted([WRONG], [RIGHT], ANSWER)))
    agent = Agent(model, tools=[desk.book], capabilities=[JuryCapability()], retries=2)
    async with agent.run_stream_events(ASKED) as events:
        assert [event async for event in events]
    assert desk.booked == [RIGHT]


class Booking(BaseModel):
    """A structured output."""

    text: str


async def test_arguments_of_an_output_tool_are_left_to_an_output_validator() -> None:
    reviews: list[Review] = []
    capability = JuryCapability(on_review=reviews.append)
    agent = Agent(scripted("R-71"), output_type=Booking, capabilities=[capability])
    assert (await agent.run(ASKED)).output == Booking(text="R-71")
    assert reviews == []


async def test_a_call_beside_that_of_an_output_tool_is_reviewed() -> None:
    reviews: list[Review] = []

    def reply_to(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        output = ToolCallPart(info.output_tools[0].name, {"text": "Done."})
        booking = ToolCallPart("book", {"day": str(WRONG), "guests": 4})
        return ModelResponse(parts=[output] if reviews else [booking, output])

    desk = Desk()
    capability = JuryCapability(on_review=reviews.append)
    agent = Agent(
        FunctionModel(reply_to),
        output_type=Booking,
        tools=[desk.book],
        capabilities=[capability],
        end_strategy="exhaustive",
    )
    await agent.run(ASKED)
    assert [review.passed for review in reviews] == [False]
    assert desk.booked == []


@pytest.mark.parametrize("replies", [([RIGHT], [RIGHT]), (ANSWER, ANSWER)])
async def test_what_no_judge_could_read_goes_back_or_ends_the_run(
    replies: tuple[Reply, ...],
) -> None:
    desk = Desk()
    silent = panel_of(FixedJudge(says=ModelTimeoutError("no reply")))
    for policy, error in (("raise", JudgeError), ("retry", UnexpectedModelBehavior)):
        capability = JuryCapability(silent, on_unscored=policy)  # type: ignore[arg-type]
        agent = Agent(scripted(*replies), tools=[desk.book], capabilities=[capability])
        with pytest.raises(error):
            await agent.run(ASKED)
    assert desk.booked == []


async def test_calls_are_judged_whatever_the_task_of_the_answer_is() -> None:
    desk = Desk()
    capability = JuryCapability(task="summarization")
    model = scripted([WRONG], [RIGHT], ANSWER)
    agent = Agent(model, tools=[desk.book], capabilities=[capability])
    await agent.run(ASKED)
    assert desk.booked == [RIGHT]


@pytest.mark.parametrize(
    "options",
    [
        {"fail_on": "colour=red"},
        {"fail_on": "aspect=consistency and severity>=4"},
        {"on_unscored": "hope"},
        {"task": "summarisation of sorts"},
        {"aspects": "fluency"},
    ],
)
def test_a_wrong_option_is_an_error_before_any_run(options: dict[str, str]) -> None:
    with pytest.raises(ConfigError):
        JuryCapability(**options)  # type: ignore[arg-type]


class Booked(BaseModel):
    text: str


async def test_a_history_that_is_cut_after_an_answer_of_the_wrong_form_ends_no_run() -> None:
    """The answer is not reviewed, so that the cut history is no shorter than the reviewed one."""
    desk = Desk()
    turns = iter(([WRONG], {}, [RIGHT], {"text": ANSWER}))

    def reply_to(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        del messages
        turn = next(turns)
        if isinstance(turn, dict):
            return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, turn)])
        (day,) = turn
        return ModelResponse(parts=[ToolCallPart("book", {"day": str(day), "guests": 4})])

    def cut(messages: list[ModelMessage]) -> list[ModelMessage]:
        return messages[:1] + messages[-2:] if len(messages) > 4 else messages

    seen: list[Review] = []
    agent = Agent(
        FunctionModel(reply_to),
        tools=[desk.book],
        output_type=Booked,
        retries=3,
        capabilities=[ProcessHistory(cut), JuryCapability(on_review=seen.append)],
    )
    assert (await agent.run(ASKED)).output == Booked(text=ANSWER)
    assert desk.booked == [RIGHT]
    assert not seen[-1].rejections
