"""The flag `--score`: on a run, on what is made of it later, and where it is wrong."""

import json
from pathlib import Path

import pytest
from fakes.command import call, complaint
from loopback.answers import chat
from loopback.server import LoopbackServer

REPLY = chat(
    "Error 1:\nLocation: 'red'\nExplanation: It is blue.\nSeverity: 3\n\nOverall score: Good"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    row = {"id": "a", "task": "summarization", "output": "It is red."}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row))
    return tmp_path


def results(path: Path) -> list[tuple[float, str]]:
    read = map(json.loads, path.read_text().splitlines())
    return [(row["score"], row["aggregation"]) for row in read]


def test_a_stored_run_is_scored_from_its_spans_without_a_call(folder: Path) -> None:
    with LoopbackServer(REPLY) as server:
        model = ("--model", "openai-compatible/judge", "--model-base-url", server.base_url)
        judged = ("evaluate", "rows.jsonl", "--aspect", "fluency", *model, "--run-dir", "run")
        call(folder, *judged)
        asked = len(server.requests)
        for score, name in {"from-spans": "a", "from-spans:top=5": "b", "aggregate": "c"}.items():
            call(folder, "rescore", "run", "--score", score, "-o", f"{name}.jsonl")
        assert len(server.requests) == asked
    assert results(folder / "run" / "results.jsonl") == [(4, "mean")]
    assert results(folder / "a.jsonl") == [(2, "from-spans")]
    assert results(folder / "b.jsonl")[0][0] == pytest.approx(2.6)
    assert results(folder / "c.jsonl") == [(4, "mean")]


def test_a_run_from_spans_stays_one_when_it_is_resumed(folder: Path) -> None:
    row = {"id": "a", "task": "summarization", "output": "The the sky is is blue."}
    (folder / "rows.jsonl").write_text(json.dumps(row))
    offline = ("--judge", "form", "--aspect", "fluency", "--score", "from-spans")
    call(folder, "evaluate", "rows.jsonl", *offline, "--run-dir", "run")
    begun = results(folder / "run" / "results.jsonl")
    assert begun[0][1] == "from-spans"
    call(folder, "resume", "run", "-o", "again.jsonl")
    assert results(folder / "again.jsonl") == begun


def test_a_score_that_does_not_exist_is_a_usage_error(folder: Path) -> None:
    done = call(folder, "evaluate", "rows.jsonl", "--aspect", "fluency", "--score", "spans", code=2)
    assert "expected aggregate, from-spans" in complaint(done.stderr)
