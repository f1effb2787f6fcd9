"""Runs whose files are damaged: what the program says to do leads on."""

import re
import shlex
from pathlib import Path

import pytest
from fakes.command import RESUME, call, complaint, evaluate, judged_rows, start, without_seconds
from loopback.chaos import ChaosServer

ROWS = 40
PAGE = 4096
ADVICE = re.compile(r"spanjury (runs repair \S+)")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    judged_rows(tmp_path, count=ROWS)
    return tmp_path


def torn(memory: Path, *pages: int) -> None:
    """Write zeros over pages of a memory, counted from 1."""
    data = bytearray(memory.read_bytes())
    for page in pages:
        data[(page - 1) * PAGE : page * PAGE] = bytes(PAGE)
    memory.write_bytes(data)


@pytest.mark.parametrize(
    ("pages", "lost"),
    [((1,), 0), ((2,), 0), ((7, 8), 10)],  # replies at most: a page of data holds up to five
)
def test_the_advice_on_a_torn_memory_saves_the_rest(
    folder: Path, pages: tuple[int, ...], lost: int
) -> None:
    memory, results = folder / "run" / "memory.sqlite3", folder / "run" / "results.jsonl"
    with ChaosServer() as server:
        call(folder, *evaluate(server.base_url))
        undisturbed = without_seconds(results)
        torn(memory, *pages)
        damaged = memory.read_bytes()
        refused = call(folder, *RESUME, code=1)
        advice = ADVICE.search(complaint(refused.stderr))
        assert advice, refused.stderr
        assert memory.read_bytes() == damaged
        repaired = call(folder, *shlex.split(advice[1]))
        assert re.search(
            r"memory.sqlite3: \d+ values are saved, \d+ are known to be lost", repaired.stderr
        )
        assert "continue with: spanjury resume run" in repaired.stderr
        assert (folder / "run" / "memory.sqlite3.damaged-1").read_bytes() == damaged
        call(folder, *RESUME)
        assert server.asked <= ROWS + lost
    assert without_seconds(results) == undisturbed


@pytest.mark.heavy
def test_a_repair_waits_for_the_run_to_end(folder: Path) -> None:
    with ChaosServer() as server:
        server.may_answer.clear()
        first = start(folder, *evaluate(server.base_url))
        while not server.probes and first.poll() is None:
            server.may_answer.wait(0.01)
        refused = call(folder, "runs", "repair", "run", code=1)
        server.may_answer.set()
        _, errors = first.communicate(timeout=120)
    assert first.returncode == 0, errors
    assert f"in use by process {first.pid}" in complaint(refused.stderr)
    assert "nothing is damaged" in call(folder, "runs", "repair", "run").stderr


@pytest.mark.parametrize("torn_text", ['{"format": 1, "job": {"da', "[]"])
def test_a_damaged_manifest_costs_no_call_and_hides_no_run(folder: Path, torn_text: str) -> None:
    run = folder / "run"
    with ChaosServer() as server:
        flags = evaluate(server.base_url)
        call(folder, *flags)
        undisturbed = without_seconds(run / "results.jsonl")
        (run / "run.json").write_text(torn_text)
        assert "begin the run again" in complaint(call(folder, *RESUME, code=1).stderr)
        assert "damaged" in call(folder, "runs", ".").output
        call(folder, *flags)
        assert server.asked == ROWS
    assert without_seconds(run / "results.jsonl") == undisturbed
    assert (run / "run.json.damaged").read_text() == torn_text
