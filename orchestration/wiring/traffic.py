"""Live traffic: spans and rows become segments, a path their store, and names sinks of scores."""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from spanjury.adapters.files.line_tail import LineTail, TailedLine, TailPosition
from spanjury.adapters.files.line_writer import ResultLog
from spanjury.adapters.files.reading.column_map import AS_NAMED, parse_columns
from spanjury.adapters.files.reading.rows import parse_row
from spanjury.adapters.files.strict_json import parse_json
from spanjury.adapters.runs.traffic_store import (
    Arrival,
    Outgoing,
    TrafficStore,
    WaitingTrace,
    outgoing_score,
)
from spanjury.adapters.sinks.http_client import HttpSink
from spanjury.adapters.telemetry.otlp import (
    JSON,
    PROTOBUF,
    ReadSpans,
    TraceSpan,
    decoded_span,
    encoded_span,
    read_request,
    read_spans,
    trace_row,
)
from spanjury.judges.core import DataError, PluginError, Segment, Sink
from spanjury.judges.core.keys import digest
from spanjury.judges.core.notices import noticed_by
from spanjury.orchestration.wiring.plugins import SINKS, built
from spanjury.orchestration.wiring.sources import data_limits
from spanjury.orchestration.wiring.specs import parse_options

__all__ = [
    "JSON",
    "PROTOBUF",
    "Arrival",
    "LineTail",
    "Outgoing",
    "ReadSpans",
    "ResultLog",
    "TailPosition",
    "Trace",
    "TrafficReader",
    "TrafficStore",
    "WaitingTrace",
    "follow",
    "outgoing_score",
    "read_request",
]

_ROW = b"row:"
"""Prefix of a stored row; a span is stored as a JSON object."""
_SPANS = "resourceSpans"
_METHODS = ("send", "aclose")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """A trace as it is judged.

    `key` is the name under which it waits: that of the trace, or of a row and its trace. `trace_id`
    is that of the trace, or the id of a row that names no trace (`names_trace` is False). `seconds`
    is its duration, 0 if unknown; the other fields are those of `TraceScore` and `TraceRow`.
    """

    segment: Segment
    key: str
    trace_id: str
    names_trace: bool = True
    span_id: str = ""
    started: int = 0
    seconds: float = 0.0
    failed: bool = False
    names: dict[str, str] = field(default_factory=dict)


class TrafficReader:
    """Converts incoming spans and rows to arrivals, and stored arrivals to traces.

    `columns` map the names of columns, as flags do. A trace waits for more spans for `settle`
    seconds after its root has arrived, and for `longest` without a root.
    """

    def __init__(self, *, columns: Sequence[str] = (), settle: float, longest: float) -> None:
        self._native = parse_columns(columns).reader()
        self._native_of_spans = AS_NAMED.reader()
        self._settle = settle
        self._longest = longest

    def span_arrivals(self, spans: Sequence[TraceSpan], *, now: float) -> list[Arrival]:
        """Return spans in their stored form."""
        return [
            Arrival(
                trace=span.trace_id,
                span=span.span_id,
                body=encoded_span(span),
                due=now + (self._longest if span.parent_id else self._settle),
                is_root=not span.parent_id,
            )
            for span in spans
        ]

    def line_arrivals(self, line: TailedLine, *, now: float) -> tuple[list[Arrival], str]:
        """Return the arrivals in a line of a file: an OTLP request as JSON, or a row.

        The second value describes what is wrong with invalid spans of a request, if there are any.
        Raise `DataError` if it contains neither, or the line has a fault.
        """
        if line.fault:
            raise DataError(line.fault)
        value = parse_json(line.text, depth=data_limits().depth)
        if isinstance(value, dict) and _SPANS in value:
            read = read_spans(value)
            return self.span_arrivals(read.spans, now=now), read.problem
        segment = self._segment(value, line=line.number)  # its faults are reported at once
        own_id = segment.segment_id
        if own_id == f"line-{line.number}" and isinstance(value, dict):
            # Lines of files that took each other's place have the same numbers.
            value["id"] = f"row-{digest(line.position.encoded().decode(), line.text)[:12]}"
            segment = self._segment(value, line=line.number)
            # A row that names its trace is the same row wherever it is written again.
            own_id = digest(line.text)[:12] if _trace_of(segment) else segment.segment_id
        body = _ROW + msgspec.json.encode(value)
        key = "/".join(filter(None, (_trace_of(segment), segment.system, own_id)))
        return [Arrival(trace=key, span="", body=body, due=now)], ""

    def trace(self, waiting: WaitingTrace) -> Trace:
        """Return a trace with its segment; raise `DataError` if it contains no text to judge."""
        first = waiting.bodies[0]
        if first.startswith(_ROW):
            segment = self._segment(msgspec.json.decode(first.removeprefix(_ROW)))
            trace_id = _trace_of(segment)
            return Trace(
                segment=segment,
                key=waiting.trace,
                trace_id=trace_id or segment.segment_id,
                names_trace=bool(trace_id),
                span_id=_meta(segment, "span_id", "spanId", "observation_id"),
            )
        spans = list(map(decoded_span, waiting.bodies))
        read = trace_row(spans)
        if read.row is None:
            raise DataError("no span holds a text that a model wrote")
        with noticed_by(lambda _: None):  # spanjury chose the names in these rows itself
            native = self._native_of_spans(read.row)
        return Trace(
            segment=parse_row(native, line=1),
            key=waiting.trace,
            trace_id=waiting.trace,
            span_id=read.span_id,
            started=read.started,
            seconds=max(0, max(span.end for span in spans) - read.started) / 1e9,
            failed=read.failed,
            names=dict(read.names),
        )

    def _segment(self, row: object, *, line: int = 1) -> Segment:
        return parse_row(self._native(row), line=line)


def follow(path: Path, *, position: bytes | None, is_whole: bool) -> LineTail:
    """Return the reader of a file's lines, with the limits of `set_data_limits`."""
    return LineTail(path, position=position, is_whole=is_whole, limits=data_limits())


def _trace_of(segment: Segment) -> str:
    """Return the id of the trace that a row names; empty without one."""
    return _meta(segment, "trace_id", "traceId")


def _meta(segment: Segment, *names: str) -> str:
    """Return the first value of `names` in a row's meta; empty if there is none."""
    return next((str(value) for name in names if (value := segment.meta.get(name))), "")


def open_sink(spec: str) -> tuple[str, Sink]:
    """Open a sink and return it with its name, given ``NAME`` or ``NAME:option=value,…``.

    Its connections are opened on the first request. Raise `ConfigError` if there is no such sink,
    an option does not fit or a key is missing.
    """
    name, options = parse_options(spec, what="sink")
    sink = built(SINKS.get(name), name, options)
    methods = (getattr(sink, method, None) for method in _METHODS)
    if not isinstance(sink, Sink) or not all(map(inspect.iscoroutinefunction, methods)):
        raise PluginError(f"sink {name!r} lacks an async send or aclose: {sink!r}")
    return name, sink


class Webhook(HttpSink):
    """An address to which alerts are posted, each as a JSON object.

    A secret address, such as that of a chat program, is given as ``env:VARIABLE``. Raises
    `ConfigError` if the address is invalid, or looks secret.
    """

    def __init__(self, url: str) -> None:
        super().__init__("webhook", url=url)

    async def send(self, alerts: Sequence[object]) -> None:
        """Post alerts; raise `SinkError` like a sink."""
        for alert in alerts:
            await self.request("POST", "", alert)
