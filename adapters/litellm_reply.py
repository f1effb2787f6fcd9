"""How LiteLLM's response is read as a `Reply`."""

from typing import Any, TypeAlias

from spanjury.adapters.litellm_request import wellformed
from spanjury.judges.core import (
    Finish,
    Reply,
    TokenLogprob,
    ToolCall,
    TransientModelError,
    Usage,
)

__all__ = ["read_reply"]

# Parts of a response; any of them may be missing, None, or of another class.
_Foreign: TypeAlias = Any

_FINISHES = {
    "length": Finish.LENGTH,
    "content_filter": Finish.REFUSAL,
    "refusal": Finish.REFUSAL,
    "tool_calls": Finish.TOOL_CALLS,
    "function_call": Finish.TOOL_CALLS,
}


def read_reply(response: _Foreign, *, prefix: str, source: str) -> Reply:
    """Read `response`, a ``litellm.ModelResponse``.

    Parameters
    ----------
    response
        What LiteLLM returned; its parts may be missing or None.
    prefix
        What the reply was made to begin with; some servers repeat it, the reply does not.
    source
        Name of the model, for the message of an error.

    Raises
    ------
    TransientModelError
        If the response holds no choice.
    """
    if not response.choices:
        raise TransientModelError(f"{source}: the server sent a reply without a choice in it")
    choice = response.choices[0]
    message = choice.message
    refusal = (getattr(message, "provider_specific_fields", None) or {}).get("refusal")
    calls = tuple(_tool_call(call) for call in message.tool_calls or ())
    return Reply(
        text=_without_prefix(wellformed(message.content or refusal or ""), prefix=prefix),
        finish=_finish(choice.finish_reason, refused=bool(refusal), calls=bool(calls)),
        reasoning=wellformed(getattr(message, "reasoning_content", None) or ""),
        usage=_usage(getattr(response, "usage", None)),
        logprobs=_logprobs(getattr(choice, "logprobs", None)),
        tool_calls=calls,
    )


def _without_prefix(text: str, *, prefix: str) -> str:
    """Take the prefix off a reply that repeats it, as llama.cpp's does and vLLM's does not."""
    prefix = wellformed(prefix)
    return text.removeprefix(prefix)


def _finish(reason: str | None, *, refused: bool, calls: bool) -> Finish:
    if refused:
        return Finish.REFUSAL
    if calls:  # some servers call tools and say that they just stopped
        return Finish.TOOL_CALLS
    return _FINISHES.get(reason or "", Finish.STOP)


def _tool_call(call: _Foreign) -> ToolCall:
    return ToolCall(
        call_id=call.id or "",
        name=call.function.name or "",
        arguments=wellformed(call.function.arguments or ""),
    )


def _usage(usage: _Foreign) -> Usage:
    prompt_details = getattr(usage, "prompt_tokens_details", None)
    completion_details = getattr(usage, "completion_tokens_details", None)
    return Usage(
        calls=1,
        prompt=getattr(usage, "prompt_tokens", None) or 0,
        cached=getattr(prompt_details, "cached_tokens", None) or 0,
        completion=getattr(usage, "completion_tokens", None) or 0,
        reasoning=getattr(completion_details, "reasoning_tokens", None) or 0,
    )


def _logprobs(logprobs: _Foreign) -> tuple[TokenLogprob, ...]:
    return tuple(
        TokenLogprob(
            token=wellformed(token.token),
            logprob=token.logprob,
            top={wellformed(rival.token): rival.logprob for rival in token.top_logprobs or ()},
        )
        for token in getattr(logprobs, "content", None) or ()
    )
