"""Opik: the scores of many traces in one ``PUT /v1/private/traces/feedback-scores``.

Opik replaces a score of the same trace and name. It has its own trace ids: the attribute
``opik.trace_id``, or a UUID of version 7, made of the trace's id and the start of its earliest
span in the first request that Opik received [1]_. The sink computes this UUID from all spans, so
its id is wrong if that request lacked the earliest span.

References
----------
.. [1] https://github.com/comet-ml/opik, ``OpenTelemetryMapper.java``, 2026
"""

import hashlib
from collections.abc import Sequence
from uuid import UUID

from spanjury.adapters.sinks.http_client import HttpSink, explanation_of, variable
from spanjury.judges.core import SinkRefusedError, TraceScore

_CLOUD = "https://www.comet.com/opik/api"
_MILLISECOND = 1_000_000
_NAMED = "opik.trace_id"
_TIME_BYTES, _HASH_BYTES = 6, 10
_DIGITS = 32


class OpikSink(HttpSink):
    """Sends scores to Opik, with OPIK_API_KEY and OPIK_WORKSPACE if they are set.

    Opik accepts only numbers, so missing scores are not sent.

    Parameters
    ----------
    url
        Address up to ``/v1/private``, often ``…/api``; by default OPIK_URL_OVERRIDE, or Opik's
        cloud.
    project
        Project of the traces; by default OPIK_PROJECT_NAME, or Opik's own default.
    """

    def __init__(self, *, url: str = "", project: str = "") -> None:
        key, workspace = variable("OPIK_API_KEY"), variable("OPIK_WORKSPACE")
        server = url or variable("OPIK_URL_OVERRIDE", default=_CLOUD)
        headers = {"Authorization": key, "Comet-Workspace": workspace}
        self._project = project or variable("OPIK_PROJECT_NAME", default="Default Project")
        super().__init__(
            "opik", url=server, headers={name: value for name, value in headers.items() if value}
        )

    async def send(self, scores: Sequence[TraceScore], /) -> None:
        """Send all scores in one request."""
        items = [self._item(score) for score in scores if score.score is not None]
        if items:
            await self.request("PUT", "/v1/private/traces/feedback-scores", {"scores": items})

    def _item(self, score: TraceScore) -> dict[str, object]:
        item: dict[str, object] = {
            "id": trace_uuid(score),
            "project_name": self._project,
            "name": score.aspect,
            "value": score.score,
            "source": "sdk",
        }
        reason = explanation_of(score)
        return {**item, "reason": reason} if reason else item


def trace_uuid(score: TraceScore) -> str:
    """Return Opik's id of the trace.

    Raises `SinkRefusedError` if the trace's id is in no form that Opik has.
    """
    if named := score.names.get(_NAMED):
        return named
    try:
        if len(score.trace_id) != _DIGITS:
            return str(UUID(score.trace_id))
        trace = bytes.fromhex(score.trace_id)
    except ValueError as error:
        raise SinkRefusedError(f"opik: {score.trace_id!r} is not the id of a trace") from error
    started = (score.started // _MILLISECOND).to_bytes(8, "big")[-_TIME_BYTES:]
    return str(UUID(bytes=_versioned(started + hashlib.sha256(trace).digest()[:_HASH_BYTES])))


def _versioned(data: bytes) -> bytes:
    """Set the version 7 and the variant of a UUID in the bytes."""
    parts = bytearray(data)
    parts[6] = parts[6] & 0x0F | 0x70
    parts[8] = parts[8] & 0x3F | 0x80
    return bytes(parts)
