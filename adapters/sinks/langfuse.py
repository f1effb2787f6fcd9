"""Langfuse: each score is attached to its trace by ``POST /api/public/scores``.

Langfuse replaces a score that has the same id [1]_.

References
----------
.. [1] https://api.reference.langfuse.com, "Scores: create", 2026
"""

from base64 import b64encode
from collections.abc import Sequence

from spanjury.adapters.sinks.http_client import (
    HttpSink,
    details_of,
    explanation_of,
    required,
    variable,
)
from spanjury.judges.core import TraceScore

_CLOUD = "https://cloud.langfuse.com"


class LangfuseSink(HttpSink):
    """Sends scores to Langfuse, with LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY.

    A missing score is sent as its outcome, a category.

    Parameters
    ----------
    url
        Address of the server; by default LANGFUSE_BASE_URL or LANGFUSE_HOST, or Langfuse's cloud.
    environment
        Langfuse environment of the scores.
    """

    def __init__(self, *, url: str = "", environment: str = "") -> None:
        public = required("LANGFUSE_PUBLIC_KEY", sink="langfuse")
        secret = required("LANGFUSE_SECRET_KEY", sink="langfuse")
        key = b64encode(f"{public}:{secret}".encode()).decode()
        server = url or variable("LANGFUSE_BASE_URL", "LANGFUSE_HOST", default=_CLOUD)
        super().__init__("langfuse", url=server, headers={"Authorization": f"Basic {key}"})
        self._environment = environment

    async def send(self, scores: Sequence[TraceScore], /) -> None:
        """Send one request per score."""
        for score in scores:
            await self.request("POST", "/api/public/scores", self._body(score))

    def _body(self, score: TraceScore) -> dict[str, object]:
        is_scored = score.score is not None
        body = {
            "id": score.score_id,
            "traceId": score.trace_id,
            "observationId": score.span_id,
            "name": score.aspect,
            "value": score.score if is_scored else score.outcome,
            "dataType": "NUMERIC" if is_scored else "CATEGORICAL",
            "comment": explanation_of(score),
            "metadata": details_of(score),
            "environment": self._environment,
        }
        return {name: value for name, value in body.items() if value != ""}
