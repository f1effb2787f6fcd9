"""The supervision of agents: attempts, the best of them, and why there are no more."""

import re
from types import SimpleNamespace
from typing import Any

import pytest
from fakes.judges import FixedJudge
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.run import AgentRunResult

from spanjury.agents import Ended, asupervise
from spanjury.judges.core import ConfigError, ModelTimeoutError
from spanjury.testing import MarkingJudge

ASKED = "When did the bridge open?"


class Script:
    """An agent that gives its answers in turn, and keeps what it was given."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.given: list[list[object]] = []

    async def __call__(self, messages: list[object]) -> list[object]:
        self.given.append(messages)
        return [*messages, {"role": "assistant", "content": self.answers.pop(0)}]


JUDGES = [MarkingJudge(quotes={"bad": 4, "wrong": 5})]


async def test_an_agent_that_passes_runs_once() -> None:
    agent = Script("In 1932.")
    done = await asupervise(agent, ASKED, judges=JUDGES, aspects="honesty")
    assert (done.ended, len(done.attempts), len(agent.given)) == (Ended.PASSED, 1, 1)
    assert done.result[-1] == {"role": "assistant", "content": "In 1932."}


async def test_the_agent_goes_on_from_its_own_messages_and_the_feedback() -> None:
    agent = Script("The wrong year.", "In 1932.")
    done = await asupervise(agent, ASKED, judges=JUDGES, aspects="honesty")
    assert done.ended is Ended.PASSED
    request, answer, feedback = agent.given[1]
    assert request == {"role": "user", "content": ASKED}
    assert answer == {"role": "assistant", "content": "The wrong year."}
    assert isinstance(feedback, dict)
    assert '1. "wrong", turn 2' in feedback["content"]


async def test_the_best_attempt_is_kept_once_the_rounds_are_used() -> None:
    agent = Script("A bad answer.", "A wrong and bad answer.")
    done = await asupervise(agent, ASKED, rounds=1, judges=JUDGES, aspects="honesty")
    assert done.ended is Ended.ROUNDS
    assert [attempt.kept for attempt in done.attempts] == [True, False]
    assert done.best is done.attempts[0]
    assert [span.text for span in done.report.spans] == ["bad"]


async def test_the_attempt_that_passes_is_the_result_even_if_less_of_it_was_judged() -> None:
    call = {"id": "a", "function": {"name": "find", "arguments": "{}"}}
    given = [
        {"role": "user", "content": "Which ticket do I have?"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": '{"ticket": "T-5581"}'},
    ]
    agent = Script("Your ticket is T-5518.", "Sorry, your ticket is T-5581.")
    done = await asupervise(agent, given)
    assert done.ended is Ended.PASSED
    assert done.result[-1] == {"role": "assistant", "content": "Sorry, your ticket is T-5581."}


async def test_a_panel_that_cannot_judge_ends_it() -> None:
    failing = FixedJudge(says=ModelTimeoutError("the server is silent"))
    done = await asupervise(Script("In 1932."), ASKED, judges=[failing], aspects="honesty")
    assert done.ended is Ended.UNSCORED


@pytest.mark.parametrize(
    "failure", [TimeoutError("the server is silent"), ConfigError("no messages")]
)
async def test_a_later_run_that_fails_loses_no_attempt(failure: Exception) -> None:
    agent = Script("A bad answer.")

    async def run(messages: list[object]) -> list[object]:
        if not agent.answers:
            raise failure
        return await agent(messages)

    done = await asupervise(run, ASKED, judges=JUDGES, aspects="honesty")
    assert (done.ended, done.error, len(done.attempts)) == (Ended.FAILED, failure, 1)
    assert done.result[-1] == {"role": "assistant", "content": "A bad answer."}
    with pytest.raises(type(failure)):
        await asupervise(run, ASKED, judges=JUDGES, aspects="honesty")


@pytest.mark.asyncio_only
async def test_a_result_of_pydantic_ai_holds_its_messages() -> None:
    answers = ["The wrong year.", "In 1932."]

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[TextPart(answers.pop(0))])

    agent = Agent(FunctionModel(answer))

    async def run(messages: list[object]) -> AgentRunResult[str]:
        *history, last = messages
        assert isinstance(last, dict)
        earlier = [each for each in history if isinstance(each, ModelRequest | ModelResponse)]
        return await agent.run(last["content"], message_history=earlier)

    done = await asupervise(run, ASKED, judges=JUDGES, aspects="honesty")
    assert [attempt.review.passed for attempt in done.attempts] == [False, True]
    assert done.result.output == "In 1932."


async def test_an_agent_is_an_asynchronous_function_that_returns_messages() -> None:
    async def answer(_: list[object]) -> object:
        return SimpleNamespace(answer="Hello.")

    with pytest.raises(ConfigError, match="an object of type SimpleNamespace, expected"):
        await asupervise(answer, ASKED, judges=JUDGES)
    with pytest.raises(ConfigError, match="must be an asynchronous function"):
        await asupervise(lambda messages: messages, ASKED, judges=JUDGES)  # type: ignore[arg-type,return-value]
    with pytest.raises(ConfigError, match="rounds must be 0 or more, got -1"):
        await asupervise(answer, ASKED, rounds=-1)


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("fail_on", "aspect=cals", "did you mean 'calls'?"),
        ("tools", [len], "expected its name, description and parameters"),
    ],
)
async def test_an_argument_that_does_not_fit_is_refused_before_the_agent_runs(
    name: str, value: object, problem: str
) -> None:
    async def run(messages: list[object]) -> list[object]:
        raise AssertionError(messages)

    arguments: dict[str, Any] = {name: value}
    with pytest.raises(ConfigError, match=re.escape(problem)):
        await asupervise(run, ASKED, **arguments)
