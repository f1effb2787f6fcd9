"""The command, killed at any moment or on a full disk, and what `resume` makes of the rest."""

import os
import secrets
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from tempfile import mkdtemp

import pytest
from fakes.command import (
    RESUME,
    SPANJURY,
    call,
    complaint,
    environment,
    evaluate,
    judged_rows,
    start,
    without_seconds,
)
from fakes.processes import completed
from loopback.chaos import ChaosServer

ROUNDS = max(6, int(os.environ.get("SPANJURY_TORTURE_ROUNDS", "0")) // 10)
ROWS = 60
UNDER_WAY = 16
LIMIT = """
import resource, runpy, sys
limit = int(sys.argv.pop(1))
sys.dont_write_bytecode = True  # a module that is compiled now would be cut off, and then run so
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
runpy.run_module("spanjury", run_name="__main__", alter_sys=True)
"""
FILL_AND_FREE = """
mount -t tmpfs -o size="$1" tmpfs disk && shift && cd disk && cp ../rows.jsonl . || exit 77
"$@" 2> ../stderr
echo $? > ../code
mount -o remount,size=64m . || exit 77
if [ -f run/run.json ]; then set -- "$1" "$2" "$3" resume run; fi
"$@" && cp run/results.jsonl ..
"""


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


"""The command, with a size as its first argument that no file of it may exceed."""


"""Run a command on a small disk, make the disk larger, and go on."""


def limited(folder: Path, *arguments: str, limit: int) -> str:
    """Return what the command complains of when its files may not exceed `limit` bytes."""
    process = start(folder, *arguments, command=(sys.executable, "-c", LIMIT, str(limit)))
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 1, errors
    return complaint(errors)


@pytest.mark.parametrize(
    ("limit", "name"),
    [(500, "run"), (60_000, "run/memory.sqlite3"), (150_000, "run/memory.sqlite3")],
)
def test_a_file_that_may_not_grow_ends_the_run_until_it_may(
    tmp_path: Path, undisturbed: bytes, limit: int, name: str
) -> None:
    judged_rows(tmp_path, count=ROWS)
    with ChaosServer() as server:
        problem = limited(tmp_path, *evaluate(server.base_url), limit=limit)
        assert problem.startswith(f"{name}: cannot be ")
        assert finish(tmp_path, server) == undisturbed
        assert server.asked <= ROWS + UNDER_WAY


def test_unwritable_results_leave_what_was_there(tmp_path: Path, undisturbed: bytes) -> None:
    judged_rows(tmp_path, count=ROWS)
    results = tmp_path / "run" / "results.jsonl"
    with ChaosServer() as server:
        assert finish(tmp_path, server) == undisturbed
        before = results.read_bytes()
        problem = limited(tmp_path, *RESUME, limit=50_000)
        assert problem == "run/results.jsonl.part: cannot be written: File too large"
        assert results.read_bytes() == before
        part = (tmp_path / "run" / "results.jsonl.part").read_bytes()
        assert before.startswith(part[:20])
        assert part.endswith(b"\n")
        assert finish(tmp_path, server) == undisturbed
        assert server.asked == ROWS


def mounting() -> tuple[str, ...]:
    """Return a command before which a file system may be mounted, or skip."""
    for command in (("unshare", "-m"), ("unshare", "-rm")):
        if shutil.which("unshare") is not None:
            probe = [*command, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
            if subprocess.run(probe, capture_output=True, check=False).returncode == 0:
                return command
    pytest.skip("no file system can be mounted here")


@pytest.mark.parametrize("size", ["40k", "200k"])
def test_a_full_disk_ends_the_run_for_now(tmp_path: Path, undisturbed: bytes, size: str) -> None:
    judged_rows(tmp_path, count=ROWS)
    (tmp_path / "disk").mkdir()
    with ChaosServer() as server:
        on_small_disk = (*mounting(), "sh", "-c", FILL_AND_FREE, "sh", size)
        completed(
            [*on_small_disk, *SPANJURY, *evaluate(server.base_url)],
            cwd=tmp_path,
            env=environment(tmp_path),
        )
        assert (tmp_path / "code").read_text() == "1\n"
        assert complaint((tmp_path / "stderr").read_text()).startswith("run")
        assert without_seconds(tmp_path / "results.jsonl") == undisturbed
        assert server.asked <= ROWS + UNDER_WAY
