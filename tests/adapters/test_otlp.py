"""Spans of OTLP, from JSON and protobuf, and the rows that they make."""

import contextlib
import json
import struct
from collections.abc import Mapping
from itertools import product

import pytest

from spanjury.adapters.telemetry import otlp_wire
from spanjury.adapters.telemetry.otlp import (
    JSON,
    PROTOBUF,
    TraceSpan,
    decoded_span,
    encoded_span,
    read_request,
    trace_row,
)
from spanjury.judges.core import DataError

TRACE = "0af7651916cd43dd8448eb211c80319c"
QUESTION, ANSWER = "When did it open?", "It opened in 1932."


def span(number: int, *, parent: int = 0, **attributes: object) -> dict[str, object]:
    """Return a span of `TRACE`; two underscores in a name stand for a dot."""
    named = {name.replace("__", "."): value for name, value in attributes.items()}
    return {
        "traceId": TRACE,
        "spanId": f"{number:016x}",
        "parentSpanId": f"{parent:016x}" if parent else "",
        "name": f"span {number}",
        "startTimeUnixNano": str(number * 10),
        "endTimeUnixNano": str(1_000 + number),
        "attributes": attributes_of(**named),
    }


def attributes_of(**values: object) -> list[dict[str, object]]:
    return [{"key": name, "value": value_of(value)} for name, value in values.items()]


