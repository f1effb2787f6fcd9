"""MLflow: each score is feedback on its trace, by ``POST /api/3.0/mlflow/traces/ID/assessments``.

MLflow's id of an OpenTelemetry trace is ``tr-`` and the trace's id [1]_. Each request creates a new
assessment, so a score sent twice appears twice; the metadata ``score_id`` identifies duplicates.

References
----------
.. [1] https://github.com/mlflow/mlflow, ``mlflow/protos/service.proto`` and
   ``mlflow/tracing/utils``, version 3
"""

from base64 import b64encode
from collections.abc import Sequence
from datetime import UTC, datetime
from urllib.parse import quote

from spanjury.adapters.sinks.http_client import HttpSink, details_of, explanation_of, variable
from spanjury.judges.core import TraceScore

_LOCAL = "http://localhost:5000"


class MlflowSink(HttpSink):
    """Sends scores to MLflow 3, with MLFLOW_TRACKING_TOKEN, or user name and password, if set.

    Parameters
    ----------
    url
        Address of the tracking server; by default MLFLOW_TRACKING_URI, or this machine.
    """

    def __init__(self, *, url: str = "") -> None:
        server = url or variable("MLFLOW_TRACKING_URI", default=_LOCAL)
        super().__init__("mlflow", url=server, headers=_authorization())

    async def send(self, scores: Sequence[TraceScore], /) -> None:
        """Send one request per score."""
        for score in scores:
            trace = f"tr-{quote(score.trace_id.removeprefix('tr-'), safe='')}"
            path = f"/api/3.0/mlflow/traces/{trace}/assessments"
            await self.request("POST", path, {"assessment": _assessment(score, trace)})


def _authorization() -> dict[str, str]:
    if token := variable("MLFLOW_TRACKING_TOKEN"):
        return {"Authorization": f"Bearer {token}"}
    user, password = variable("MLFLOW_TRACKING_USERNAME"), variable("MLFLOW_TRACKING_PASSWORD")
    if not user:
        return {}
    return {"Authorization": f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}"}


def _assessment(score: TraceScore, trace: str) -> dict[str, object]:
    judged = datetime.fromtimestamp(score.judged / 1e9, tz=UTC).isoformat().replace("+00:00", "Z")
    error = {"error_code": score.outcome, "error_message": explanation_of(score)}
    body = {
        "assessment_name": score.aspect,
        "trace_id": trace,
        "span_id": score.span_id,
        "source": {"source_type": "LLM_JUDGE", "source_id": "spanjury"},
        "create_time": judged,
        "last_update_time": judged,
        "feedback": {"error": error} if score.score is None else {"value": score.score},
        "rationale": explanation_of(score),
        # MLflow's metadata values are strings.
        "metadata": {name: str(value) for name, value in details_of(score).items()},
    }
    return {name: value for name, value in body.items() if value != ""}
