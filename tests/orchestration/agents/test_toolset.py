"""The toolset, in real agents over a real panel; only the model is scripted."""

from collections.abc import Mapping

import pytest
from pydantic_ai import Agent, RunContext
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    RetryFeedbackPart,
    RetryPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from spanjury.agents import jury_toolset
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.services.judging.agent_reports import TextCheck

pytestmark = pytest.mark.asyncio_only

SOURCE = "The bridge opened in 1932."
WRONG = "The bridge opened in 1935."


class Caller:
    """A model that calls one tool and then ends; it keeps the tools that it was offered."""

    def __init__(self, *calls: tuple[str, Mapping[str, object]]) -> None:
        self.calls = list(calls)
        self.offered: dict[str, dict[str, object]] = {}

    def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.offered = {tool.name: tool.parameters_json_schema for tool in info.function_tools}
        if self.calls:
            name, arguments = self.calls.pop(0)
            return ModelResponse(parts=[ToolCallPart(name, dict(arguments))])
        return ModelResponse(parts=[TextPart("done")])


def returned(messages: list[ModelMessage]) -> list[ToolReturnPart]:
    return [part for m in messages for part in m.parts if isinstance(part, ToolReturnPart)]


async def test_a_model_checks_a_text_against_the_source_that_it_names(panel: Panel) -> None:
    arguments = {"text": WRONG, "source": SOURCE, "aspects": ["consistency"]}
    caller = Caller(("check_text", arguments))
    agent = Agent(FunctionModel(caller), toolsets=[jury_toolset(panel)])
    (part,) = returned((await agent.run("Check it.")).all_messages())
    assert str(part.content).startswith("Decision: faulty\nconsistency: ")
    assert '1. "1935" at 21-25' in str(part.content)
    assert isinstance(part.metadata, TextCheck)
    assert part.metadata.errors[0].evidence[0].text == SOURCE
    assert set(caller.offered) == {"check_text", "compare_texts", "list_aspects"}
    properties = caller.offered["check_text"]["properties"]
    assert isinstance(properties, dict)
    assert properties["source"]["description"].startswith("The text that it was made from")


async def test_a_model_names_the_question_that_a_text_answers(panel: Panel) -> None:
    asked = {"source": SOURCE, "question": "When did the bridge open?"}
    caller = Caller(
        ("check_text", {"text": WRONG, **asked}),
        ("compare_texts", {"a": WRONG, "b": SOURCE, **asked}),
    )
    agent = Agent(FunctionModel(caller), toolsets=[jury_toolset(panel)])
    for part in returned((await agent.run("Check it.")).all_messages()):
        assert "faithfulness" in str(part.content)


async def test_a_source_that_the_program_names_is_none_of_the_models(panel: Panel) -> None:
    def article(context: RunContext[str]) -> str:
        return context.deps

    caller = Caller(("check_text", {"text": WRONG, "aspects": ["consistency"]}))
    toolset = jury_toolset(panel, source=article)
    agent = Agent(FunctionModel(caller), deps_type=str, toolsets=[toolset])
    (part,) = returned((await agent.run("Check it.", deps=SOURCE)).all_messages())
    assert "The source says '1932'." in str(part.content)
    properties = caller.offered["check_text"]["properties"]
    assert isinstance(properties, dict)
    assert set(properties) == {"text", "aspects"}


async def test_two_texts_are_compared(panel: Panel) -> None:
    arguments = {"a": SOURCE, "b": WRONG, "aspects": ["consistency"]}
    caller = Caller(("compare_texts", arguments))
    agent = Agent(FunctionModel(caller), toolsets=[jury_toolset(panel, source=SOURCE)])
    (part,) = returned((await agent.run("Compare.")).all_messages())
    assert str(part.content).startswith("consistency: a (")


async def test_an_aspect_that_does_not_exist_is_sent_back(panel: Panel) -> None:
    caller = Caller(
        ("check_text", {"text": WRONG, "aspects": ["truth"]}),
        ("list_aspects", {"task": "summarization"}),
    )
    agent = Agent(FunctionModel(caller), toolsets=[jury_toolset(panel)], retries=1)
    history = (await agent.run("Check it.")).all_messages()
    listed = returned(history)[-1]
    (refused,) = (
        part.content
        for message in history
        for part in message.parts
        if isinstance(part, ToolReturnPart | RetryFeedbackPart | RetryPromptPart)
        and part is not listed
    )
    assert "truth" in str(refused)
    assert "list_aspects" in str(refused)
    assert "summarization: consistency (judged by default): " in str(listed.content)
