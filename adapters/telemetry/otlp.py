"""Spans of the OpenTelemetry Protocol, and the data row made of the spans of one trace.

A row has the conversation of the trace's last model call as ``messages`` in OpenAI's format, the
answer last. If no span has a conversation, the row has the trace's ``input`` and ``output``. The
attributes are those of OpenTelemetry's conventions for generative AI [1]_, in current and older
forms, and those of OpenInference [2]_, OpenLLMetry, pydantic-ai and Langfuse.

References
----------
.. [1] https://github.com/open-telemetry/semantic-conventions-genai, 2026, status "development"
.. [2] https://github.com/Arize-ai/openinference, ``spec/semantic_conventions.md``
"""

import json
import string
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

import msgspec

from spanjury.adapters.telemetry import otlp_wire
from spanjury.adapters.telemetry.otlp_wire import UnreadableSpan
from spanjury.judges.core import DataError
from spanjury.judges.core.json_text import without_lone_escapes

PROTOBUF, JSON = "application/x-protobuf", "application/json"
"""Content types of requests."""
OURS = "spanjury"
"""Scope of spans made by spanjury itself, which are not judged."""
IDS = ("opik.trace_id", "langsmith.trace.id", "langsmith.span.id")
"""Attributes with other services' own ids of a trace."""
_FAILED = 2
"""Status code of a failed span."""
_TRACE_DIGITS, _SPAN_DIGITS = 32, 16
_HEXADECIMAL = frozenset(string.hexdigits)
_INVALID = (AttributeError, KeyError, TypeError, ValueError, RecursionError)
"""Exceptions that reading an invalid span raises."""
_MODEL_CALLS = frozenset({"chat", "generate_content", "text_completion"})
_INPUTS = (
    *("gen_ai.prompt", "input.value", "langfuse.observation.input", "langfuse.trace.input"),
    "traceloop.entity.input",
)
_OUTPUTS = (
    *("gen_ai.completion", "final_result", "output.value", "langfuse.observation.output"),
    *("langfuse.trace.output", "traceloop.entity.output"),
)
_EVENT_ROLES = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
    "gen_ai.choice": "assistant",
}

_NUMBERED = {
    "gen_ai.prompt": "user",
    "gen_ai.completion": "assistant",
    "llm.input_messages": "user",
    "llm.output_messages": "assistant",
}
"""Prefixes of attributes with numbered messages -> the role of a message that names none."""

_Message = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceSpan:
    """A span. Times are nanoseconds since 1970; `parent_id` is empty for the root of a trace."""

    trace_id: str
    span_id: str
    parent_id: str = ""
    name: str = ""
    start: int = 0
    end: int = 0
    failed: bool = False
    service: str = ""
    attributes: dict[str, Any] = field(default_factory=dict)
    events: list[tuple[str, dict[str, Any]]] = field(default_factory=list)


encoded_span = msgspec.json.Encoder().encode
"""Function that serialises a span as JSON."""
decoded_span = msgspec.json.Decoder(TraceSpan).decode
"""Function that restores a span from JSON."""


class ReadSpans(NamedTuple):
    """The valid spans of a request, the number of others, and what is wrong with the first."""

    spans: list[TraceSpan]
    rejected: int = 0
    problem: str = ""

    def answer(self, media_type: str) -> bytes:
        """Return the ``ExportTraceServiceResponse``; it is empty if all spans are valid."""
        if media_type == PROTOBUF:
            return otlp_wire.partial_success(self.rejected, self.problem) if self.rejected else b""
        if not self.rejected:
            return b"{}"
        partial = {"rejectedSpans": str(self.rejected), "errorMessage": self.problem}
        return msgspec.json.encode({"partialSuccess": partial})


def read_request(body: bytes, media_type: str) -> ReadSpans:
    """Return the spans of an ``ExportTraceServiceRequest``, except those made by spanjury.

    In JSON, U+FFFD takes the place of bytes that are not UTF-8 and of lone surrogates.

    Raises `DataError` if the body is not such a request of its `media_type`, or all of its spans
    are invalid.
    """
    if media_type == PROTOBUF:
        return read_spans(otlp_wire.decoded(body))
    try:
        # An exporter that cuts a text to its longest length can leave half a pair of surrogates.
        request = msgspec.json.decode(without_lone_escapes(body.decode("utf-8", "replace")))
    except msgspec.DecodeError as error:
        raise DataError(f"the body is not JSON: {error}") from error
    except RecursionError as error:
        raise DataError("the body is nested too deeply to be read") from error
    return read_spans(request)


