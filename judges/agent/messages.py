"""Between pydantic-ai's messages and ours, without changing a character of either.

A text that a judge puts into a message arrives in `ChatRequest` byte for byte. What
cannot be said to a `ChatModel` (pictures, files, tools of a provider) is a `ConfigError`.
"""

from collections.abc import Iterable, Sequence
from itertools import takewhile

from pydantic_ai.messages import (
    FinishReason,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    RetryFeedbackPart,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.usage import RequestUsage

from spanjury.judges.agent.prompts import fill
from spanjury.judges.core import ConfigError, Finish, Message, Reply, ToolCall, ToolSpec, Usage

_FINISH_REASONS: dict[Finish, FinishReason] = {
    Finish.STOP: "stop",
    Finish.LENGTH: "length",
    Finish.REFUSAL: "content_filter",
    Finish.TOOL_CALLS: "tool_call",
}


def to_messages(history: Sequence[ModelMessage], *, instructions: str) -> tuple[Message, ...]:
    """Return `history` as a conversation.

    System prompts at its beginning and `instructions` become one system message: the chat templates
    of many open models take one, in the first place. Raises `ConfigError` if a message holds
    something that cannot be said in text.
    """
    said = [message for item in history for message in _messages(item)]
    first = list(takewhile(lambda message: message.role == "system", said))
    standing = [message.content for message in first] + [instructions] * bool(instructions)
    system = [Message(role="system", content="\n\n".join(standing))] * bool(standing)
    return (*system, *said[len(first) :])


def to_tools(definitions: Iterable[ToolDefinition]) -> tuple[ToolSpec, ...]:
    """Return the tools that a model may call, in order."""
    return tuple(
        ToolSpec(
            name=tool.name,
            description=tool.description or "",
            parameters=tool.parameters_json_schema,
        )
        for tool in definitions
    )


def to_response(reply: Reply, *, model_name: str, turn: int) -> ModelResponse:
    """Return `reply` as the answer to the conversation's `turn`-th request.

    A tool call that comes without an id is given one that is unique in the conversation
    and the same on every run.
    """
    calls = [
        ToolCallPart(call.name, call.arguments, tool_call_id=call.call_id or f"call-{turn}-{index}")
        for index, call in enumerate(reply.tool_calls)
    ]
    text = [TextPart(reply.text)] * bool(reply.text)
    return ModelResponse(
        parts=[*text, *calls],
        usage=_request_usage(reply.usage),
        model_name=model_name,
        finish_reason=_FINISH_REASONS[reply.finish],
    )


def problem(part: RetryFeedbackPart | ToolReturnPart) -> str:
    """Say what is wrong with an answer, one fault a line, without quoting the answer."""
    if not isinstance(part.content, list):
        return str(part.content)
    faults = ((".".join(map(str, error["loc"])), error["msg"]) for error in part.content)
    return "\n".join(f"{place}: {fault}" if place else fault for place, fault in faults)


def _request_usage(usage: Usage) -> RequestUsage:
    return RequestUsage(
        input_tokens=usage.prompt,
        cache_read_tokens=usage.cached,
        output_tokens=usage.completion,
        output_reasoning_tokens=usage.reasoning,
    )


def _messages(item: ModelMessage) -> list[Message]:
    if isinstance(item, ModelRequest):
        return [_request_message(part) for part in item.parts]
    return [_assistant_message(item)]


def _request_message(part: ModelRequestPart) -> Message:
    if isinstance(part, SystemPromptPart):
        return Message(role="system", content=part.content)
    if isinstance(part, UserPromptPart):
        return Message(role="user", content=_text(part))
    if isinstance(part, ToolReturnPart):
        content = part.model_response_str(wrap_if_error=False)
        return Message(role="tool", content=content, call_id=part.tool_call_id)
    if isinstance(part, RetryFeedbackPart):
        return Message(role="user", content=fill("retry", {"problem": problem(part)}))
    raise ConfigError(f"a chat model takes text only, not a {type(part).__name__}")


def _text(part: UserPromptPart) -> str:
    if isinstance(part.content, str):
        return part.content
    raise ConfigError(f"a chat model takes one text a message, got {part.content!r}")


def _assistant_message(response: ModelResponse) -> Message:
    """Return what the model said; its reasoning is not said back to it."""
    texts: list[str] = []
    calls: list[ToolCall] = []
    for part in response.parts:
        if isinstance(part, TextPart):
            texts.append(part.content)
        elif isinstance(part, ToolCallPart):
            calls.append(_call(part))
        elif not isinstance(part, ThinkingPart):
            raise ConfigError(f"a chat model cannot have said a {type(part).__name__}")
    return Message(role="assistant", content="".join(texts), tool_calls=tuple(calls))


def _call(part: ToolCallPart) -> ToolCall:
    """Return the call as the model wrote it, malformed or not."""
    arguments = part.args if isinstance(part.args, str) else part.args_as_json_str()
    return ToolCall(call_id=part.tool_call_id, name=part.tool_name, arguments=arguments)
