"""Behaviour that only a separate process shows: signals, pipes, a run against a real server."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from fakes.memory import values_in
from fakes.rows import summary
from loopback.answers import ECHO_KEY, HELD, TRICKLE, chat
from loopback.server import LoopbackServer

ROWS = [summary(str(number), f"y {number}.", article="x") for number in range(40)]
REPLY = "No Error\n\nOverall score: Good\nExplanation of the score: It is fine."
KEY = "sk-not-for-anybodys-eyes-0123456789"


def start(folder: Path, *args: str) -> "subprocess.Popen[str]":
    (folder / "rows.jsonl").write_text("\n".join(json.dumps(row) for row in ROWS))
    environment = {name: value for name, value in os.environ.items() if "SPANJURY" not in name}
    environment["SPANJURY_RUNS"] = str(folder / "home")
    return subprocess.Popen(
        [sys.executable, "-m", "spanjury", "evaluate", "rows.jsonl", "--aspect", "fluency", *args],
        cwd=folder,
        env={**environment, "OPENAI_API_KEY": KEY},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def model_at(url: str) -> list[str]:
    # Without a preflight every request is a row's.
    return ["--model", "openai-compatible/judge", "--model-base-url", url, "--no-preflight"]


def rows(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def interrupted(process: "subprocess.Popen[str]", server: LoopbackServer, *, asked: int) -> None:
    """Send Ctrl-C once the server was asked that often; return when the run says so."""
    tick = threading.Event()
    while len(server.requests) < asked and process.poll() is None:
        tick.wait(0.05)
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    notices = (line for line in process.stderr if "running assessments have 10 s to finish" in line)
    assert next(notices, ""), "it ended without a word"  # lines of progress may come before


def test_calls_under_way_are_awaited_after_ctrl_c_and_no_others_are_sent(tmp_path: Path) -> None:
    with LoopbackServer(*[chat(REPLY)] * 10, HELD) as server:
        process = start(tmp_path, *model_at(server.base_url))
        interrupted(process, server, asked=18)  # 10 answered, 8 that wait
        server.released.set()
        _, errors = process.communicate(timeout=60)
        asked = len(server.requests)
    assert process.returncode == 130, errors
    assert asked == 18
    assert "interrupted: 18 of 40 results are in results.jsonl.part" in errors
    assert [row["score"] for row in rows(tmp_path / "results.jsonl.part")] == [4] * 18


def test_a_second_ctrl_c_drops_what_is_under_way(tmp_path: Path) -> None:
    with LoopbackServer(*[chat(REPLY)] * 10, TRICKLE) as server:
        process = start(tmp_path, *model_at(server.base_url))
        # Eight are asked at once: ten of eighteen were answered, and their rows are done.
        interrupted(process, server, asked=18)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=9)  # long before what is under way has to end
    assert process.returncode == 130, errors
    kept = rows(tmp_path / "results.jsonl.part")
    assert f"interrupted: {len(kept)} of 40 results are in results.jsonl.part" in errors
    assert "Traceback" not in errors
    # Ten were answered; those that came last, one a connection at most, may not be results yet.
    assert 10 - 8 <= len(kept) <= 10
    assert {row["score"] for row in kept} == {4}
    assert not (tmp_path / "results.jsonl").exists()


def test_no_key_reaches_any_output(tmp_path: Path) -> None:
    with LoopbackServer(ECHO_KEY) as server:
        process = start(tmp_path, *model_at(server.base_url), "--limit", "1")
        output, errors = process.communicate(timeout=120)
        sent = server.requests[0].headers["authorization"]
    assert process.returncode == 1
    assert "401" in errors
    (part,) = tmp_path.glob("results.jsonl*")
    (memory,) = tmp_path.glob("home/*/memory.sqlite3")
    assert KEY in sent
    assert KEY not in output + errors + part.read_text()
    assert KEY.encode() not in b"".join(values_in(memory).values())


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_closing_the_output_ends_the_view_and_not_the_run(tmp_path: Path, flags: list[str]) -> None:
    process = start(tmp_path, "--judge", "form", *flags)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) == 141  # as when SIGPIPE ends a program
    assert "Traceback" not in errors
    assert "Exception ignored" not in errors
    assert len(rows(tmp_path / "results.jsonl")) == len(ROWS)


def without_seconds(path: Path) -> list[dict[str, object]]:
    made = rows(path)
    for row in made:
        for seat in row["seats"]:  # type: ignore[attr-defined]  # a list of objects
            del seat["seconds"]
    return made


def test_workers_write_the_rows_of_one_process(tmp_path: Path) -> None:
    alone = start(tmp_path, "--judge", "form", "--no-memory", "-o", "alone.jsonl")
    alone.communicate(timeout=60)
    shared = start(tmp_path, "--judge", "form", "--no-memory", "--workers", "2", "-o", "b.jsonl")
    shared.communicate(timeout=60)
    assert (alone.returncode, shared.returncode) == (0, 0)
    assert without_seconds(tmp_path / "b.jsonl") == without_seconds(tmp_path / "alone.jsonl")
