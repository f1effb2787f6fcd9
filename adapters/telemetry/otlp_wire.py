"""Decoder of OpenTelemetry Protocol requests, from protobuf to the objects of its JSON form.

Only the fields that `otlp` reads are decoded [1]_; all others are skipped, as protobuf requires
[2]_.

References
----------
.. [1] https://github.com/open-telemetry/opentelemetry-proto, version 1, ``collector/trace/v1``,
   ``trace/v1``, ``common/v1`` and ``resource/v1``
.. [2] https://protobuf.dev/programming-guides/encoding
"""

import struct
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from spanjury.judges.core import DataError

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_DEEPEST = 32
"""Maximum nesting of messages, since attribute values may contain values."""
_LONGEST_VARINT = 63
_SIGN = 1 << 63
_INVALID = (IndexError, struct.error, ValueError)  # also of text that is not UTF-8
"""Exceptions that reading invalid bytes raises."""


class UnreadableSpan(NamedTuple):
    """A span whose bytes are invalid, in place of its JSON form."""

    reason: str


class _Field(NamedTuple):
    name: str
    kind: str  # text, label, hex, int, fixed64, double, bool, or the name of a message
    is_list: bool = False


_MESSAGES: Mapping[str, Mapping[int, _Field]] = {
    "Request": {1: _Field("resourceSpans", "ResourceSpans", is_list=True)},
    "ResourceSpans": {
        1: _Field("resource", "Resource"),
        2: _Field("scopeSpans", "ScopeSpans", is_list=True),
    },
    "Resource": {1: _Field("attributes", "Label", is_list=True)},
    "Label": {1: _Field("key", "label"), 2: _Field("value", "LabelValue")},
    "LabelValue": {1: _Field("stringValue", "label")},
    "ScopeSpans": {1: _Field("scope", "Scope"), 2: _Field("spans", "Span", is_list=True)},
    "Scope": {1: _Field("name", "label")},
    "Span": {
        1: _Field("traceId", "hex"),
        2: _Field("spanId", "hex"),
        4: _Field("parentSpanId", "hex"),
        5: _Field("name", "text"),
        7: _Field("startTimeUnixNano", "fixed64"),
        8: _Field("endTimeUnixNano", "fixed64"),
        9: _Field("attributes", "KeyValue", is_list=True),
        11: _Field("events", "Event", is_list=True),
        15: _Field("status", "Status"),
    },
    "Event": {2: _Field("name", "text"), 3: _Field("attributes", "KeyValue", is_list=True)},
    "Status": {2: _Field("message", "text"), 3: _Field("code", "int")},
    "KeyValue": {1: _Field("key", "text"), 2: _Field("value", "AnyValue")},
    "AnyValue": {
        1: _Field("stringValue", "text"),
        2: _Field("boolValue", "bool"),
        3: _Field("intValue", "int"),
        4: _Field("doubleValue", "double"),
        5: _Field("arrayValue", "ArrayValue"),
        6: _Field("kvlistValue", "KeyValueList"),
    },
    "ArrayValue": {1: _Field("values", "AnyValue", is_list=True)},
    "KeyValueList": {1: _Field("values", "KeyValue", is_list=True)},
}


_READERS: Mapping[str, Callable[[memoryview], object]] = {
    "text": lambda value: str(value, "utf-8"),
    # Names the program that sent many spans, so an invalid one must not cost these.
    "label": lambda value: str(value, "utf-8", "replace"),
    "hex": lambda value: value.hex(),
    "fixed64": lambda value: struct.unpack("<Q", value)[0],
    "double": lambda value: struct.unpack("<d", value)[0],
}


def decoded(body: bytes) -> dict[str, object]:
    """Decode an ``ExportTraceServiceRequest`` to the objects of its JSON form.

    A span with invalid bytes, such as text that is not UTF-8, is an `UnreadableSpan`. In names of
    resources and scopes, U+FFFD takes the place of such bytes.

    Raises `DataError` if the bytes are not such a message.
    """
    try:
        return _message(memoryview(body), "Request", depth=_DEEPEST)
    except _INVALID as error:
        raise DataError(f"the body is not OTLP in protobuf: {error}") from error


def partial_success(rejected: int, problem: str) -> bytes:
    """Encode an ``ExportTraceServiceResponse`` that says how many spans were rejected, and why."""
    text = problem.encode("utf-8", "replace")
    partial = b"\x08" + _encoded(rejected) + b"\x12" + _encoded(len(text)) + text
    return b"\x0a" + _encoded(len(partial)) + partial


def _encoded(number: int) -> bytes:
    """Encode a number as a varint, seven bits a byte, the lowest first."""
    low, rest = number & 0x7F, number >> 7
    return bytes([low | 0x80]) + _encoded(rest) if rest else bytes([low])


def _message(data: memoryview, kind: str, *, depth: int) -> dict[str, object]:
    if not depth:
        raise ValueError("it is nested too deeply")
    fields = _MESSAGES[kind]
    message: dict[str, object] = {}
    for number, value in _records(data):
        field = fields.get(number)
        if field is None:
            continue
        read = (_span if field.kind == "Span" else _value)(value, field.kind, depth=depth)
        if field.is_list:
            values = message.setdefault(field.name, [])
            assert isinstance(values, list)
            values.append(read)
        else:
            message[field.name] = read
    return message


def _records(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Yield the number and the raw value of each field."""
    offset, end = 0, len(data)
    while offset < end:
        tag, offset = _varint(data, offset)
        number, kind = tag >> 3, tag & 7
        value: int | memoryview
        if kind == _VARINT:
            value, offset = _varint(data, offset)
        else:
            if kind == _LENGTH:
                size, offset = _varint(data, offset)
            elif kind in {_FIXED64, _FIXED32}:
                size = 8 if kind == _FIXED64 else 4
            else:
                raise ValueError(f"a field has the unknown type {kind}")
            value = data[offset : offset + size]
            offset += size
            if len(value) < size:
                raise ValueError("it ends within a field")
        yield number, value


def _varint(data: memoryview, offset: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[offset]
        offset += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:  # noqa: PLR2004  the highest bit means that more bytes follow
            return value, offset
        shift += 7
        if shift > _LONGEST_VARINT:
            raise ValueError("a number has more than 64 bits")


def _span(value: int | memoryview, kind: str, *, depth: int) -> object:
    """Decode a span, so that an invalid one costs no other."""
    try:
        return _value(value, kind, depth=depth)
    except _INVALID as error:
        return UnreadableSpan(f"the span is not OTLP in protobuf: {error}")


def _value(value: int | memoryview, kind: str, *, depth: int) -> object:
    if isinstance(value, int):
        if kind == "bool":
            return bool(value)
        if kind != "int":
            raise ValueError(f"got a number, expected {kind}")
        return value - (1 << 64) if value & _SIGN else value
    if kind in _READERS:
        return _READERS[kind](value)
    if kind not in _MESSAGES:
        raise ValueError(f"got bytes, expected {kind}")
    return _message(value, kind, depth=depth - 1)
