"""A disk that fills up under a run: one clear line, nothing lost, and space lets it go on."""

import shutil
import subprocess
import sys
from pathlib import Path

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

ROWS = 60
UNDER_WAY = 16
"""At most so many rows are under way when a run ends, and have to be paid again."""

LIMIT = """
import resource, runpy, sys
limit = int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
runpy.run_module("spanjury", run_name="__main__", alter_sys=True)
"""
"""The command, with a size as its first argument that no file of it may exceed."""

FILL_AND_FREE = """
mount -t tmpfs -o size="$1" tmpfs disk && shift && cd disk && cp ../rows.jsonl . || exit 77
"$@" 2> ../stderr
echo $? > ../code
mount -o remount,size=64m . || exit 77
if [ -f run/run.json ]; then set -- "$1" "$2" "$3" resume run; fi
"$@" && cp run/results.jsonl ..
"""
"""Run a command on a small disk, make the disk larger, and go on."""


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("undisturbed")
    judged_rows(folder, count=ROWS)
    with ChaosServer() as server:
        return finish(folder, server)


def finish(folder: Path, server: ChaosServer) -> bytes:
    """Begin the run in `folder`, or resume it; return its results without their seconds."""
    begun = (folder / "run" / "run.json").exists()
    call(folder, *(RESUME if begun else evaluate(server.base_url)))
    return without_seconds(folder / "run" / "results.jsonl")


def limited(folder: Path, *arguments: str, limit: int) -> str:
    """Return what the command complains of when its files may not exceed `limit` bytes."""
    process = start(folder, *arguments, command=(sys.executable, "-c", LIMIT, str(limit)))
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 1, errors
    return complaint(errors)


@pytest.mark.parametrize(
    ("limit", "name"),
    [(500, "run"), (40_000, "run/memory.sqlite3"), (150_000, "run/memory.sqlite3")],
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
