"""Sinks send scores as each service documents it, and sort its answers by whether to send again."""

import json
from collections.abc import Mapping, Sequence
from uuid import UUID

import pytest
from loopback.answers import Answer, Fault, failure
from loopback.server import LoopbackServer, Received, unreachable_url

from spanjury.adapters.sinks.opik import trace_uuid
from spanjury.judges.core import ConfigError, SinkError, SinkRefusedError, TraceScore
from spanjury.orchestration.wiring.traffic import Webhook, open_sink

pytestmark = pytest.mark.asyncio_only

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "00f067aa0ba902b7"
SCORE_ID = "6f1c8b0f-7d11-5f1d-bf0a-94c54f0e8a36"
SCORE = TraceScore(
    score_id=SCORE_ID,
    trace_id=TRACE,
    span_id=SPAN,
    aspect="faithfulness",
    task="question-answering",
    outcome="scored",
    score=1.4,
    low=1,
    high=5,
    label="Unacceptable",
    decision="faulty",
    error_probability=0.9,
    explanation="'1930', severity 4: The source says '1932'.",
    signature="panel|…",
    started=1_700_000_000_123_000_000,
    judged=1_700_000_001_000_000_000,
)
UNSCORED = TraceScore(
    score_id=SCORE_ID,
    trace_id=TRACE,
    span_id=SPAN,
    aspect="faithfulness",
    outcome="timed_out",
    low=1,
    high=5,
    explanation="no reply within 120 s",
)
NAMES = ("langfuse", "langsmith", "mlflow", "opik", "otlp", "phoenix")
ANSWERED = Answer(body="{}")


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "LANGFUSE_PUBLIC_KEY": "pk-lf-1",
        "LANGFUSE_SECRET_KEY": "sk-lf-2",
        "LANGSMITH_API_KEY": "ls-key",
        "PHOENIX_API_KEY": "px-key",
        "OPIK_API_KEY": "opik-key",
        "OPIK_WORKSPACE": "team",
        "MLFLOW_TRACKING_TOKEN": "ml-key",
        "OTEL_EXPORTER_OTLP_HEADERS": "api-key=a%20b",
    }.items():
        monkeypatch.setenv(name, value)


def address(server: LoopbackServer) -> str:
    return server.base_url.removesuffix("/v1")


async def sent(
    name: str, *scores: TraceScore, answers: Sequence[Answer] = (ANSWERED,)
) -> list[Received]:
    """Send scores to a service that answers so; return what came over the wire."""
    with LoopbackServer(*answers) as server:
        _, sink = open_sink(f"{name}:url={address(server)}")
        try:
            await sink.send(scores)
        finally:
            await sink.aclose()
            requests = list(server.requests)
    return requests


async def test_langfuse_gets_a_score_under_an_id_that_it_replaces() -> None:
    scored, unscored = await sent("langfuse", SCORE, UNSCORED)
    assert (scored.method, scored.path) == ("POST", "/api/public/scores")
    assert scored.headers["authorization"] == "Basic cGstbGYtMTpzay1sZi0y"
    assert {**scored.body, "metadata": None} == {
        "id": SCORE_ID,
        "traceId": TRACE,
        "observationId": SPAN,
        "name": "faithfulness",
        "value": 1.4,
        "dataType": "NUMERIC",
        "comment": SCORE.explanation,
        "metadata": None,
    }
    assert (unscored.body["value"], unscored.body["dataType"]) == ("timed_out", "CATEGORICAL")


async def test_phoenix_gets_annotations_of_spans_in_one_request() -> None:
    (request,) = await sent("phoenix", SCORE, UNSCORED)
    assert request.path == "/v1/span_annotations?sync=true"
    assert request.headers["authorization"] == "Bearer px-key"
    annotations = request.body["data"]
    assert isinstance(annotations, list)
    first, second = annotations
    assert (first["span_id"], first["name"], first["identifier"]) == (
        SPAN,
        "faithfulness",
        "spanjury",
    )
    assert first["result"]["score"] == 1.4
    assert second["result"] == {"label": "timed_out", "explanation": UNSCORED.explanation}
    with pytest.raises(SinkRefusedError, match="without a span"):
        await sent(
            "phoenix",
            TraceScore(score_id="1", trace_id="r", aspect="a", outcome="scored", low=1, high=5),
        )


async def test_mlflow_gets_feedback_on_its_own_name_of_the_trace() -> None:
    scored, unscored = await sent("mlflow", SCORE, UNSCORED)
    assert scored.path == f"/api/3.0/mlflow/traces/tr-{TRACE}/assessments"
    assert scored.headers["authorization"] == "Bearer ml-key"
    made = scored.body["assessment"]
    assert isinstance(made, Mapping)
    assert made["feedback"] == {"value": 1.4}
    assert made["source"] == {"source_type": "LLM_JUDGE", "source_id": "spanjury"}
    assert made["create_time"] == "2023-11-14T22:13:21Z"
    assert made["metadata"]["score_id"] == SCORE_ID
    failed = unscored.body["assessment"]
    assert isinstance(failed, Mapping)
    assert failed["feedback"]["error"]["error_code"] == "timed_out"


