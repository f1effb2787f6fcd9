"""A run over a memory that has all its rows is a copy: byte for byte, and it asks nothing."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from fakes.command import spanjury
from fakes.memory import values_in
from loopback.answers import chat
from loopback.server import LoopbackServer

from spanjury.orchestration.services.judging import job as jobs
from spanjury.orchestration.services.judging.job import Job, plan
from spanjury.orchestration.wiring.config import PanelConfig

REPLY = chat("No Error\n\nOverall score: Good")
TEXTS = 12


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = ({"id": f"t{number}", "output": f"Text {number}."} for number in range(TEXTS))
    Path("rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return tmp_path


def begun(server: LoopbackServer) -> bytes:
    """Run for the first time, with a judge by rules and one that asks a model."""
    model = ["--model", "openai-compatible/judge", "--model-base-url", server.base_url]
    judges = ["--judge", "annotator", "--judge", "form", *model, "--no-preflight"]
    task = ["--task", "summarization", "--aspect", "fluency"]
    spanjury("evaluate", "rows.jsonl", *judges, *task, "--run-dir", "run")
    return Path("run/results.jsonl").read_bytes()


@pytest.mark.heavy
def test_a_second_run_writes_the_same_bytes_and_shows_the_same() -> None:
    with LoopbackServer(REPLY) as server:
        first = begun(server)
        asked = len(server.requests)
        shown = {
            choice: spanjury("resume", "run", "-o", f"{choice[:5]}.jsonl", "--show", choice).stdout
            for choice in ("none", "first:3", "all", "failures")
        }
        assert len(server.requests) == asked == TEXTS
    assert {Path(f"{choice[:5]}.jsonl").read_bytes() for choice in shown} == {first}
    assert [shown[choice].count("Text ") for choice in shown] == [0, 3, TEXTS, 0]
    assert "9 more texts" in shown["first:3"]
    assert shown["none"].replace("none.jsonl", "failu.jsonl") == shown["failures"]
    shown["none"] = shown["none"].replace("none.jsonl", "all.jsonl")
    assert shown["all"].endswith(shown["none"])


def test_json_prints_remembered_rows_as_they_were_printed_first() -> None:
    with LoopbackServer(REPLY) as server:
        first = begun(server)
    printed = spanjury("resume", "run", "--json").stdout
    assert [json.loads(line) for line in printed.splitlines()] == [
        json.loads(line) for line in first.splitlines()
    ]


def test_a_row_that_was_damaged_in_the_memory_is_made_again_of_what_was_said() -> None:
    with LoopbackServer(REPLY) as server:
        first = begun(server)
        asked = len(server.requests)
        values = values_in(Path("run/memory.sqlite3"))
        rows = [(key,) for key, value in values.items() if value.startswith(b'{"id": ')]
        assert len(rows) == TEXTS
        with closing(sqlite3.connect("run/memory.sqlite3")) as memory, memory:
            memory.executemany("UPDATE memory SET value = substr(value, 1, 40) WHERE key = ?", rows)
        spanjury("resume", "run")
        assert len(server.requests) == asked
    assert _without_times(Path("run/results.jsonl").read_bytes()) == _without_times(first)


def _without_times(rows: bytes) -> list[object]:
    read = [json.loads(line) for line in rows.splitlines()]
    for row in read:
        for seat in row["seats"]:
            del seat["seconds"]
    return read


def test_segments_are_held_while_few(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    job = Job(
        data=folder / "rows.jsonl",
        panel=PanelConfig(),
        output=folder / "out.jsonl",
        task="summarization",
        aspects=("fluency",),
    )
    held = plan(job)
    assert held.segments is not None
    assert len(held.segments) == held.assessments == TEXTS
    assert list(jobs.pairs(job, planned=held)) == list(jobs.pairs(job))
    monkeypatch.setattr(jobs, "_HELD", 50)
    assert plan(job).segments is None
    assert plan(job).assessments == TEXTS
