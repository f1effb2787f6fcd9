"""The text of a real agent, judged while a scripted model writes it."""

from collections.abc import AsyncIterator

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.function import AgentInfo, FunctionModel

from spanjury import JudgedSentence, StreamEnd, TextPiece
from spanjury.agents import jury_stream
from spanjury.judges.core import Decision
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