async def test_opik_gets_numbers_under_the_id_that_its_server_makes() -> None:
    (request,) = await sent("opik", SCORE, UNSCORED)
    assert (request.method, request.path) == ("PUT", "/v1/private/traces/feedback-scores")
    assert request.headers["comet-workspace"] == "team"
    scores = request.body["scores"]
    assert isinstance(scores, list)
    (item,) = scores
    assert (item["id"], item["value"], item["source"]) == (trace_uuid(SCORE), 1.4, "sdk")
    made = UUID(item["id"])
    assert made.version == 7
    assert made.int >> 80 == 1_700_000_000_123
    assert await sent("opik", UNSCORED) == []


def test_opik_knows_a_trace_by_the_id_that_the_program_gave_it() -> None:
    named = TraceScore(
        score_id="1",
        trace_id=TRACE,
        aspect="a",
        outcome="scored",
        low=1,
        high=5,
        names={"opik.trace_id": "0190a"},
    )
    assert trace_uuid(named) == "0190a"
    unknown = TraceScore(
        score_id="1", trace_id="row 7", aspect="a", outcome="scored", low=1, high=5
    )
    with pytest.raises(SinkRefusedError, match="is not the id of a trace"):
        trace_uuid(unknown)


async def test_langsmith_gets_feedback_once() -> None:
    there = failure(409, "exists")
    first, second = await sent("langsmith", SCORE, SCORE, answers=(ANSWERED, there))
    assert first == second
    assert first.path == "/feedback"
    assert first.headers["x-api-key"] == "ls-key"
    expected = {"id": SCORE_ID, "run_id": str(UUID(TRACE)), "key": "faithfulness", "score": 1.4}
    assert expected.items() <= first.body.items()


async def test_opentelemetry_gets_events_that_belong_to_the_judged_span() -> None:
    (request,) = await sent("otlp", SCORE, UNSCORED)
    assert request.path == "/v1/logs"
    assert request.headers["api-key"] == "a b"
    text = json.dumps(request.body)
    records = request.body["resourceLogs"][0]["scopeLogs"][0]["logRecords"]  # type: ignore[index]
    first, second = records
    assert (first["eventName"], first["traceId"], first["spanId"]) == (
        "gen_ai.evaluation.result",
        TRACE,
        SPAN,
    )
    values = {item["key"]: next(iter(item["value"].values())) for item in first["attributes"]}
    assert values["gen_ai.evaluation.name"] == "faithfulness"
    assert values["gen_ai.evaluation.score.value"] == 1.4
    assert values["spanjury.score_id"] == SCORE_ID
    assert {"key": "error.type", "value": {"stringValue": "timed_out"}} in second["attributes"]
    assert "null" not in text


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (failure(400, "bad"), SinkRefusedError),
        (failure(404, "no such trace"), SinkRefusedError),
        (failure(503), SinkError),
        (failure(401), SinkError),
        (failure(302), SinkError),
        (Answer(body="", fault=Fault.RESET), SinkError),
    ],
)
async def test_every_sink_says_whether_the_scores_or_the_service_is_at_fault(
    name: str, answer: Answer, expected: type[SinkError]
) -> None:
    with pytest.raises(SinkError) as caught:
        await sent(name, SCORE, answers=(answer,))
    assert type(caught.value) is expected
    assert "key" not in str(caught.value).partition(": ")[2]


async def test_a_service_says_how_long_to_wait() -> None:
    with pytest.raises(SinkError) as caught:
        await sent("otlp", SCORE, answers=(failure(429, retry_after="7"),))
    assert caught.value.retry_after == 7.0


async def test_a_service_that_is_not_there_is_no_refusal() -> None:
    _, sink = open_sink(f"mlflow:url={unreachable_url()}")
    with pytest.raises(SinkError) as caught:
        await sink.send([SCORE])
    assert not isinstance(caught.value, SinkRefusedError)
    await sink.aclose()


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("langfus", "there is no sink 'langfus'.*langfuse"),
        ("phoenix:adress=http://x", "no option 'adress'"),
        ("phoenix:url=localhost", "expected an address"),
        ("opik:url=http://me:secret@host", "holds a secret"),
    ],
)
def test_a_wrong_sink_is_an_error_at_once(spec: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        open_sink(spec)


def test_a_missing_key_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LANGFUSE_SECRET_KEY")
    with pytest.raises(ConfigError, match="LANGFUSE_SECRET_KEY"):
        open_sink("langfuse")


async def test_a_webhook_gets_each_alert_by_itself() -> None:
    with LoopbackServer(ANSWERED) as server:
        hook = Webhook(server.base_url)
        await hook.send([{"event": "alert"}, {"event": "alert", "aspect": "fluency"}])
        await hook.aclose()
        assert [request.body.get("aspect") for request in server.requests] == [None, "fluency"]