def read_spans(request: object) -> ReadSpans:
    """Return the spans of a decoded request; raise as `read_request` does."""
    spans, problems = list[TraceSpan](), list[str]()
    for path, span, service in _request_spans(request):
        try:
            spans.append(_span(span, service))
        except _INVALID as error:
            problems.append(f"{path}: {_reason(error)}")
    if problems and not spans:
        raise DataError(f"the body is not an OTLP request: {problems[0]}")
    return ReadSpans(spans, len(problems), "".join(problems[:1]))


def _request_spans(request: object) -> Iterator[tuple[str, Any, str]]:
    """Yield each span of a request with its path in the JSON and the name of its service."""
    try:
        for number, resource in enumerate(_list(request, "resourceSpans")):
            attributes = _attributes(_list(resource.get("resource") or {}, "attributes"))
            service = str(attributes.get("service.name", ""))
            for scope_number, scope in enumerate(_list(resource, "scopeSpans")):
                if (scope.get("scope") or {}).get("name") != OURS:
                    path = f"resourceSpans[{number}].scopeSpans[{scope_number}].spans"
                    for span_number, span in enumerate(_list(scope, "spans")):
                        yield f"{path}[{span_number}]", span, service
    except _INVALID as error:
        raise DataError(f"the body is not an OTLP request: {error!r}") from error


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"the field {error} is missing"
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)


def _list(holder: Any, key: str) -> list[Any]:  # noqa: ANN401  JSON
    values = holder.get(key) or []
    if not isinstance(values, list):
        raise TypeError(f"{key} is not a list")
    return values


def _span(span: Mapping[str, Any] | UnreadableSpan, service: str) -> TraceSpan:
    if isinstance(span, UnreadableSpan):
        raise ValueError(span.reason)  # noqa: TRY004  as every problem of a span
    return TraceSpan(
        trace_id=_id(span, "traceId", _TRACE_DIGITS),
        span_id=_id(span, "spanId", _SPAN_DIGITS),
        parent_id=str(span.get("parentSpanId") or "").lower(),
        name=str(span.get("name", "")),
        start=int(span.get("startTimeUnixNano") or 0),
        end=int(span.get("endTimeUnixNano") or 0),
        failed=(span.get("status") or {}).get("code") in {_FAILED, "STATUS_CODE_ERROR"},
        service=service,
        attributes=_attributes(_list(span, "attributes")),
        events=[
            (str(event.get("name", "")), _attributes(_list(event, "attributes")))
            for event in _list(span, "events")
        ],
    )


def _id(span: Mapping[str, Any], name: str, digits: int) -> str:
    text = str(span[name]).lower()
    if len(text) != digits or not set(text) <= _HEXADECIMAL or not text.strip("0"):
        raise ValueError(f"{name}: expected {digits} hex digits, not all 0, got {text[:40]!r}")
    return text


