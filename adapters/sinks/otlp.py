"""OpenTelemetry: each score is a log record ``gen_ai.evaluation.result``, sent as OTLP JSON.

The record belongs to the judged span [1]_. A service that receives a record twice can recognise it
by the attribute ``spanjury.score_id``.

References
----------
.. [1] https://github.com/open-telemetry/semantic-conventions-genai, ``events.yaml``, 2026, status
   "development"
"""

from collections.abc import Mapping, Sequence
from urllib.parse import unquote

from spanjury.adapters.sinks.http_client import HttpSink, explanation_of, variable
from spanjury.judges.core import VERSION, TraceScore

_EVENT = "gen_ai.evaluation.result"
_INFO = 9
"""Severity number INFO, for a record that reports no failure."""
_SIZES = (32, 16)
"""Hexadecimal digits in the ids of a trace and of a span."""


class OtlpSink(HttpSink):
    """Sends scores to a collector, or to any service that accepts logs by OTLP/HTTP.

    Parameters
    ----------
    url
        Base address; logs are sent to ``URL/v1/logs``. Without it, OTEL_EXPORTER_OTLP_LOGS_ENDPOINT
        is the full address, or OTEL_EXPORTER_OTLP_ENDPOINT the base address.
    explanations
        Whether records include the explanation, which quotes the text.
    """

    def __init__(self, *, url: str = "", explanations: bool = True) -> None:
        logs = "" if url else variable("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT")
        start = url or variable("OTEL_EXPORTER_OTLP_ENDPOINT", default="http://localhost:4318")
        headers = variable("OTEL_EXPORTER_OTLP_LOGS_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS")
        self._path = "" if logs else "/v1/logs"
        super().__init__("otlp", url=logs or start, headers=_headers(headers))
        self._explanations = explanations

    async def send(self, scores: Sequence[TraceScore], /) -> None:
        """Send all scores as records in one request."""
        records = [self._record(score) for score in scores]
        scope = {"scope": {"name": "spanjury", "version": VERSION}, "logRecords": records}
        resource = {"attributes": _attributes({"service.name": "spanjury"})}
        body = {"resourceLogs": [{"resource": resource, "scopeLogs": [scope]}]}
        await self.request("POST", self._path, body)

    def _record(self, score: TraceScore) -> dict[str, object]:
        attributes: dict[str, object] = {
            "gen_ai.evaluation.name": score.aspect,
            "gen_ai.evaluation.score.value": score.score,
            "gen_ai.evaluation.score.label": score.label,
            "gen_ai.evaluation.explanation": explanation_of(score) if self._explanations else "",
            "error.type": "" if score.score is not None else score.outcome,
            "spanjury.score_id": score.score_id,
            "spanjury.outcome": score.outcome,
            "spanjury.decision": score.decision,
            "spanjury.error_probability": score.error_probability,
            "spanjury.signature": score.signature,
            "spanjury.task": score.task,
        }
        ids = {"traceId": score.trace_id, "spanId": score.span_id}
        is_traced = (*map(len, ids.values()),) == _SIZES
        if not is_traced:
            attributes["spanjury.trace"] = score.trace_id
        return {
            "timeUnixNano": str(score.judged),
            "observedTimeUnixNano": str(score.judged),
            "severityNumber": _INFO,
            "eventName": _EVENT,
            "attributes": _attributes(attributes),
            **(ids if is_traced else {}),
        }


def _attributes(values: Mapping[str, object]) -> list[dict[str, object]]:
    return [
        {
            "key": name,
            "value": {"doubleValue" if isinstance(value, float) else "stringValue": value},
        }
        for name, value in values.items()
        if value not in {"", None}
    ]


def _headers(text: str) -> dict[str, str]:
    """Parse ``name=value,name=value`` with percent-encoded values."""
    pairs = (pair.partition("=") for pair in text.split(",") if "=" in pair)
    return {name.strip(): unquote(value.strip()) for name, _, value in pairs}
