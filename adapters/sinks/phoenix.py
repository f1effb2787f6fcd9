"""Phoenix: each score is an annotation of the judged span, by ``POST /v1/span_annotations``.

Phoenix replaces an annotation of the same span, name and identifier [1]_.

References
----------
.. [1] https://arize.com/docs/phoenix, REST API, "Create span annotations", 2026
"""

from collections.abc import Sequence

from spanjury.adapters.sinks.http_client import HttpSink, details_of, explanation_of, variable
from spanjury.judges.core import SinkRefusedError, TraceScore

_LOCAL = "http://localhost:6006"


class PhoenixSink(HttpSink):
    """Sends scores to Phoenix, with PHOENIX_API_KEY if it is set.

    Phoenix annotates only spans, so a score without a span is refused.

    Parameters
    ----------
    url
        Address of the server; by default PHOENIX_COLLECTOR_ENDPOINT, or this machine.
    """

    def __init__(self, *, url: str = "") -> None:
        key = variable("PHOENIX_API_KEY")
        server = url or variable("PHOENIX_COLLECTOR_ENDPOINT", "PHOENIX_HOST", default=_LOCAL)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        super().__init__("phoenix", url=server, headers=headers)

    async def send(self, scores: Sequence[TraceScore], /) -> None:
        """Send all scores in one request, which returns once Phoenix has stored them.

        Raises `SinkRefusedError` if a score has no span, and the errors of `request`.
        """
        if any(not score.span_id for score in scores):
            raise SinkRefusedError("phoenix: a score without a span cannot be stored")
        body = {"data": list(map(_annotation, scores))}
        await self.request("POST", "/v1/span_annotations?sync=true", body)


def _annotation(score: TraceScore) -> dict[str, object]:
    result = {
        "label": score.label or score.outcome,
        "score": score.score,
        "explanation": explanation_of(score),
    }
    return {
        "span_id": score.span_id,
        "name": score.aspect,
        "annotator_kind": "LLM",
        "identifier": "spanjury",
        "result": {name: value for name, value in result.items() if value not in {"", None}},
        "metadata": details_of(score),
    }
