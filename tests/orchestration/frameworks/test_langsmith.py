"""The evaluator of LangSmith gives feedback on runs; without a verdict it has no score."""

import json
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import anyio
import pytest
from fakes.installed import is_absent

if is_absent("langsmith"):
    pytest.skip("langchain-core is not installed: just frameworks", allow_module_level=True)

from langsmith import Client, aevaluate, evaluate
from langsmith.evaluation import EvaluationResult
from langsmith.schemas import Example, Run

from spanjury.frameworks import SpanjuryRunEvaluator
from spanjury.judges.core import ConfigError

COPIED = pytest.approx(4.36, abs=0.01)
"""Score of a sentence beside itself, by the rules alone."""

SOURCE = "The bridge opened in 1932."
WRONG = "The bridge opened in 1935."


def example(**inputs: object) -> Example:
    return Example(id=uuid.uuid4(), inputs=inputs, dataset_id=uuid.uuid4())


def run(**outputs: object) -> Run:
    return Run(
        id=uuid.uuid4(),
        name="summarize",
        start_time=datetime.now(UTC),
        run_type="chain",
        inputs={"Article": SOURCE},
        outputs=outputs,
        trace_id=uuid.uuid4(),
    )


def feedback(
    evaluator: SpanjuryRunEvaluator, judged: Run, given: Example | None = None
) -> list[EvaluationResult]:
    return evaluator.evaluate_run(judged, given)["results"]


class Accept(BaseHTTPRequestHandler):
    """Takes whatever the client of LangSmith sends."""

    def do_GET(self) -> None:
        self.answer()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.answer()

    do_PATCH = do_POST  # noqa: N815  http.server calls it by this name

    def answer(self) -> None:
        body = json.dumps({"version": "0", "batch_ingest_config": {}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture
def client() -> Iterator[Client]:
    """Return a client of a server on this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Accept) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        client = Client(api_url=f"http://127.0.0.1:{server.server_port}", api_key="none")
        yield client
        client.cleanup()
        server.shutdown()


def test_an_error_is_feedback_with_its_spans() -> None:
    evaluator = SpanjuryRunEvaluator("consistency", judges=["grounding"])
    (said,) = feedback(evaluator, run(summary=WRONG), example(Article=SOURCE))
    assert (said.key, said.value) == ("consistency", "faulty")
    assert isinstance(said.score, float)
    assert '"1935" (severity 4)' in str(said.comment)


def test_a_run_without_an_example_is_judged_by_its_own_inputs() -> None:
    evaluator = SpanjuryRunEvaluator("consistency", judges=["grounding"])
    (said,) = feedback(evaluator, run(summary=SOURCE))
    assert (said.score, said.value) == (COPIED, "ok")


def test_without_a_verdict_the_feedback_has_no_score() -> None:
    evaluator = SpanjuryRunEvaluator(["consistency", "fluency"], judges=["grounding"])
    _, said = feedback(evaluator, run(summary=SOURCE), example(Article=SOURCE))
    assert (said.key, said.score, said.value) == ("fluency", None, "abstained")
    assert "no score (abstained)" in str(said.comment)


def test_an_ambiguous_output_must_be_named() -> None:
    both = run(summary=WRONG, draft=SOURCE)
    with pytest.raises(ConfigError, match="summary, draft"):
        SpanjuryRunEvaluator("consistency", judges=["grounding"]).evaluate_run(both)
    evaluator = SpanjuryRunEvaluator("consistency", output="draft", judges=["grounding"])
    assert feedback(evaluator, both)[0].score == COPIED


def test_langsmith_evaluates_with_it_in_threads_and_in_tasks(client: Client) -> None:
    evaluator = SpanjuryRunEvaluator("consistency", judges=["grounding"])
    data = [example(Article=SOURCE)]

    def write(inputs: dict[str, object]) -> dict[str, object]:
        assert inputs == {"Article": SOURCE}
        return {"summary": WRONG}

    async def awrite(inputs: dict[str, object]) -> dict[str, object]:
        return write(inputs)

    async def in_tasks() -> list[object]:
        rows = await aevaluate(
            awrite, data=data, evaluators=[evaluator], upload_results=False, client=client
        )
        return [row async for row in rows]

    rows = list(
        evaluate(write, data=data, evaluators=[evaluator], upload_results=False, client=client)
    ) + anyio.run(in_tasks)
    assert [row["evaluation_results"]["results"][0].value for row in rows] == ["faulty", "faulty"]
