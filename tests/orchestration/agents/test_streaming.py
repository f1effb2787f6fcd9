"""The text of a real agent, judged while a scripted model writes it."""

from collections.abc import AsyncIterator

import pytest
from anyio import Event, create_task_group, sleep_forever
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel

from spanjury import JudgedSentence, StreamEnd, TextPiece
from spanjury.agents import jury_stream, jury_toolset
from spanjury.judges.core import ConfigError, Decision
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.wiring.config import PanelConfig, SeatConfig

pytestmark = pytest.mark.asyncio_only

SOURCE = "The bridge opened in 1932. It is long."
PIECES = ("The bridge ", "opened in 1935. It ", "is long. ", "It is long.")
RULES = PanelConfig(seats=(SeatConfig(judge="grounding"), SeatConfig(judge="form")))


class Script:
    """A model that sends a text in pieces, and notes how far it came and whether it was closed."""

    def __init__(self, *pieces: str) -> None:
        self.pieces = pieces
        self.sent: list[str] = []
        self.is_closed = False

    async def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        try:
            for piece in self.pieces:
                self.sent.append(piece)
                yield piece
        finally:
            self.is_closed = True

    def agent(self) -> Agent[None, str]:
        return Agent(FunctionModel(stream_function=self))


async def test_the_text_is_passed_on_and_each_sentence_judged() -> None:
    script = Script(*PIECES)
    async with jury_stream(script.agent().run_stream("Go."), RULES, source=SOURCE) as stream:
        events = [event async for event in stream]
    assert tuple(each.text for each in events if isinstance(each, TextPiece)) == PIECES
    decisions = [each.decision for each in events if isinstance(each, JudgedSentence)]
    assert decisions[0] is Decision.FAULTY
    assert isinstance(events[-1], StreamEnd)
    assert events[-1].report.text == "".join(PIECES)


async def test_a_reply_may_answer_a_question() -> None:
    run = Script(*PIECES).agent().run_stream("Go.")
    async with jury_stream(run, RULES, source=SOURCE, question="When did it open?") as stream:
        *_, end = [event async for event in stream]
    assert isinstance(end, StreamEnd)
    assert end.report.segment.inputs == {"Question": "When did it open?", "Context": SOURCE}


async def test_judges_are_named_without_a_panel() -> None:
    run = Script(*PIECES).agent().run_stream("Go.")
    async with jury_stream(run, judges="grounding", source=SOURCE) as stream:
        spans = [event.spans async for event in stream if isinstance(event, JudgedSentence)]
    assert [span.text for span in spans[0]] == ["1935"]


@pytest.mark.parametrize("stop_when", ["faulty", None])
async def test_the_response_is_cancelled_by_a_stop_and_by_leaving(stop_when: str | None) -> None:
    script = Script(*PIECES)
    run = script.agent().run_stream("Go.")
    async with jury_stream(run, RULES, source=SOURCE, stop_when=stop_when) as stream:  # type: ignore[arg-type]  # a parameter
        async for event in stream:
            if isinstance(event, JudgedSentence) and stop_when is None:
                break
    assert script.sent == list(PIECES[:2])
    assert script.is_closed


def calling(name: str, arguments: str = "{}") -> DeltaToolCalls:
    return {1: DeltaToolCall(name=name, json_args=arguments, tool_call_id=name)}


class Desk:
    """An agent with a tool; its model sends responses in turn, and waits if one is an event."""

    def __init__(self, *responses: tuple[str | DeltaToolCalls, ...]) -> None:
        self.responses = list(responses)
        self.sent: list[str | DeltaToolCalls] = []
        self.looked_up = 0
        self.waits = Event()
        self.is_closed = False

    def opening(self) -> str:
        """Say when the bridge opened."""
        self.looked_up += 1
        return SOURCE

    async def __call__(
        self, messages: list[ModelMessage], info: AgentInfo
    ) -> AsyncIterator[str | DeltaToolCalls]:
        try:
            for piece in self.responses.pop(0):
                self.sent.append(piece)
                if piece == "wait":
                    self.waits.set()
                    await sleep_forever()
                yield piece
        finally:
            self.is_closed = True

    def agent(self) -> Agent[None, str]:
        return Agent(FunctionModel(stream_function=self), tools=[self.opening])


async def test_each_reply_of_a_run_is_judged_by_what_tools_returned_before_it() -> None:
    desk = Desk(
        ("I look it up.", calling("opening")),
        (
            "The bridge opened ",
            "in 1935. It is long.",
        ),
    )
    run = desk.agent().run_stream_events("When did the bridge open?")
    async with jury_stream(run, RULES) as stream:
        events = [event async for event in stream]
    first, last = (event.report for event in events if isinstance(event, StreamEnd))
    assert first.text == "I look it up."
    assert not first.segment.inputs
    assert last.text == "The bridge opened in 1935. It is long."
    assert last.segment.inputs["Result [3]"] == f"opening: {SOURCE}"
    (finding,) = stream.findings
    assert [(span.text, span.start) for span in finding.spans] == [("1935", 21)]
    assert stream.run.result is not None
    assert stream.run.result.output == last.text


async def test_a_run_is_cancelled_before_the_call_that_follows_a_faulty_sentence() -> None:
    desk = Desk((PIECES[0], "opened in 1935.", calling("opening")), ("Never sent.",))
    run = desk.agent().run_stream_events("Go.")
    async with jury_stream(run, RULES, source=SOURCE, stop_when="faulty") as stream:
        *_, end = [event async for event in stream]
    assert isinstance(end, StreamEnd)
    assert end.stopped_by == stream.findings[0]
    assert desk.is_closed
    assert desk.looked_up == 0
    assert len(desk.responses) == 1
    assert stream.run.result is None
    assert len(stream.run.all_messages()) >= 1


@pytest.mark.parametrize("is_whole_run", [True, False])
async def test_a_run_that_is_cancelled_from_outside_closes_the_model(is_whole_run: bool) -> None:
    desk = Desk((PIECES[0], PIECES[1], "wait"))
    agent = desk.agent()

    async def follow() -> None:
        run = agent.run_stream_events("Go.") if is_whole_run else agent.run_stream("Go.")
        async with jury_stream(run, RULES, source=SOURCE) as stream:
            async for _ in stream:
                pass

    async with create_task_group() as group:
        group.start_soon(follow)
        await desk.waits.wait()
        group.cancel_scope.cancel()
    assert desk.is_closed


async def test_reports_of_the_jurys_own_tools_are_no_source(panel: Panel) -> None:
    arguments = '{"text": "The bridge opened in 1935.", "source": "It opened in 1932."}'
    desk = Desk((calling("check_text", arguments),), ("The bridge opened in 1935.",))
    agent = Agent(FunctionModel(stream_function=desk), toolsets=[jury_toolset(panel)])
    async with jury_stream(agent.run_stream_events("Check it."), panel) as stream:
        *_, end = [event async for event in stream]
    assert isinstance(end, StreamEnd)
    assert not end.report.segment.inputs


async def test_a_wrong_name_is_an_error_before_the_agent_begins() -> None:
    desk = Desk(("It is long.",))
    with pytest.raises(ConfigError, match="truth"):
        async with jury_stream(desk.agent().run_stream_events("Go."), RULES, "truth"):
            pass
    assert not desk.sent
