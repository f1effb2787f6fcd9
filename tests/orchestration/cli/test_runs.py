"""Runs that break off and go on: nothing is lost, and no request is sent twice."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from fakes.command import spanjury
from loopback.answers import TRICKLE, Answer, chat, failure
from loopback.server import LoopbackServer

ROWS = [
    {"id": str(number), "task": "summarization", "output": f"Text {number}."}
    for number in range(30)
]
GOOD = chat("No Error\n\nOverall score: Good")
CUT_OFF = 12


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.jsonl").write_text("\n".join(map(json.dumps, ROWS)))


def flags(server: LoopbackServer) -> list[str]:
    model = ["--model", "openai-compatible/judge", "--model-base-url", server.base_url]
    asked = [*model, "--attempts", "1", "--no-preflight"]  # so that every request is a row's
    return ["rows.jsonl", "--aspect", "fluency", *asked, "--run-dir", "run"]


def rows(path: str = "run/results.jsonl") -> list[dict[str, Any]]:
    """Return the result rows without the time that they took."""
    read = [json.loads(line) for line in Path(path).read_text().splitlines()]
    for row in read:
        for seat in row["seats"]:
            del seat["seconds"]
    return read


def break_off(answers: list[Answer], how: signal.Signals) -> tuple[int, str]:
    """Run against `answers`, the last of which hangs, and send a signal when it does."""
    with LoopbackServer(*answers) as server:
        process = subprocess.Popen(
            [sys.executable, "-m", "spanjury", "evaluate", *flags(server)],
            env={name: value for name, value in os.environ.items() if "SPANJURY" not in name},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        tick = threading.Event()
        while len(server.requests) < CUT_OFF + 8 and process.poll() is None:
            tick.wait(0.05)
        process.send_signal(how)
        if how == signal.SIGINT:  # the second drops what the first lets come to its end
            assert process.stderr is not None
            next(line for line in process.stderr if "10 s to finish" in line)
            process.send_signal(how)
        _, errors = process.communicate(timeout=60)
    return process.returncode, errors


@pytest.mark.heavy
@pytest.mark.parametrize(("how", "code"), [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 130)])
def test_a_broken_off_run_is_resumed(how: signal.Signals, code: int) -> None:
    ended, errors = break_off([GOOD] * CUT_OFF + [TRICKLE], how)
    assert ended == code, errors
    if how == signal.SIGINT:
        assert "continue with: spanjury resume run" in errors
    with LoopbackServer(GOOD) as server:
        # A model is the same wherever it is served.
        spanjury("resume", "run", "--model-base-url", server.base_url)
        assert len(server.requests) == len(ROWS) - CUT_OFF
    interrupted = rows()
    with LoopbackServer(GOOD) as server:
        undisturbed = [*flags(server)[:-1], "other"]
        spanjury("evaluate", *undisturbed)
    assert interrupted == rows("other/results.jsonl")


@pytest.mark.heavy
def test_a_run_that_is_done_asks_no_model_whatever_is_made_of_it() -> None:
    with LoopbackServer(GOOD) as server:
        spanjury("evaluate", *flags(server))
        asked = len(server.requests)
        spanjury("resume", "run", "--aggregate", "median", "-o", "other")
        assert len(server.requests) == asked
    assert {row["aggregation"] for row in rows("other")} == {"median"}
    assert {row["aggregation"] for row in rows()} == {"mean"}


def test_failures_are_tried_again_and_successes_are_not() -> None:
    prose = chat("I like it.")
    with LoopbackServer(*[GOOD] * 10, prose) as server:
        spanjury("evaluate", *flags(server), "--max-connections", "1")
    failed = sum(row["score"] is None for row in rows())
    assert failed == 20
    with LoopbackServer(GOOD) as server:
        spanjury("resume", "run", "--model-base-url", server.base_url)
        assert server.requests == ()  # what was answered, however badly, stays
        spanjury("resume", "run", "--retry-failed")
        assert len(server.requests) == failed
    assert all(row["score"] == 4 for row in rows())


def test_a_request_without_an_answer_is_sent_again() -> None:
    with LoopbackServer(*[GOOD] * 10, failure(500)) as server:
        spanjury("evaluate", *flags(server), "--max-outage", "0", code=1)
    assert [row["score"] for row in rows("run/results.jsonl.part")] == [4] * 10
    with LoopbackServer(GOOD) as server:
        spanjury("resume", "run", "--model-base-url", server.base_url)
        assert len(server.requests) == 20
    assert all(row["score"] == 4 for row in rows())


def test_a_folder_holds_one_run_and_runs_are_listed() -> None:
    offline = ["rows.jsonl", "--aspect", "fluency", "--run-dir", "run"]
    spanjury("evaluate", *offline)
    same = spanjury("evaluate", *offline, code=1).stderr
    assert "run already holds a run; name another folder" in same
    assert "continue that run with: spanjury resume run" in " ".join(same.split())
    other = spanjury("evaluate", *offline, "--limit", "1", "--seed", "7", code=1).stderr
    assert "with other settings (panel: seed, limit: null, now 1)" in " ".join(other.split())
    listed = spanjury("runs", ".").output
    assert "run" in listed
    assert "done" in listed


def test_the_manifest_says_what_the_run_was() -> None:
    spanjury("evaluate", "rows.jsonl", "--run-dir", "run", "--seed", "7")
    manifest = json.loads(Path("run/run.json").read_text())
    assert manifest["job"]["panel"]["seed"] == 7
    assert Path(manifest["job"]["data"]).is_absolute()
    assert "spanjury.judges.llm/annotate.txt" in manifest["prompts"]
    assert manifest["packages"]["litellm"]


def test_a_run_of_a_panel_file_without_options_can_be_resumed() -> None:
    Path("panel.toml").write_text('[[seats]]\njudge = "form"\n')
    spanjury("evaluate", "rows.jsonl", "--panel", "panel.toml", "--run-dir", "run")
    spanjury("resume", "run")


@pytest.mark.parametrize(
    ("manifest", "problem"),
    [
        (None, "there is no run run"),
        ("{", "cannot be read"),
        ("[]", "holds list"),
        ('{"format": 9}', "format 9, expected 1"),
        ('{"format": 1, "job": {"data": 3}}', "has no valid job"),
    ],
)
def test_a_missing_run_is_reported(manifest: str | None, problem: str) -> None:
    Path("run").mkdir()
    if manifest is not None:
        Path("run/run.json").write_text(manifest)
    assert problem in spanjury("resume", "run", code=1).stderr


def test_a_run_with_something_wrong_leaves_no_folder() -> None:
    spanjury("evaluate", "absent.jsonl", "--run-dir", "run", code=1)
    assert not Path("run").exists()


def test_a_damaged_memory_is_reported_and_not_overwritten() -> None:
    spanjury("evaluate", "rows.jsonl", "--run-dir", "run", code={0, 3})
    memory = Path("run/memory.sqlite3")
    memory.write_bytes(b"no database" * 1000)
    assert "memory.sqlite3" in spanjury("resume", "run", code=1).stderr
    assert memory.read_bytes() == b"no database" * 1000


def test_a_resume_judges_again_only_what_its_flags_change() -> None:
    with LoopbackServer(GOOD) as server:
        spanjury("evaluate", *flags(server))
        assert len(server.requests) == len(ROWS)
        shorter = ["--judge", "annotator:max_tokens=77"]
        spanjury("resume", "run", *shorter)
        assert len(server.requests) == 2 * len(ROWS)
        assert {request.body["max_tokens"] for request in server.requests[len(ROWS) :]} == {77}
        spanjury("resume", "run")  # it stays so
        assert len(server.requests) == 2 * len(ROWS)
        spanjury("resume", "run", "--judge", "absent", code=2)  # and leaves no trace
        both = ["--aspect", "fluency", "--aspect", "coherence"]
        spanjury("resume", "run", *both, "-o", "beside.jsonl")
        assert len(server.requests) == 3 * len(ROWS)
        spanjury("resume", "run")
        assert len(server.requests) == 3 * len(ROWS)
    assert {row["aspect"] for row in rows()} == {"fluency"}
    judges = [
        json.loads(path.read_text())["job"]["panel"]["seats"]
        for path in (Path("run/run-1.json"), Path("run/run.json"))
    ]
    assert [len(seats) for seats in judges] == [0, 1]
    assert not Path("run/run-2.json").exists()
