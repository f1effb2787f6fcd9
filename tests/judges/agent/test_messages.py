"""Between pydantic-ai's messages and ours."""

import pytest
from pydantic_ai import BinaryContent
from pydantic_ai.messages import (
    FilePart,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolAvailabilityDeltaPart,
    ToolCallPart,
    UserPromptPart,
)

from spanjury.judges.agent.conversation import to_messages, to_response
from spanjury.judges.core import ConfigError, Finish, Message, Reply, ToolCall


def test_reasoning_is_not_sent_back_and_arguments_become_json() -> None:
    call = ToolCallPart("look", {"at": "ü"}, tool_call_id="1")
    history: list[ModelMessage] = [
        ModelResponse(parts=[ThinkingPart("Hm."), TextPart("I "), TextPart("look."), call])
    ]
    assert to_messages(history, instructions="") == (
        Message(
            role="assistant",
            content="I look.",
            tool_calls=(ToolCall(call_id="1", name="look", arguments='{"at":"ü"}'),),
        ),
    )


def test_a_system_prompt_in_the_middle_stays_there() -> None:
    history: list[ModelMessage] = [
        ModelRequest(parts=[UserPromptPart("one"), SystemPromptPart("two")])
    ]
    said = to_messages(history, instructions="zero")
    assert [(it.role, it.content) for it in said] == [
        ("system", "zero"),
        ("user", "one"),
        ("system", "two"),
    ]


@pytest.mark.parametrize(
    "message",
    [
        ModelRequest(parts=[ToolAvailabilityDeltaPart(tools_added=["look"])]),
        ModelResponse(parts=[FilePart(BinaryContent(b"", media_type="image/png"))]),
    ],
)
def test_other_parts_than_text_are_named_and_refused(message: ModelMessage) -> None:
    with pytest.raises(ConfigError, match=r"a chat model .* a .*Part"):
        to_messages([message], instructions="")


@pytest.mark.parametrize(
    ("finish", "reason"),
    [
        (Finish.STOP, "stop"),
        (Finish.LENGTH, "length"),
        (Finish.REFUSAL, "content_filter"),
        (Finish.TOOL_CALLS, "tool_call"),
    ],
)
def test_every_finish_has_its_reason(finish: Finish, reason: str) -> None:
    response = to_response(Reply(text="", finish=finish), model_name="m", turn=1)
    assert (response.finish_reason, response.parts) == (reason, [])
