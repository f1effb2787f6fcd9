"""Servers that take one means of holding a reply to its form, and refuse what the real ones refuse.

A `DialectServer` reads the schema out of each request, as its namesake does, and answers with an
object that follows it. To a request without one it says the words that it was given. A field that
its namesake refuses gets the namesake's status and words. Where its namesake gives
log-probabilities it does, too: `P_YES` to *yes*, the rest to *no*, whichever of them it says.
"""

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from loopback.answers import Answer, chat, failure
from loopback.server import LoopbackServer, Received

P_YES = 0.8
_TOKEN = re.compile(r"\w+|\W")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """Means that a server takes.

    Parameters
    ----------
    model
        The name by which LiteLLM or our own client reaches it.
    schema
        Finds the schema in a request; None where there is none.
    grammar
        The field of a grammar; empty where it knows none.
    refused
        Fields that it refuses, and how.
    wrapped
        Writes a reply as its API does.
    gives_logprobs
        Whether it gives log-probabilities, in OpenAI's words.
    """

    model: str
    schema: Callable[[Mapping[str, Any]], Mapping[str, Any] | None]
    grammar: str = ""
    refused: Mapping[str, Answer] = field(default_factory=dict)
    wrapped: Callable[[str], Answer] = chat
    gives_logprobs: bool = True


class DialectServer(LoopbackServer):
    """A server of a dialect, which says `text` to a request without a schema.

    Parameters
    ----------
    filled
        Returns the words of a field, by its name without the mark; the last of an enumeration is
        said in its place.
    """

    def __init__(self, dialect: Dialect, *, text: str, filled: Mapping[str, str]) -> None:
        super().__init__(chat(text))
        self._dialect = dialect
        self._text = text
        self._filled = filled

    def record(self, request: Received) -> Answer:
        """Keep `request`; answer as its namesake would."""
        super().record(request)
        for name, refusal in self._dialect.refused.items():
            if name in request.body:
                return refusal
        schema = self._dialect.schema(request.body)
        if schema is None:
            return self._worded(self._text, request)
        schema = _resolved(schema, schema.get("$defs", {}))
        if problem := _unsupported(schema, strict=not self._dialect.grammar):
            return failure(400, f"Invalid schema for response_format: {problem}")
        return self._worded(json.dumps(self._value(schema, name="")), request)

    def _worded(self, text: str, request: Received) -> Answer:
        if self._dialect.gives_logprobs and request.body.get("logprobs"):
            return chat(text, logprobs={"content": [*map(_token, _TOKEN.findall(text))]})
        return self._dialect.wrapped(text)

    def _value(self, schema: Mapping[str, Any], *, name: str) -> object:
        match schema["type"]:
            case "object":
                parts = schema["properties"].items()
                return {key: self._value(part, name=key) for key, part in parts}
            case "integer":
                return int(self._filled.get(name) or 0)
            case "array":
                return [self._value(schema["items"], name=name)]
            case _:
                words = self._filled.get(name.rpartition("_")[0] or name, "")
                return schema["enum"][-1] if "enum" in schema and not words else words


def _token(text: str) -> Mapping[str, object]:
    shares = {"yes": P_YES, "no": 1 - P_YES} if text in {"yes", "no"} else {text: 1.0}
    rivals = [{"token": word, "logprob": math.log(share)} for word, share in shares.items()]
    return {"token": text, "logprob": math.log(shares[text]), "top_logprobs": rivals}


def _resolved(schema: Any, named: Mapping[str, Any]) -> Any:  # noqa: ANN401  any part of JSON
    """Return a schema with its definitions in the place of their names."""
    if isinstance(schema, list):
        return [_resolved(part, named) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _resolved(named[schema["$ref"].rpartition("/")[2]], named)
    return {name: _resolved(part, named) for name, part in schema.items() if name != "$defs"}


def _unsupported(schema: Mapping[str, Any], *, strict: bool) -> str:
    """Say what a strict schema may not hold, as OpenAI and Anthropic do."""
    if schema["type"] == "object":
        parts: Mapping[str, Any] = schema["properties"]
        if schema.get("additionalProperties") is not False or [*parts] != schema["required"]:
            return "'additionalProperties' must be false and every property required"
        problems = (_unsupported(part, strict=strict) for part in parts.values())
        return next(filter(None, problems), "")
    if strict and {"maxItems", "maxLength"} & {*schema}:
        return "'maxItems' and 'maxLength' are not permitted"
    return _unsupported(schema["items"], strict=strict) if "items" in schema else ""


def _response_format(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    form = body.get("response_format")
    return form["json_schema"]["schema"] if form else None


def _ollama(text: str) -> Answer:
    form = {"role": "assistant", "content": text}
    sent = {"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": form, "done": True}
    counts = {"done_reason": "stop", "prompt_eval_count": 7, "eval_count": 3}
    return Answer(body=json.dumps({**sent, **counts}))


def _anthropic(text: str) -> Answer:
    form = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude"}
    rest = {"stop_reason": "end_turn", "usage": {"input_tokens": 7, "output_tokens": 3}}
    return Answer(body=json.dumps({**form, "content": [{"type": "text", "text": text}], **rest}))


def _gemini(text: str) -> Answer:
    content = {"role": "model", "parts": [{"text": text}]}
    candidate = {"content": content, "finishReason": "STOP", "index": 0}
    counts = {"promptTokenCount": 7, "candidatesTokenCount": 3, "totalTokenCount": 10}
    return Answer(body=json.dumps({"candidates": [candidate], "usageMetadata": counts}))


def _anthropic_schema(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    form = body.get("output_format") or body.get("output_config", {}).get("format")
    return form["schema"] if form else None


def _gemini_schema(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    asked = body.get("generationConfig", {})
    schema = asked.get("response_json_schema") or asked.get("responseJsonSchema")
    return schema or None


def _refused(name: str, *, status: int = 400) -> Mapping[str, Answer]:
    return {name: failure(status, f"Unrecognized request argument supplied: {name}")}


DIALECTS: Mapping[str, Dialect] = {
    "vLLM": Dialect(
        model="hosted_vllm/m",
        schema=_response_format,
        grammar="structured_outputs",
        refused=_refused("guided_grammar"),
    ),
    "SGLang": Dialect(model="openai/m", schema=_response_format, grammar="ebnf"),
    "llama.cpp": Dialect(model="llamafile/m", schema=_response_format, grammar="grammar"),
    "Ollama": Dialect(
        model="ollama_chat/m",
        schema=lambda body: body.get("format"),
        grammar="-",
        refused=_refused("grammar"),
        wrapped=_ollama,
        gives_logprobs=False,
    ),
    "Ollama /v1": Dialect(model="openai-compatible/m", schema=_response_format, grammar="-"),
    "OpenAI": Dialect(
        model="openai/gpt-4o",
        schema=_response_format,
        refused={**_refused("grammar"), **_refused("structured_outputs"), **_refused("ebnf")},
    ),
    "Anthropic": Dialect(
        model="anthropic/claude-sonnet-4-5",
        schema=_anthropic_schema,
        refused=_refused("grammar"),
        wrapped=_anthropic,
        gives_logprobs=False,
    ),
    "Gemini": Dialect(
        model="gemini/gemini-2.5-flash",
        schema=_gemini_schema,
        refused=_refused("grammar"),
        wrapped=_gemini,
        gives_logprobs=False,
    ),
}