def value_of(value: object) -> dict[str, object]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [value_of(item) for item in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": attributes_of(**value)}}
    return {"stringValue": value}


def request(*spans: Mapping[str, object], scope: str = "app") -> dict[str, object]:
    service = [{"key": "service.name", "value": {"stringValue": "shop"}}]
    scoped = {"scope": {"name": scope}, "spans": list(spans)}
    return {"resourceSpans": [{"resource": {"attributes": service}, "scopeSpans": [scoped]}]}


def as_read(*spans: Mapping[str, object], scope: str = "app") -> list[TraceSpan]:
    """Return the spans as the reader of a request in JSON has them."""
    return [*read_request(json.dumps(request(*spans, scope=scope)).encode(), JSON).spans]


def row_of(*spans: Mapping[str, object]) -> Mapping[str, object]:
    row = trace_row(as_read(*spans)).row
    assert row is not None
    return row


def parts(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


CHAT: dict[str, object] = {
    "gen_ai__operation__name": "chat",
    "gen_ai__request__model": "m",
    "gen_ai__input__messages": parts("user", QUESTION),
    "gen_ai__output__messages": parts("assistant", ANSWER),
}
MESSAGES = [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": ANSWER}]


@pytest.mark.parametrize(
    "attributes",
    [
        CHAT,
        {
            "gen_ai__operation__name": "chat",
            "gen_ai__input__messages": json.loads(parts("user", QUESTION)),
            "gen_ai__output__messages": json.loads(parts("assistant", ANSWER)),
        },
        {
            "gen_ai__prompt__0__role": "user",
            "gen_ai__prompt__0__content": QUESTION,
            "gen_ai__completion__0__content": ANSWER,
        },
        {
            "openinference__span__kind": "LLM",
            "llm__input_messages__0__message__role": "user",
            "llm__input_messages__0__message__contents__0__message_content__text": QUESTION,
            "llm__output_messages__0__message__role": "assistant",
            "llm__output_messages__0__message__content": ANSWER,
        },
        {
            "pydantic_ai__all_messages": json.dumps(
                [*json.loads(parts("user", QUESTION)), *json.loads(parts("assistant", ANSWER))]
            )
        },
    ],
)
def test_a_conversation_is_read_in_every_form(attributes: Mapping[str, object]) -> None:
    row = row_of(span(1), span(2, parent=1, **attributes))
    assert row["messages"] == MESSAGES
    assert row["id"] == TRACE


def test_one_event_a_message_is_read_in_the_older_form() -> None:
    chat = span(2, parent=1, gen_ai__operation__name="chat")
    chat["events"] = [
        {"name": "gen_ai.user.message", "attributes": attributes_of(content=QUESTION)},
        {
            "name": "gen_ai.choice",
            "attributes": attributes_of(message=json.dumps({"content": ANSWER})),
        },
    ]
    assert row_of(span(1), chat)["messages"] == MESSAGES


def test_inputs_and_outputs_without_messages_make_a_row_of_a_trace() -> None:
    row = row_of(span(1, input__value=QUESTION, output__value=ANSWER))
    assert (row["input"], row["output"], row["traceId"]) == (QUESTION, ANSWER, TRACE)


def test_the_last_call_of_a_model_is_judged_with_what_tools_answered() -> None:
    tool: dict[str, object] = {
        "gen_ai__operation__name": "execute_tool",
        "gen_ai__tool__name": "lookup",
        "gen_ai__tool__call__arguments": '{"q": "bridge"}',
        "gen_ai__tool__call__result": "It opened in 1930.",
    }
    first = {**CHAT, "gen_ai__output__messages": parts("assistant", "Let me see.")}
    later = as_read(span(1), span(4, parent=1, **CHAT), span(3, parent=1, **tool))
    made = trace_row([*later, *as_read(span(2, parent=1, **first))])
    assert made.row is not None
    messages = made.row["messages"]
    assert isinstance(messages, list)
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "assistant"]
    called = {"name": "lookup", "arguments": '{"q": "bridge"}'}
    assert messages[1]["tool_calls"][0]["function"] == called
    assert messages[2]["content"] == "It opened in 1930."
    assert (made.span_id, made.started, made.row["system"]) == (f"{4:016x}", 10, "m")


def test_retrieved_documents_are_the_context() -> None:
    retrieval: dict[str, object] = {
        "openinference__span__kind": "RETRIEVER",
        "retrieval__documents__0__document__content": "It opened in 1930.",
    }
    row = row_of(span(1), span(2, parent=1, **retrieval), span(3, parent=1, **CHAT))
    assert row["context"] == ["It opened in 1930."]


def test_a_trace_without_a_text_makes_no_row() -> None:
    assert trace_row(as_read(span(1), span(2, parent=1))).row is None


def test_ids_of_other_services_and_errors_are_kept() -> None:
    failed = span(1, opik__trace_id="0190", langsmith__trace__id="7b3e")
    failed["status"] = {"code": 2}
    made = trace_row(as_read(failed))
    assert made.failed
    assert made.names == {"opik.trace_id": "0190", "langsmith.trace.id": "7b3e"}


def test_spans_that_spanjury_made_are_not_judged() -> None:
    assert as_read(span(1), scope="spanjury") == []


def test_a_span_reads_the_same_again() -> None:
    (read,) = as_read(span(1, parent=0, **CHAT))
    assert decoded_span(encoded_span(read)) == read


# Protobuf, written by the rules of its encoding: a tag is the field's number and type.
def number(value: int) -> bytes:
    more = value >> 7
    return bytes([value & 0x7F | 0x80]) + number(more) if more else bytes([value])


def field(tag: int, body: bytes) -> bytes:
    return number(tag << 3 | 2) + number(len(body)) + body


def any_value(value: Mapping[str, object]) -> bytes:
    ((kind, held),) = value.items()
    if kind == "boolValue":
        return number(2 << 3) + number(int(bool(held)))
    if kind == "intValue":
        return number(3 << 3) + number(int(str(held)) % 2**64)
    if kind == "doubleValue":
        return number(4 << 3 | 1) + struct.pack("<d", held)
    if kind == "stringValue":
        return field(1, str(held).encode())
    assert isinstance(held, dict)
    if kind == "arrayValue":
        return field(5, b"".join(field(1, any_value(item)) for item in held["values"]))
    return field(6, b"".join(field(1, pair(item)) for item in held["values"]))


def pair(item: Mapping[str, object]) -> bytes:
    value = item["value"]
    assert isinstance(value, dict)
    return field(1, str(item["key"]).encode()) + field(2, any_value(value))


def protobuf(made: Mapping[str, object]) -> bytes:
    """Return one span in a request."""
    service = field(1, pair({"key": "service.name", "value": {"stringValue": "shop"}}))
    scope = field(1, field(1, b"app"))
    return field(1, field(1, service) + field(2, scope + field(2, span_bytes(made))))


def span_bytes(made: Mapping[str, object]) -> bytes:
    """Return a span, with a field that no reader knows."""
    attributes = made["attributes"]
    assert isinstance(attributes, list)
    times = [int(str(made[name])) for name in ("startTimeUnixNano", "endTimeUnixNano")]
    return (
        field(1, bytes.fromhex(str(made["traceId"])))
        + field(2, bytes.fromhex(str(made["spanId"])))
        + field(4, bytes.fromhex(str(made["parentSpanId"])))
        + field(5, str(made["name"]).encode())
        + number(6 << 3)  # the kind, which is skipped
        + number(3)
        + number(7 << 3 | 1)
        + struct.pack("<Q", times[0])
        + number(8 << 3 | 1)
        + struct.pack("<Q", times[1])
        + b"".join(field(9, pair(item)) for item in attributes)
        + field(11, field(2, b"gen_ai.choice") + field(3, pair(attributes[0])))
        + field(15, number(3 << 3) + number(2))
    )


def test_protobuf_and_json_are_the_same_spans() -> None:
    values = {"a": "é", "b": True, "c": -3, "d": 0.5, "e": ["x", 1], "f": {"g": "h"}}
    made = span(2, parent=1, **values)
    events = [{"name": "gen_ai.choice", "attributes": attributes_of(a="é")}]
    (expected,) = as_read({**made, "status": {"code": 2}, "events": events})
    (read,) = read_request(protobuf(made), PROTOBUF).spans
    assert read == expected
    assert read.attributes == values


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"{", JSON),
        (b"[]", JSON),
        (b'{"resourceSpans": 3}', JSON),
        (b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "12"}]}]}]}', JSON),
        (json.dumps(request({**span(1), "traceId": "0" * 32})).encode(), JSON),
        (b"\x0a\xff", PROTOBUF),
        (b"\x0b", PROTOBUF),
        (b"\x80" * 11, PROTOBUF),
        (field(1, field(2, field(2, field(5, b"\xff")))), PROTOBUF),
        (field(1, field(2, field(2, number(5 << 3) + number(1)))), PROTOBUF),
    ],
)
def test_what_is_no_request_is_refused(body: bytes, kind: str) -> None:
    with pytest.raises(DataError, match="the body is"):
        read_request(body, kind)


