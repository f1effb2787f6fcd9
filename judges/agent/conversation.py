"""One conversation of an agent with a `ChatModel`, and its result.

`AgentModel` is a pydantic-ai model over any `ChatModel`, so that agents use the same gateway. A
conversation reaches `ChatModel.complete` byte for byte as the agent holds it, and the agent's run
raises a `ModelError` unchanged. A message that no `ChatModel` accepts (pictures, files, a
provider's tools) raises `ConfigError`.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import takewhile
from typing import Generic, TypeVar

from anyio.lowlevel import current_token
from pydantic_ai import Agent, UnexpectedModelBehavior, UsageLimitExceeded, UsageLimits
from pydantic_ai.exceptions import ToolRetryError
from pydantic_ai.messages import (
    FinishReason,
    InstructionPart,
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
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset
from pydantic_ai.usage import RequestUsage

from spanjury.judges.agent.prompts import fill
from spanjury.judges.core import (
    ChatModel,
    ChatRequest,
    ConfigError,
    Decoding,
    Finish,
    Message,
    ModelRefusedError,
    Outcome,
    Reply,
    ReplySchema,
    ToolCall,
    ToolSpec,
    Usage,
)
from spanjury.judges.core.strict_schema import strict_schema
from spanjury.judges.text import defused

D = TypeVar("D")

O_co = TypeVar("O_co", covariant=True)

_LIKELIEST = Decoding()


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation(Generic[O_co]):
    """Result of a conversation.

    Parameters
    ----------
    output
        The agent's output, after it passed the checks; None if there is none.
    outcome
        `Outcome.SCORED` iff there is an output.
    reason
        Why there is no output.
    reply
        The last text that the model wrote, word for word.
    """

    output: O_co | None
    outcome: Outcome
    reason: str
    reply: str
    usage: Usage


async def converse(
    agent: Agent[D, O_co],
    prompt: str,
    *,
    model: ChatModel,
    deps: D,
    limits: UsageLimits,
    decoding: Decoding,
    toolsets: Sequence[AbstractToolset[D]] = (),
) -> Conversation[O_co]:
    """Run `agent` on `prompt` until it returns an output or gives up.

    Raises `ConfigError` if the event loop is not asyncio's, which pydantic-ai needs, and
    `ModelError` if the model gives no reply; a `ModelRefusedError` becomes an outcome
    instead.

    Returns
    -------
    Conversation
        Its outcome is `REFUSED` if the model declines, `TRUNCATED` if its last reply broke
        off, `UNPARSEABLE` if its answers never pass the checks or `limits` are reached.
    """
    if not hasattr(current_token().native_token, "call_soon"):  # only asyncio's loops have it
        raise ConfigError("agents need asyncio: run them with anyio's asyncio backend, not trio")
    recorder = _Recorder(defused(model))
    outcome, reason, output = Outcome.SCORED, "", None
    try:
        run = await agent.run(
            prompt,
            model=AgentModel(recorder, decoding=decoding),
            deps=deps,
            usage_limits=limits,
            toolsets=toolsets,
            infer_name=False,
        )
        output = run.output
    except ModelRefusedError as error:
        outcome, reason = Outcome.REFUSED, str(error) or "the model declined to answer"
    except UsageLimitExceeded:
        outcome, reason = Outcome.UNPARSEABLE, "the limit of requests or tool calls was reached"
    except UnexpectedModelBehavior as error:
        broke_off = recorder.broke_off
        outcome = Outcome.TRUNCATED if broke_off else Outcome.UNPARSEABLE
        reason = "the reply broke off at the token limit" if broke_off else _fault(error)
    return Conversation(
        output=output, outcome=outcome, reason=reason, reply=recorder.reply, usage=recorder.usage
    )


def _fault(error: UnexpectedModelBehavior) -> str:
    """Return what was wrong with the last answer, on one line."""
    cause = error.__cause__
    if isinstance(cause, ToolRetryError):
        return f"no answer passed the checks: {'; '.join(problem(cause.tool_retry).splitlines())}"
    return f"the agent gave up: {str(error).partition('. ')[0]}"


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _held(request: ChatRequest, output: OutputObjectDefinition) -> tuple[ChatRequest, ...]:
    """Return variants of `request` with the output's schema, with and without limits of lengths."""
    return tuple(
        replace(request, decoding=replace(request.decoding, schema=schema))
        for schema in _schemas(output.name or "output", json.dumps(output.json_schema))
    )


@lru_cache(maxsize=32)
def _schemas(name: str, schema: str) -> tuple[ReplySchema, ...]:
    texts = {
        bounded: json.dumps(strict_schema(json.loads(schema), bounded=bounded))
        for bounded in (True, False)
    }
    return tuple(ReplySchema(name=name, text=text, bounded=of) for of, text in texts.items())


