"""The words of OpenTelemetry for what is asked, answered and judged.

They follow its conventions for generative AI [1]_, as far as these go; what is ours begins
with ``spanjury.``.

References
----------
.. [1] https://github.com/open-telemetry/semantic-conventions-genai, 2026, status
   "development": client inference, and the event gen_ai.evaluation.result
"""

import json
from collections.abc import Mapping, Sequence

from spanjury.judges.core import (
    Aspect,
    ChatRequest,
    Message,
    PanelReport,
    Reply,
    Segment,
    ToolCall,
    Usage,
    hide,
)

Attributes = dict[str, str | int | float | Sequence[str]]

ERROR_TYPE = "error.type"
FINISH_REASONS = "gen_ai.response.finish_reasons"

_PROVIDERS: Mapping[str, str] = {
    "azure": "azure.ai.openai",
    "azure_ai": "azure.ai.inference",
    "bedrock": "aws.bedrock",
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
    "moonshot": "moonshot_ai",
    "vertex_ai": "gcp.vertex_ai",
    "watsonx": "ibm.watsonx.ai",
    "xai": "x_ai",
}
"""LiteLLM's names of providers, where the conventions have others."""


def called(name: str) -> Attributes:
    """Return what is the same in every call of the model called `name`."""
    provider, slash, model = name.partition("/")
    attributes: Attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": model or name,
    }
    if slash:
        attributes["gen_ai.provider.name"] = _PROVIDERS.get(provider, provider)
    return attributes


def asked(request: ChatRequest) -> Attributes:
    """Return how a reply is drawn."""
    decoding = request.decoding
    attributes: Attributes = {
        "gen_ai.request.temperature": decoding.temperature,
        "gen_ai.request.max_tokens": decoding.max_tokens,
    }
    if decoding.seed is not None:
        attributes["gen_ai.request.seed"] = decoding.seed
    return attributes


def answered(reply: Reply) -> Attributes:
    """Return how a reply ended and what it took."""
    return {FINISH_REASONS: (reply.finish.value,), **_used(reply.usage)}


def _used(usage: Usage) -> Attributes:
    if not usage.prompt and not usage.completion:
        return {}  # the server did not say
    attributes: Attributes = {
        "gen_ai.usage.input_tokens": usage.prompt,
        "gen_ai.usage.output_tokens": usage.completion,
    }
    if usage.cached:
        attributes["gen_ai.usage.cache_read.input_tokens"] = usage.cached
    if usage.reasoning:
        attributes["gen_ai.usage.reasoning.output_tokens"] = usage.reasoning
    return attributes


def asked_text(request: ChatRequest) -> Attributes:
    """Return the conversation, word for word."""
    messages = [
        {"role": message.role, "parts": _said(message)}
        for message in (*request.messages, Message(role="assistant", content=request.prefix))
        if message.content or message.tool_calls
    ]
    return {"gen_ai.input.messages": json.dumps(messages)}


def answered_text(reply: Reply) -> Attributes:
    """Return the reply, word for word."""
    thought = [{"type": "reasoning", "content": reply.reasoning}] if reply.reasoning else []
    said = Message(role="assistant", content=reply.text, tool_calls=reply.tool_calls)
    message = {
        "role": said.role,
        "parts": [*thought, *_said(said)],
        "finish_reason": reply.finish.value,
    }
    return {"gen_ai.output.messages": json.dumps([message])}


def _said(message: Message) -> list[Mapping[str, str]]:
    if message.role == "tool":
        response = {"id": message.call_id, "response": message.content}
        return [{"type": "tool_call_response", **response}]
    text = [{"type": "text", "content": message.content}] if message.content else []
    return [*text, *(_wish(call) for call in message.tool_calls)]


def _wish(call: ToolCall) -> Mapping[str, str]:
    return {
        "type": "tool_call",
        "id": call.call_id,
        "name": call.name,
        "arguments": call.arguments,
    }


def about(segment: Segment, aspect: Aspect) -> Attributes:
    """Return what an assessment is about."""
    attributes: Attributes = {
        "spanjury.segment.id": _encodable(segment.segment_id),
        "spanjury.task": aspect.task.name,
        "spanjury.aspect": aspect.name,
    }
    if segment.system:
        attributes["spanjury.system"] = _encodable(segment.system)
    return attributes


def evaluated(report: PanelReport, aspect: Aspect, *, content: bool) -> Attributes:
    """Return a panel's result; with `content` also why it is what it is."""
    attributes: Attributes = {
        "gen_ai.evaluation.name": aspect.name,
        "spanjury.outcome": report.outcome.value,
        "spanjury.signature": report.signature,
    }
    if report.score is None:
        attributes[ERROR_TYPE] = report.outcome.value
    else:
        attributes["gen_ai.evaluation.score.value"] = report.score
        attributes["gen_ai.evaluation.score.label"] = aspect.scale.label(report.score)
    if report.decision is not None:
        attributes["spanjury.decision"] = report.decision.value
    if report.error_probability is not None:
        attributes["spanjury.error_probability"] = report.error_probability
    explanation = report.rationale or report.reason
    if content and explanation:
        attributes["gen_ai.evaluation.explanation"] = _encodable(explanation)
    return attributes


def _encodable(text: str) -> str:
    """Hide keys, and replace lone surrogates: one keeps a whole batch from being exported."""
    return hide(text).encode("utf-8", "replace").decode()
