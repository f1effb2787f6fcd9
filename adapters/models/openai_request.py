"""Requests: a `ChatRequest` in the format of OpenAI's chat API."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import msgspec

from spanjury.judges.core import ChatRequest, Decoding, Message, Reasoning, ReplySchema, ToolSpec

_NO_PARAMETERS: dict[str, object] = {"type": "object", "properties": {}}
_CONTROL = re.compile("[\\x00-\\x1f\\x7f]")
_FORCED_MARGIN = 8  # tokens, for the end and for special tokens of a template
CONTINUE_LAST_MESSAGE: Mapping[str, object] = MappingProxyType(
    {"continue_final_message": True, "add_generation_prompt": False}
)
"""Fields that make vLLM, SGLang and llama.cpp continue the assistant's last message."""


def chat_fields(request: ChatRequest) -> dict[str, Any]:
    """Return the fields for messages, with the prefix as the last one, decoding and tools.

    Servers differ in their fields for a schema (`response_format`), a grammar (`llama_cpp_grammar`
    and others), documents (`documents_of`) and continuing the last message
    (`CONTINUE_LAST_MESSAGE`); these are not included.
    """
    fields = _decoding(request.decoding)
    turns = [message for message in request.messages if message.role != "document"]
    fields["messages"] = [_message(message) for message in turns]
    if request.prefix:
        begun = {"role": "assistant", "content": wellformed(request.prefix)}
        fields["messages"].append(begun)
    if request.tools:
        fields["tools"] = [_tool(tool) for tool in request.tools]
    return fields


def unforced(request: ChatRequest) -> ChatRequest:
    """Return `request`; if it forces a reply, use a grammar that allows only that reply.

    The log-probabilities reported by llama.cpp and vLLM are those before the grammar is applied.
    """
    if not request.forced:
        return request
    decoding = Decoding(
        grammar=f'root ::= "{_literal(wellformed(request.forced))}"',
        logprobs=1,
        max_tokens=_FORCED_MARGIN + len(request.forced.encode(errors="replace")),
    )
    return replace(request, forced="", decoding=decoding)


def _literal(text: str) -> str:
    r"""Escape `text` for a quoted literal of a GBNF grammar.

    Examples
    --------
    >>> _literal('a "b"\n')
    'a \\"b\\"\\n'
    """
    escaped = text.replace("\\", r"\\").replace('"', r"\"")
    return _CONTROL.sub(lambda mark: f"\\x{ord(mark[0]):02X}", escaped.replace("\n", r"\n"))


def response_format(schema: ReplySchema) -> dict[str, object]:
    """Return the field that constrains a reply to `schema`, for OpenAI and most other servers."""
    form = {"name": schema.name, "strict": True, "schema": msgspec.json.decode(schema.text)}
    return {"response_format": {"type": "json_schema", "json_schema": form}}


def llama_cpp_grammar(grammar: str) -> dict[str, object]:
    """Return the field that constrains a reply of llama.cpp to a GBNF `grammar`."""
    return {"grammar": wellformed(grammar)}


def template_fields(
    *, reasoning: Reasoning | None, documents: Sequence[Mapping[str, str]] = ()
) -> dict[str, object]:
    """Return the field with the variables of a chat template, for vLLM, SGLang and llama.cpp.

    The variables are the reasoning switch and the documents; empty if neither is given.
    """
    handed: dict[str, object] = {}
    if reasoning is not None:
        handed["enable_thinking"] = reasoning != "none"
    if documents:
        handed["documents"] = documents
    return {"chat_template_kwargs": handed} if handed else {}


def documents_of(request: ChatRequest) -> list[dict[str, str]]:
    """Return the documents of `request` in the form that chat templates expect."""
    texts = [message.content for message in request.messages if message.role == "document"]
    return [{"doc_id": str(at), "text": wellformed(text)} for at, text in enumerate(texts)]


def vllm_grammar(grammar: str) -> dict[str, object]:
    """Return the field that constrains a reply of vLLM, 0.12 or later, to a GBNF `grammar`."""
    return {"structured_outputs": {"grammar": wellformed(grammar)}}


def _decoding(decoding: Decoding) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "temperature": decoding.temperature,
        "max_tokens": decoding.max_tokens,
    }
    if decoding.seed is not None:
        fields["seed"] = decoding.seed
    if decoding.logprobs:
        fields |= {"logprobs": True, "top_logprobs": decoding.logprobs}
    return fields


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


def wellformed(text: str) -> str:
    r"""Return `text` with lone surrogates, which UTF-8 cannot encode, replaced by U+FFFD.

    Examples
    --------
    >>> wellformed("a\ud800b") == "a\ufffdb"
    True
    """
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
