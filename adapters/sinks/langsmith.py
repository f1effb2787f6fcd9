"""LangSmith: each score is feedback on the run of its trace, by ``POST /feedback``.

LangSmith refuses feedback with an id that it already has (HTTP 409), which counts as success. The
id of a run is the attribute ``langsmith.trace.id``, or else the trace's id as a UUID, as in
LangSmith's own exporter of spans [1]_. LangSmith does not document the run ids of other spans.

References
----------
.. [1] https://github.com/langchain-ai/langsmith-sdk, ``_internal/otel``, and
   https://api.smith.langchain.com/docs, "feedback", 2026
"""

from collections.abc import Sequence
from uuid import UUID

from spanjury.adapters.sinks.http_client import (
    HttpSink,
    details_of,
    explanation_of,
    required,
    variable,
)
from spanjury.judges.core import SinkRefusedError, TraceScore

_CLOUD = "https://api.smith.langchain.com"
_ALREADY_STORED = 409
_RUN_ID = "langsmith.trace.id"


class LangsmithSink(HttpSink):
    """Sends scores to LangSmith, with LANGSMITH_API_KEY.

    Parameters
    ----------
    url
        Address of the server; by default LANGSMITH_ENDPOINT, or LangSmith's cloud.
    """

    def __init__(self, *, url: str = "") -> None:
        key = required("LANGSMITH_API_KEY", "LANGCHAIN_API_KEY", sink="langsmith")
        server = url or variable("LANGSMITH_ENDPOINT", "LANGCHAIN_ENDPOINT", default=_CLOUD)
        super().__init__("langsmith", url=server, headers={"x-api-key": key})

    async def send(self, scores: Sequence[TraceScore], /) -> None:
        """Send one request per score."""
        for score in scores:
            await self.request("POST", "/feedback", _feedback(score), done={_ALREADY_STORED})


def _feedback(score: TraceScore) -> dict[str, object]:
    try:
        run = str(UUID(score.names.get(_RUN_ID) or score.trace_id))
    except ValueError as error:
        raise SinkRefusedError(
            f"langsmith: {score.trace_id!r} is not the id of a run, which is a UUID"
        ) from error
    body = {
        "id": score.score_id,
        "run_id": run,
        "trace_id": run,
        "key": score.aspect,
        "score": score.score,
        "value": score.label or score.outcome,
        "comment": explanation_of(score),
        "feedback_source": {"type": "model", "metadata": details_of(score)},
    }
    return {name: value for name, value in body.items() if value not in ("", None)}
