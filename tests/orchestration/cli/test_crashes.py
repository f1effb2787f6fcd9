"""The real command, killed at any moment, and what `resume` makes of what it left."""

import os
import secrets
import subprocess
import threading
from pathlib import Path
from tempfile import mkdtemp

import pytest
from fakes.command import RESUME, call, evaluate, judged_rows, start, without_seconds
from loopback.chaos import ChaosServer

ROUNDS = max(6, int(os.environ.get("SPANJURY_TORTURE_ROUNDS", "0")) // 10)
ROWS = 60
UNDER_WAY = 16
"""At most so many rows are under way, and paid again, when a run is killed."""


def arguments(folder: Path, server: ChaosServer) -> tuple[str, ...]:
    """Return how to begin the run in `folder`, or how to go on with it once it has begun."""
    if (folder / "run" / "run.json").exists():
        return RESUME
    return evaluate(server.base_url)


def finish(folder: Path, server: ChaosServer) -> bytes:
    """Run to the end and return the results, without their seconds."""
    call(folder, *arguments(folder, server))
    assert not (folder / "run" / "results.jsonl.part").exists()
    return without_seconds(folder / "run" / "results.jsonl")


def kill_after(
    process: "subprocess.Popen[str]", server: ChaosServer, *, requests: int, seconds: float
) -> bool:
    """Kill a run once it has made some requests and some seconds are over; say if it lived."""
    tick = threading.Event()
    due = server.asked + requests
    while server.asked < due and process.poll() is None:
        tick.wait(0.01)
    tick.wait(seconds)
    process.kill()
    process.communicate()
    return process.returncode < 0


def kill_at_random(process: "subprocess.Popen[str]", server: ChaosServer) -> bool:
    """Kill a run while it starts, judges or ends; say if it lived until then."""
    requests = secrets.randbelow(ROWS // 2)
    longest = 0.05 if requests else 1.5
    seconds = longest * secrets.randbelow(1000) / 1000
    return kill_after(process, server, requests=requests, seconds=seconds)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("undisturbed")
    judged_rows(folder, count=ROWS)
    with ChaosServer() as server:
        return finish(folder, server)


def test_a_run_killed_at_any_moment_ends_the_same(tmp_path: Path, undisturbed: bytes) -> None:
    killed = 0
    while killed < ROUNDS:
        folder = Path(mkdtemp(dir=tmp_path))
        judged_rows(folder, count=ROWS)
        with ChaosServer(seconds=0.02) as server:
            kills = 0
            while killed + kills < ROUNDS and kill_at_random(
                start(folder, *arguments(folder, server)), server
            ):
                kills += 1
            assert finish(folder, server) == undisturbed
            assert ROWS <= server.asked <= ROWS + kills * UNDER_WAY
        killed += kills


def test_torn_ends_of_log_and_results_cost_nothing_else(tmp_path: Path, undisturbed: bytes) -> None:
    judged_rows(tmp_path, count=ROWS)
    with ChaosServer(seconds=0.1) as server:
        process = start(tmp_path, *arguments(tmp_path, server))
        assert kill_after(process, server, requests=ROWS // 2, seconds=0.0)
        asked = server.asked
        part = tmp_path / "run" / "results.jsonl.part"
        part.write_bytes(part.read_bytes()[:-99])  # in the middle of a row, as rows are longer
        log = tmp_path / "run" / "memory.sqlite3-wal"
        torn = log.read_bytes()[:-3000]
        log.write_bytes(torn[:-1000] + b"\xa5" * 1000)
        assert finish(tmp_path, server) == undisturbed
        assert server.asked < asked + ROWS  # what came before the torn ends was kept