class _Recorder:
    """A `ChatModel` that records the replies of another one during one conversation."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self._replies: list[Reply] = []

    @property
    def signature(self) -> str:
        return self._model.signature

    @property
    def reply(self) -> str:
        return next((reply.text for reply in reversed(self._replies) if reply.text), "")

    @property
    def usage(self) -> Usage:
        return sum((reply.usage for reply in self._replies), Usage())

    @property
    def broke_off(self) -> bool:
        return bool(self._replies) and self._replies[-1].finish is Finish.LENGTH

    async def complete(self, request: ChatRequest) -> Reply:
        # pydantic-ai before 2.68 repeats the request, which would reach the same limit.
        if self.broke_off and not self._replies[-1].tool_calls and not _is_json(self.reply):
            raise UnexpectedModelBehavior("the reply broke off")
        reply = await self._model.complete(request)
        self._replies.append(reply)
        return reply


class AgentModel(Model[None]):
    """A pydantic-ai model that calls a `ChatModel`.

    Parameters
    ----------
    decoding
        Decoding of every reply, by default greedy; the settings of an agent or a run are
        ignored.
    """

    def __init__(self, model: ChatModel, *, decoding: Decoding = _LIKELIEST) -> None:
        super().__init__()
        self._model = model
        self._decoding = decoding

    @property
    def model_name(self) -> str:
        """The signature of the `ChatModel`."""
        return self._model.signature

    @property
    def system(self) -> str:
        """The provider's name for pydantic-ai: always ours, whichever `ChatModel` is called."""
        return "spanjury"

    def prepare_messages(
        self,
        messages: list[ModelMessage],
        model_request_parameters: ModelRequestParameters | None = None,  # noqa: ARG002 - inherited
    ) -> list[ModelMessage]:
        """Return `messages` unchanged.

        pydantic-ai would break up tokens such as ``<|im_end|>`` and add notes about texts that
        contain ``<system>`` or ``<pyai:``. A judged text may contain any of them, and must be
        judged unchanged.
        """
        return messages

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Call the `ChatModel`.

        Raises the `ChatModel`'s `ModelError`, `ModelRefusedError` for a reply that is a refusal,
        since a retry would only repeat it, and `ConfigError` if a message cannot be expressed as
        text.
        """
        _, parameters = self.prepare_request(model_settings, model_request_parameters)
        instructions = InstructionPart.join(parameters.instruction_parts or []) or ""
        tools = [*parameters.declared_function_tools, *parameters.output_tools]
        request = ChatRequest(
            messages=to_messages(messages, instructions=instructions),
            decoding=self._decoding,
            tools=to_tools(tools),
        )
        # With tools, some servers refuse a schema, and in others the schema prevents tool calls.
        if parameters.output_object and not (tools or self._decoding.grammar):
            request = replace(request, variants=_held(request, parameters.output_object))
        reply = await self._model.complete(request)
        if reply.finish is Finish.REFUSAL:
            raise ModelRefusedError("the model declined to answer")
        return to_response(reply, model_name=self.model_name, turn=len(messages))


_FINISH_REASONS: dict[Finish, FinishReason] = {
    Finish.STOP: "stop",
    Finish.LENGTH: "length",
    Finish.REFUSAL: "content_filter",
    Finish.TOOL_CALLS: "tool_call",
}


def to_messages(history: Sequence[ModelMessage], *, instructions: str) -> tuple[Message, ...]:
    """Convert `history` to messages.

    System prompts at its beginning and `instructions` become one system message, because the chat
    templates of many open models accept only one, at the beginning. Raises `ConfigError` if a
    message cannot be expressed as text.
    """
    messages: list[Message] = []
    for item in history:
        if isinstance(item, ModelRequest):
            messages += map(_request_message, item.parts)
        else:
            messages.append(_assistant_message(item))
    first = list(takewhile(lambda message: message.role == "system", messages))
    standing = [message.content for message in first] + [instructions] * bool(instructions)
    system = [Message(role="system", content="\n\n".join(standing))] * bool(standing)
    return (*system, *messages[len(first) :])


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
    """Convert `reply` to the answer to the conversation's `turn`-th request.

    A tool call without an id gets one that is unique in the conversation and the same on every
    run.
    """
    calls = [
        ToolCallPart(call.name, call.arguments, tool_call_id=call.call_id or f"call-{turn}-{index}")
        for index, call in enumerate(reply.tool_calls)
    ]
    text = [TextPart(reply.text)] * bool(reply.text)
    return ModelResponse(
        parts=[*text, *calls],
        usage=RequestUsage(
            input_tokens=reply.usage.prompt,
            cache_read_tokens=reply.usage.cached,
            output_tokens=reply.usage.completion,
            output_reasoning_tokens=reply.usage.reasoning,
        ),
        model_name=model_name,
        finish_reason=_FINISH_REASONS[reply.finish],
    )


def problem(part: RetryFeedbackPart | ToolReturnPart) -> str:
    """Return what is wrong with an answer, one fault per line, without quoting the answer."""
    if not isinstance(part.content, list):
        return str(part.content)
    faults = ((".".join(map(str, error["loc"])), error["msg"]) for error in part.content)
    return "\n".join(f"{path}: {fault}" if path else fault for path, fault in faults)


def _request_message(part: ModelRequestPart) -> Message:
    if isinstance(part, SystemPromptPart):
        return Message(role="system", content=part.content)
    if isinstance(part, UserPromptPart):
        if isinstance(part.content, str):
            return Message(role="user", content=part.content)
        raise ConfigError(f"a chat model takes one text a message, got {part.content!r}")
    if isinstance(part, ToolReturnPart):
        content = part.model_response_str(wrap_if_error=False)
        return Message(role="tool", content=content, call_id=part.tool_call_id)
    if isinstance(part, RetryFeedbackPart):
        return Message(role="user", content=fill("retry", {"problem": problem(part)}))
    raise ConfigError(f"a chat model takes text only, not a {type(part).__name__}")


def _assistant_message(response: ModelResponse) -> Message:
    """Return the model's text and calls as a message, without its reasoning."""
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
    """Return the call as the model wrote it, even if malformed."""
    arguments = part.args if isinstance(part.args, str) else part.args_as_json_str()
    return ToolCall(call_id=part.tool_call_id, name=part.tool_name, arguments=arguments)
