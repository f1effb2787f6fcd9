"""The repair from an agent's program: by a model of pydantic-ai, of ours, or a writer of one's own.

Panels are real; the models are scripted.
"""

import json

import httpx
import pytest
from fakes.judges import FixedJudge
from fakes.repairing import ScriptedWriter
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from spanjury.agents import arepair, repair
from spanjury.judges.core import (
    ChatRequest,
    ConfigError,
    Decision,
    Message,
    ModelError,
    ModelTimeoutError,
    PermanentModelError,
    TransientModelError,
    UnusableModelError,
)
from spanjury.orchestration.agents.repairing import OutsideModel
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.engine.text_repair.loop import Replacements, Stopped
from spanjury.orchestration.engine.text_repair.versions import Version
from spanjury.testing import ScriptedModel

pytestmark = pytest.mark.asyncio_only

SOURCE = "The bridge opened in 1932. It cost 20 million dollars."
WRONG = "The bridge opened in 1935."
RIGHT = "The bridge opened in 1932."


def corrects(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Put 1932 into the first part, whatever it is asked."""
    return ModelResponse(parts=[TextPart('{"edits": [{"part": 1, "text": "1932"}]}')])


async def test_a_model_of_pydantic_ai_repairs_a_text(panel: Panel) -> None:
    done = await arepair(
        WRONG, source=SOURCE, model=FunctionModel(corrects), panel=panel, aspects="consistency"
    )
    assert done.text == done.report.text == RIGHT
    assert done.stopped is Stopped.NOTHING_MARKED
    assert [one.report.decision for one in done.rounds] == [Decision.FAULTY, Decision.OK]
    (edit,) = done.edits
    assert (edit.before, edit.after) == ("1935", "1932")
    assert edit.errors[0].span.evidence[0].text == "The bridge opened in 1932."
    assert (done.usage.calls, repr(done)) == (1, "<Repair: faulty to ok, 1 edit, nothing_marked>")
    kept = json.loads(json.dumps(done.to_dict()))
    assert kept["rounds"][1]["edits"] == [
        {"start": 21, "end": 25, "before": "1935", "after": "1932"}
    ]
    assert kept["rounds"][0]["report"]["decision"] == "faulty"


def test_code_that_is_not_asynchronous_repairs_with_judges_by_name() -> None:
    done = repair(
        WRONG,
        source=SOURCE,
        model=FunctionModel(corrects),
        judges=["grounding"],
        aspects="consistency",
    )
    assert (done.text, done.left) == (RIGHT, ())


async def test_an_open_model_and_a_writer_of_ones_own_do_as_well(panel: Panel) -> None:
    answer = json.dumps({"edits": [{"part": 1, "text": "1932"}]})
    for model in (ScriptedModel(answer), ScriptedWriter([{1: "1932"}])):
        done = await arepair(WRONG, source=SOURCE, model=model, panel=panel, aspects="consistency")
        assert done.text == RIGHT


async def test_a_broken_judge_leaves_the_text_and_costs_no_call() -> None:
    away = FixedJudge(says=ModelTimeoutError("the judge is away"))
    model = ScriptedModel()
    done = await arepair(WRONG, source=SOURCE, model=model, judges=[away], aspects="consistency")
    assert (done.text, done.stopped, model.requests) == (WRONG, Stopped.UNSCORED, ())
    assert "the judge is away" in done.reason


async def test_invalid_input_is_refused(panel: Panel) -> None:
    model = ScriptedModel()
    with pytest.raises(ConfigError, match="rounds must be 1 or more"):
        await arepair(WRONG, model=model, panel=panel, rounds=0)
    with pytest.raises(ConfigError, match="an open panel has its own judges"):
        await arepair(WRONG, model=model, panel=panel, judges=["form"])


async def test_a_model_of_pydantic_ai_gets_the_conversation_as_it_is() -> None:
    received: list[ModelMessage] = []

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        assert info.model_settings is not None
        assert info.model_settings.get("max_tokens") == 1024
        received.extend(messages)
        return ModelResponse(parts=[TextPart("yes")], finish_reason="length")

    model = OutsideModel(FunctionModel(answer))
    request = ChatRequest(
        messages=(
            Message(role="system", content="Be brief."),
            Message(role="user", content="Is it?"),
            Message(role="assistant", content="Is what?"),
            Message(role="user", content="It."),
        )
    )
    reply = await model.complete(request)
    assert (reply.text, reply.finish.value) == ("yes", "length")
    said = [getattr(part, "content", None) for message in received for part in message.parts]
    assert said == ["Be brief.", "Is it?", "Is what?", "It."]


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, UnusableModelError),
        (429, TransientModelError),
        (503, TransientModelError),
        (400, PermanentModelError),
    ],
)
async def test_server_failures_become_our_own_errors(status: int, kind: type[ModelError]) -> None:
    def fail(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        raise ModelHTTPError(status_code=status, model_name="large", body="key sk-123 is wrong")

    with pytest.raises(kind) as caught:
        await OutsideModel(FunctionModel(fail)).complete(ChatRequest(messages=()))
    assert type(caught.value) is kind
    assert "sk-123" not in str(caught.value)
    assert str(status) in str(caught.value)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TimeoutError("sk-123"), ModelTimeoutError),
        (httpx.ReadTimeout("sk-123"), ModelTimeoutError),
        (httpx.ConnectError("sk-123"), TransientModelError),
        (ConnectionResetError("sk-123"), TransientModelError),
    ],
)
async def test_failures_of_the_connection_become_our_own_errors(
    error: Exception, kind: type[ModelError], panel: Panel
) -> None:
    def fail(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        raise error

    with pytest.raises(kind, match=f"gave no reply: {type(error).__name__}$") as caught:
        await OutsideModel(FunctionModel(fail)).complete(ChatRequest(messages=()))
    assert type(caught.value) is kind
    done = await arepair(
        WRONG, source=SOURCE, model=FunctionModel(fail), panel=panel, aspects="consistency"
    )
    assert (done.text, done.stopped) == (WRONG, Stopped.WRITER_FAILED)


async def test_a_writer_of_ones_own_needs_a_signature(panel: Panel) -> None:
    class Unsigned:
        async def replacements(self, version: Version) -> Replacements:
            return Replacements()

    with pytest.raises(ConfigError, match="Unsigned is no model .* `signature`"):
        await arepair(WRONG, source=SOURCE, model=Unsigned(), panel=panel)  # type: ignore[arg-type]
