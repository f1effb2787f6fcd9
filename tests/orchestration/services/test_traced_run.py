"""A run in a program that has set OpenTelemetry up, from the command line to what is exported."""

import json
import sys
from pathlib import Path

import pytest
from fakes.processes import completed
from loopback.answers import chat
from loopback.server import LoopbackServer

REPLY = "No Error\n\nOverall score: Good\nExplanation of the score: A secret."
ROW = {"id": "7", "task": "summarization", "inputs": {"Article": "x"}, "output": "A secret."}
PROGRAM = """
import sys
from opentelemetry._logs import set_logger_provider
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import set_tracer_provider
from typer.testing import CliRunner
from spanjury.orchestration.cli.app import app

spans, logs = InMemorySpanExporter(), InMemoryLogRecordExporter()
tracers, loggers = TracerProvider(), LoggerProvider()
tracers.add_span_processor(SimpleSpanProcessor(spans))
loggers.add_log_record_processor(SimpleLogRecordProcessor(logs))
set_tracer_provider(tracers)
set_logger_provider(loggers)
done = CliRunner().invoke(app, sys.argv[1:])
assert done.exit_code == 0, done.output
print([span.name for span in spans.get_finished_spans()])
print([event.log_record.event_name for event in logs.get_finished_logs()])
records = [*spans.get_finished_spans(), *logs.get_finished_logs()]
print(any("A secret" in each.to_json() for each in records))
"""


@pytest.mark.heavy
def test_a_run_is_traced_and_what_is_remembered_is_not_a_call(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(json.dumps(ROW))
    with LoopbackServer(chat(REPLY)) as server:
        model = ["--model", "openai-compatible/loop", "--model-base-url", server.base_url]
        evaluate = ["evaluate", "rows.jsonl", "--aspect", "fluency", "--run-dir", "run", *model]
        first = _printed(tmp_path, evaluate)
    assert first == [
        "['chat loop', 'judge annotator:openai-compatible/loop', 'assess fluency']",
        "['gen_ai.evaluation.result']",
        "False",
    ]
    assert _printed(tmp_path, ["resume", "run"]) == [
        "['judge annotator:openai-compatible/loop', 'assess fluency']",
        "['gen_ai.evaluation.result']",
        "False",
    ]


def _printed(folder: Path, flags: list[str]) -> list[str]:
    command = [sys.executable, "-c", PROGRAM, *flags]
    done = completed(command, cwd=folder)
    return done.stdout.splitlines()