def _attributes(pairs: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    return {str(pair["key"]): _plain(pair.get("value") or {}) for pair in pairs}


def _plain(value: Mapping[str, Any]) -> object:
    """Return the value of an ``AnyValue``."""
    for kind, content in value.items():
        if kind == "intValue":
            return int(content)
        if kind == "arrayValue":
            return [_plain(item) for item in _list(content, "values")]
        if kind == "kvlistValue":
            return _attributes(_list(content, "values"))
        return content
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceRow:
    """The data row of a trace, as in a data file; None if no span has a text that a model wrote.

    `span_id` is the span with the judged text. The trace `started` so many nanoseconds after 1970,
    and `failed` if any span reports an error. `names` are other services' ids of it, by attribute.
    """

    row: Mapping[str, object] | None
    span_id: str = ""
    started: int = 0
    failed: bool = False
    names: Mapping[str, str] = field(default_factory=dict)


def trace_row(spans: Sequence[TraceSpan]) -> TraceRow:
    """Return the row of a trace from one or more of its spans, in any order.

    Raises `DataError` if attributes have unexpected forms.
    """
    try:
        return _trace_row(spans)
    except _INVALID as error:
        raise DataError(f"its attributes cannot be read: {error!r}") from error


def _trace_row(spans: Sequence[TraceSpan]) -> TraceRow:
    ordered = sorted(spans, key=lambda span: (span.end, span.start))
    calls = [span for span in ordered if _is_model_call(span)]
    others = [span for span in reversed(ordered) if not _is_model_call(span)]
    roots = [span for span in others if not span.parent_id]
    row, judged = None, (roots or ordered)[-1]
    for span in (*reversed(calls), *roots, *(span for span in others if span.parent_id)):
        if (row := _row_of(span, ordered)) is not None:
            judged = span
            break
    attributes = judged.attributes
    system = attributes.get("gen_ai.response.model") or attributes.get("gen_ai.request.model")
    system = system or attributes.get("llm.model_name") or judged.service
    return TraceRow(
        row=row and {"id": judged.trace_id, **row, "system": str(system)},
        span_id=judged.span_id,
        started=min(span.start for span in spans),
        failed=any(span.failed for span in spans),
        names={
            name: value
            for name in IDS
            for span in (judged, *roots)
            if isinstance(value := span.attributes.get(name), str)
        },
    )


def _is_model_call(span: TraceSpan) -> bool:
    attributes = span.attributes
    kinds = (attributes.get("openinference.span.kind"), attributes.get("traceloop.span.kind"))
    return (
        attributes.get("gen_ai.operation.name") in _MODEL_CALLS
        or "LLM" in kinds
        or attributes.get("langfuse.observation.type") == "generation"
        or any(key.startswith("gen_ai.completion") for key in attributes)
    )


def _row_of(span: TraceSpan, trace: Sequence[TraceSpan]) -> dict[str, object] | None:
    """Return one span's contribution to the row; None if it has no output."""
    messages = _conversation(span)
    if messages and messages[-1]["role"] == "assistant" and messages[-1]["content"]:
        if not any(message["role"] == "tool" for message in messages):
            messages[-1:-1] = chain.from_iterable(map(_tool_turns, trace))
        return {"messages": messages, **_context(trace), **_tools(span)}
    output = _first(span, _OUTPUTS)
    if output in (None, ""):
        return None
    # The trace id marks the row as that of a trace, whose input may have any form.
    return {"input": _first(span, _INPUTS), "output": output, "traceId": span.trace_id}


def _first(span: TraceSpan, names: Iterable[str]) -> Any:  # noqa: ANN401  any value
    values = (span.attributes.get(name) for name in names)
    return next((_parsed(value) for value in values if value is not None and value != ""), None)


def _parsed(value: object) -> Any:  # noqa: ANN401  JSON, or `value`
    """Parse a text that looks like a JSON object or list; return other values unchanged."""
    if isinstance(value, str) and value[:1] in {"[", "{"}:
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _conversation(span: TraceSpan) -> list[_Message]:
    """Return the messages of a span, from the first form that yields any."""
    return next((messages for form in _FORMS if (messages := [*form(span)])), [])


def _of_conventions(span: TraceSpan) -> Iterator[_Message]:
    """Read ``gen_ai.input.messages`` and similar ones, from attributes or from an event."""
    for attributes in (span.attributes, *(of_event for _, of_event in span.events)):
        if "gen_ai.output.messages" not in attributes:
            continue
        instructions = _parsed(attributes.get("gen_ai.system_instructions"))
        if text := _text(instructions):
            yield _message("system", text)
        for name in ("gen_ai.input.messages", "gen_ai.output.messages"):
            yield from _parted(_parsed(attributes.get(name)))
        return


def _of_all_messages(span: TraceSpan) -> Iterator[_Message]:
    """Read the messages that pydantic-ai stores on the span of an agent run."""
    yield from _parted(_parsed(span.attributes.get("pydantic_ai.all_messages")))


def _parted(messages: object) -> Iterator[_Message]:
    """Yield messages whose content is a list of parts; tool results become separate messages."""
    for message in messages if isinstance(messages, list) else ():
        if not isinstance(message, Mapping):
            continue
        role = str(message.get("role", "user"))
        parts = message.get("parts", message.get("content"))
        if not isinstance(parts, list):
            yield _message(role, _text(parts))
            continue
        answers = [part for part in parts if _kind(part) == "tool_call_response"]
        for part in answers:
            answer = part.get("response", part.get("result"))
            yield _tool_message(part.get("id"), answer, name=part.get("name"))
        calls = [_call(part) for part in parts if _kind(part) == "tool_call"]
        text = _text([part for part in parts if _kind(part) in {"text", ""}])
        if text or calls or not answers:
            yield _message(role, text, calls)


def _of_events(span: TraceSpan) -> Iterator[_Message]:
    """Read one event per message, the older form; some programs store the list in ``events``."""
    listed = _parsed(span.attributes.get("events"))
    events = list(span.events)
    events += [
        (str(event.get("event.name", "")), dict(event))
        for event in (listed if isinstance(listed, list) else ())
        if isinstance(event, Mapping)
    ]
    for name, attributes in events:
        if name not in _EVENT_ROLES:
            continue
        body = _parsed(attributes.get("message", attributes))
        message = body if isinstance(body, Mapping) else {"content": body}
        if name == "gen_ai.tool.message":
            yield _tool_message(message.get("id"), message.get("content"), name=message.get("name"))
            continue
        calls = _parsed(message.get("tool_calls"))
        yield _message(
            str(message.get("role", _EVENT_ROLES[name])),
            _text(_parsed(message.get("content"))),
            [_call(call) for call in calls or () if isinstance(call, Mapping)],
        )


def _of_numbered(span: TraceSpan) -> Iterator[_Message]:
    """Read attributes with indices in their names, as written by OpenLLMetry and OpenInference."""
    for prefix, speaker in _NUMBERED.items():
        for numbered in _listed(_within(span.attributes, prefix)):
            message = numbered.get("message", numbered)
            parts = _listed(message.get("contents"))
            contents = [part.get("message_content", {}) for part in parts]
            calls = [call.get("tool_call", call) for call in _listed(message.get("tool_calls"))]
            text = _text(message.get("content")) or _text(contents)
            role = str(message.get("role", speaker))
            if role == "tool":
                yield _tool_message(message.get("tool_call_id"), text, name=message.get("name"))
            else:
                yield _message(role, text, [_call(call) for call in calls])


_FORMS: tuple[Callable[[TraceSpan], Iterator[_Message]], ...] = (
    _of_conventions,
    _of_numbered,
    _of_events,
    _of_all_messages,
)


def _within(attributes: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """Return the attributes that begin with a prefix, as nested dictionaries."""
    nested: dict[str, Any] = {}
    for name, value in attributes.items():
        if name.startswith(f"{prefix}."):
            *path, last = name[len(prefix) + 1 :].split(".")
            level = nested
            for key in path:
                inner = level.setdefault(key, {})
                level = inner if isinstance(inner, dict) else {}
            level[last] = value
    return nested


def _listed(numbered: object) -> list[dict[str, Any]]:
    """Return the objects under numeric keys, in numeric order."""
    if not isinstance(numbered, Mapping):
        return []
    numbers = sorted((key for key in numbered if key.isdecimal()), key=int)
    return [numbered[key] for key in numbers if isinstance(numbered[key], dict)]


def _message(role: str, text: str, calls: Sequence[_Message] = ()) -> _Message:
    return {"role": role, "content": text, **({"tool_calls": list(calls)} if calls else {})}


def _tool_message(call_id: object, answer: object, *, name: object = None) -> _Message:
    text = _text(answer) or ("" if answer is None else _written(answer))
    named = {"name": name} if isinstance(name, str) else {}
    return {"role": "tool", "content": text, "tool_call_id": str(call_id or ""), **named}


def _call(call: Mapping[str, Any]) -> _Message:
    inner = call.get("function")
    holder = inner if isinstance(inner, Mapping) else call
    arguments = _written(holder.get("arguments", {}))
    function = {"name": str(holder.get("name", "")), "arguments": arguments}
    return {"id": str(call.get("id") or ""), "type": "function", "function": function}


def _written(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _kind(part: object) -> str:
    return str(part.get("type", "")) if isinstance(part, Mapping) else ""


def _text(value: object) -> str:
    """Return a content's text: the text itself, or the texts of its parts, joined."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(filter(None, map(_text, value)))
    if isinstance(value, Mapping):
        return next((_text(value[key]) for key in ("content", "text") if value.get(key)), "")
    return ""


def _tool_turns(span: TraceSpan) -> list[_Message]:
    """Return the call and its result if the span is a tool call with a result; else nothing."""
    attributes = span.attributes
    answers = map(attributes.get, ("gen_ai.tool.call.result", "tool_response", *_OUTPUTS))
    answer = next((answer for answer in answers if answer is not None), None)
    is_tool_call = (
        attributes.get("gen_ai.operation.name") == "execute_tool"
        or attributes.get("openinference.span.kind") == "TOOL"
        or attributes.get("langfuse.observation.type") == "tool"
    )
    if not is_tool_call or answer is None:
        return []
    name = str(attributes.get("gen_ai.tool.name") or attributes.get("tool.name") or span.name)
    call_id = str(attributes.get("gen_ai.tool.call.id") or span.span_id)
    arguments = attributes.get("gen_ai.tool.call.arguments", attributes.get("tool_arguments"))
    arguments = attributes.get("input.value", {}) if arguments is None else arguments
    call = _call({"id": call_id, "name": name, "arguments": arguments})
    return [_message("assistant", "", [call]), _tool_message(call_id, answer, name=name)]


def _context(trace: Iterable[TraceSpan]) -> dict[str, object]:
    """Return the documents that the trace retrieved, if any are recorded."""
    texts: list[str] = []
    for span in trace:
        documents = _parsed(span.attributes.get("gen_ai.retrieval.documents"))
        if isinstance(documents, list):
            texts += filter(None, map(_text, documents))
        for numbered in _listed(_within(span.attributes, "retrieval.documents")):
            texts.append(_text(numbered.get("document", numbered)))
    return {"context": texts} if any(texts) else {}


def _tools(span: TraceSpan) -> dict[str, object]:
    """Return the tools available to the model, if the span lists them."""
    tools = _parsed(span.attributes.get("gen_ai.tool.definitions"))
    return {"tools": tools} if isinstance(tools, list) and tools else {}
