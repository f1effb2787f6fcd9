"""How a `ChatRequest` is put to LiteLLM."""

from typing import Any

from spanjury.adapters.litellm_backend import Backend
from spanjury.judges.core import ChatRequest, Decoding, Message, PermanentModelError, ToolSpec

__all__ = ["arguments_for", "wellformed"]

_NO_PARAMETERS: dict[str, object] = {"type": "object", "properties": {}}


def arguments_for(request: ChatRequest, *, backend: Backend) -> dict[str, Any]:
    """Return the arguments of ``litellm.acompletion`` that say what `request` says.

    Raises
    ------
    PermanentModelError
        If the backend cannot do what is asked: follow a grammar, continue from a prefix,
        call tools. Left out without a word is what changes no meaning, as a seed.
    """
    arguments = _decoding(request.decoding)
    arguments["messages"] = [_message(message) for message in request.messages]
    extra: dict[str, object] = {}
    if request.decoding.grammar:
        extra |= backend.grammar_fields(wellformed(request.decoding.grammar))
    if request.prefix:
        marks, fields = backend.prefix_fields()
        begun = {"role": "assistant", "content": wellformed(request.prefix), **marks}
        arguments["messages"].append(begun)
        extra |= fields
    if request.tools:
        if not backend.takes_tools:
            raise PermanentModelError(f"{backend}: {backend.provider} takes no tools")
        arguments["tools"] = [_tool(tool) for tool in request.tools]
        # Any tool at all makes LiteLLM import its proxy, whose packages are not installed.
        arguments["_skip_mcp_handler"] = True
    if extra:
        arguments["extra_body"] = extra
    return arguments


def wellformed(text: str) -> str:
    r"""Return `text` with what UTF-8 cannot encode, lone surrogates, made U+FFFD.

    Examples
    --------
    >>> wellformed("a\ud800b") == "a\ufffdb"
    True
    """
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _decoding(decoding: Decoding) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "temperature": decoding.temperature,
        "max_tokens": decoding.max_tokens,
    }
    if decoding.seed is not None:
        arguments["seed"] = decoding.seed
    if decoding.logprobs:
        arguments |= {"logprobs": True, "top_logprobs": decoding.logprobs}
    return arguments


def _message(message: Message) -> dict[str, Any]:
    written: dict[str, Any] = {"role": message.role, "content": wellformed(message.content)}
    if message.tool_calls:
        written["tool_calls"] = [
            {
                "id": call.call_id,
                "type": "function",
                "function": {"name": call.name, "arguments": wellformed(call.arguments)},
            }
            for call in message.tool_calls
        ]
    if message.call_id:
        written["tool_call_id"] = message.call_id
    return written


def _tool(tool: ToolSpec) -> dict[str, Any]:
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.parameters) or _NO_PARAMETERS,
    }
    return {"type": "function", "function": function}