def test_an_invalid_span_costs_no_other() -> None:
    body = json.dumps(request(span(1), {**span(2), "spanId": "12"}, {"traceId": "1"}, span(3)))
    read = read_request(body.encode(), JSON)
    where = "resourceSpans[0].scopeSpans[0].spans[1]"
    problem = f"{where}: spanId: expected 16 hex digits, not all 0, got '12'"
    assert [each.span_id for each in read.spans] == [f"{1:016x}", f"{3:016x}"]
    rejected = {"rejectedSpans": "2", "errorMessage": problem}
    assert json.loads(read.answer(JSON)) == {"partialSuccess": rejected}
    partial = b"\x08\x02" + field(2, problem.encode())  # field 1, rejected_spans
    assert read.answer(PROTOBUF) == field(1, partial)
    assert otlp_wire.partial_success(300, "")[2:5] == b"\x08\xac\x02"


@pytest.mark.parametrize("name", [b"\xff", b"\x0a\xff"])
def test_a_span_of_protobuf_that_cannot_be_decoded_costs_no_other(name: bytes) -> None:
    broken = field(1, field(2, field(2, field(5, name))))
    # The bytes of two requests, one after the other, are a request with the spans of both.
    body = protobuf(span(1, a="x")) + broken + protobuf(span(3, a="x"))
    read = read_request(body, PROTOBUF)
    assert [each.span_id for each in read.spans] == [f"{1:016x}", f"{3:016x}"]
    assert read.rejected == 1
    assert "spans[0]: the span is not OTLP in protobuf: 'utf-8' codec can't decode" in read.problem


def test_the_name_of_a_service_that_is_not_utf_8_costs_no_span() -> None:
    latin = field(1, b"service.name") + field(2, field(1, b"caf\xe9"))
    resource = field(1, latin) + field(1, field(1, b"\xff"))
    spans = field(2, field(1, field(1, b"\xff")) + field(2, span_bytes(span(1, a="x"))))
    read = read_request(field(1, field(1, resource) + spans), PROTOBUF)
    assert [each.service for each in read.spans] == ["caf\N{REPLACEMENT CHARACTER}"]
    assert not read.rejected


@pytest.mark.parametrize("end", [b"\\ud83d", b"\xff"])
def test_a_text_of_json_that_is_cut_within_a_character_costs_no_span(end: bytes) -> None:
    body = json.dumps(request(span(1, a="cut@"), span(2))).encode().replace(b"@", end)
    first, _ = read_request(body, JSON).spans
    assert first.attributes["a"] == "cut\N{REPLACEMENT CHARACTER}"


def test_values_that_lie_too_deeply_are_refused() -> None:
    value = field(1, b"x")
    for _ in range(40):
        value = field(5, field(1, value))
    attribute = field(9, field(1, b"a") + field(2, value))
    with pytest.raises(DataError, match="deeply"):
        read_request(field(1, field(2, field(2, attribute))), PROTOBUF)


NAMES = (
    *("gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.prompt.0.content", "events"),
    *("gen_ai.completion.0.tool_calls.0.name", "llm.output_messages.0.message.contents.0"),
    *("gen_ai.retrieval.documents", "gen_ai.tool.definitions", "output.value"),
)
VALUES: tuple[object, ...] = (
    *(None, 3, "", "text", "[{}]", '["x"]', "[[[[", {}, [], [None], [[]], {"a": None}),
    *([{"role": 3, "parts": 4}], [{"parts": [None, 5]}], [{"parts": {"content": [1]}}]),
    *([{"parts": [{"type": "tool_call", "arguments": {1, 2}}]}], [{"event.name": "gen_ai.choice"}]),
)


@pytest.mark.parametrize("name", NAMES)
def test_attributes_of_any_form_make_a_row_or_a_fault(name: str) -> None:
    for value, other in product(VALUES, VALUES):
        chat = {"gen_ai.operation.name": "chat", "gen_ai.output.messages": other}
        attributes = {**chat, name: value}
        with contextlib.suppress(DataError):
            row = trace_row([TraceSpan(trace_id=TRACE, span_id="1", attributes=attributes)]).row
            assert row is None or row["id"] == TRACE
