"""Agents of OpenAI's SDK under supervision: only the model is scripted."""

import json
from collections.abc import AsyncIterator

import anyio
import pytest
from fakes.installed import is_absent
from fakes.pages import run_agents_block

if is_absent("agents"):
    pytest.skip("openai-agents is not installed: just frameworks", allow_module_level=True)

from agents import Agent, Model, ModelResponse, Runner, RunResult, Usage, function_tool
from agents.items import TResponseInputItem, TResponseOutputItem, TResponseStreamEvent
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from spanjury.agents import Ended, Supervised, asupervise

BOOKED: list[str] = []


@function_tool
def book_table(date: str, guests: int) -> str:
    """Book a table."""
    BOOKED.append(date)
    return json.dumps({"booking": f"L-{len(BOOKED)}", "guests": guests})


class Script(Model):
    """A model that gives its outputs in turn."""

    def __init__(self, *outputs: TResponseOutputItem) -> None:
        self.outputs = [*outputs]
        self.inputs: list[str | list[TResponseInputItem]] = []

    async def get_response(
        self,
        system_instructions: str | None,
        input: str | list[TResponseInputItem],  # noqa: A002  the SDK's name
        *_: object,
        **__: object,
    ) -> ModelResponse:
        self.inputs.append(input)
        return ModelResponse(output=[self.outputs.pop(0)], usage=Usage(), response_id=None)

    def stream_response(self, *_: object, **__: object) -> AsyncIterator[TResponseStreamEvent]:
        raise NotImplementedError


def calling(date: str) -> TResponseOutputItem:
    arguments = json.dumps({"date": date, "guests": 4})
    return ResponseFunctionToolCall(
        name="book_table", arguments=arguments, call_id=f"call-{date}", type="function_call"
    )


def saying(text: str) -> TResponseOutputItem:
    part = ResponseOutputText(text=text, type="output_text", annotations=[])
    return ResponseOutputMessage(
        id="message", content=[part], role="assistant", status="completed", type="message"
    )


def test_a_run_goes_back_with_the_error_at_its_call() -> None:
    BOOKED.clear()
    model = Script(
        *(calling("2026-05-09"), saying("It is booked.")),
        *(calling("2026-05-08"), saying("It is booked for 8 May.")),
    )
    agent = Agent(
        name="host",
        instructions="Today is Thursday 7 May 2026.",
        model=model,
        tools=[book_table],
    )

    async def book() -> Supervised[RunResult]:
        return await asupervise(
            lambda items: Runner.run(agent, items), "Book a table for four tomorrow."
        )

    done = anyio.run(book)
    assert done.ended is Ended.PASSED
    assert done.result.final_output == "It is booked for 8 May."
    assert [attempt.kept for attempt in done.attempts] == [True, True]
    first = done.attempts[0].review.report
    assert [str(first.position_of(span)) for span in first.spans] == ["turn 3, call 1, $.date"]
    sent = model.inputs[2]
    assert isinstance(sent, list)
    assert '"2026-05-09", turn 3, call 1, $.date' in str(sent[-1])
    assert BOOKED == ["2026-05-09", "2026-05-08"]
    trajectory = first.segment.trajectory
    assert trajectory is not None
    assert [tool.name for tool in trajectory.tools] == ["book_table"]


def test_the_block_of_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    model = Script(calling("2026-05-08"), saying("It is booked."))
    run_agents_block(
        "OpenAI's Agents SDK", {"agent": Agent(name="host", model=model, tools=[book_table])}
    )
    assert capsys.readouterr().out == "It is booked.\n"
