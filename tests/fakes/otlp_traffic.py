"""Traces of a program that answers a question, as requests of OTLP."""

import json
from hashlib import md5


def trace_id(number: int) -> str:
    """Return the id of a trace."""
    return md5(f"trace {number}".encode(), usedforsecurity=False).hexdigest()


def exported(number: int, answer: str, *, failed: bool = False, context: str = "") -> bytes:
    """Return a request with a trace of two spans, the answer of a model and the root."""
    texts = {"input": "When did the bridge open?", "output": answer}
    messages = {
        f"gen_ai.{side}.messages": json.dumps(
            [{"role": role, "parts": [{"type": "text", "content": texts[side]}]}]
        )
        for side, role in (("input", "user"), ("output", "assistant"))
    }
    about = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", **messages}
    about["gen_ai.retrieval.documents"] = json.dumps([{"content": context or SOURCE}])
    chat = {
        **_span(number, 2),
        "parentSpanId": f"{1:016x}",
        "attributes": [
            {"key": name, "value": {"stringValue": value}} for name, value in about.items()
        ],
    }
    root = {**_span(number, 1), "status": {"code": 2 if failed else 0}}
    scoped = {"scope": {"name": "app"}, "spans": [chat, root]}
    return json.dumps({"resourceSpans": [{"scopeSpans": [scoped]}]}).encode()


SOURCE = "The bridge opened in 1932. It is 503 metres long and carries eight lanes of traffic."
RIGHT, WRONG = "The bridge opened in 1932.", "The bridge opened in 1930."


def _span(number: int, part: int) -> dict[str, object]:
    start = 1_700_000_000_000_000_000 + number * 1_000_000
    return {
        "traceId": trace_id(number),
        "spanId": f"{part:016x}",
        "name": "part",
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + 1_000_000 * (3 - part)),
    }
