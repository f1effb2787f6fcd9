"""Runs that are killed at any moment, and what a resume finds."""

import hashlib
import os
from collections.abc import Iterable
from multiprocessing import get_context
from pathlib import Path

import pytest
from fakes.remembering_run import SEATS, SEGMENTS, run

from spanjury.adapters.runs.sqlite_memory import SqliteMemory

ROUNDS = int(os.environ.get("SPANJURY_TORTURE_ROUNDS", "10"))
PUTS = SEATS * SEGMENTS
PROCESSES = get_context("forkserver")  # imports once, not once a round
PROCESSES.set_forkserver_preload(
    ["pytest", "anyio.to_thread", "spanjury.orchestration.wiring.panels", "spanjury.adapters.runs"]
)


def _run(path: Path, *, kill_after: int | None = None) -> list[str]:
    """Return the whole lines that a run printed, killed after `kill_after` of them."""
    reader, writer = PROCESSES.Pipe(duplex=False)
    process = PROCESSES.Process(target=run, args=(path, writer))
    process.start()
    writer.close()
    lines_of_run: list[str] = []
    with reader, open(reader.fileno(), closefd=False, encoding="utf-8") as lines:
        for line in lines:  # what it printed before it died is read, too
            lines_of_run.append(line)
            if len(lines_of_run) == kill_after:
                process.kill()
    process.join()
    assert process.exitcode in {0, -9}
    return [line.rstrip("\n") for line in lines_of_run if line.endswith("\n")]


def _after(word: str, lines: Iterable[str]) -> list[str]:
    return [line.removeprefix(f"{word} ") for line in lines if line.startswith(f"{word} ")]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    lines_of_run = _run(tmp_path_factory.mktemp("undisturbed") / "memory.db")
    assert len(_after("asked", lines_of_run)) == len(_after("kept", lines_of_run)) == PUTS
    return _after("row", lines_of_run)


def test_values_survive_kill_9_and_a_resume(tmp_path: Path, undisturbed: list[str]) -> None:
    rounds = 0
    while rounds < ROUNDS:
        path = tmp_path / f"{rounds}.db"
        kept: dict[str, str] = {}
        asked: list[str] = []
        rows: list[str] = []
        runs = 0
        while len(rows) < SEGMENTS:  # it may be killed while it tells them, too
            last = rounds >= ROUNDS or runs == 10
            moment = int.from_bytes(os.urandom(2), "big") % (PUTS // 3)
            lines_of_run = _run(path, kill_after=None if last else 1 + moment)
            kept |= dict(line.split() for line in _after("kept", lines_of_run))
            asked += _after("asked", lines_of_run)
            rows = _after("row", lines_of_run)
            runs += 1
            rounds += not last
            _assert_there(path, kept)
        assert rows == undisturbed
        under_way = 8 * SEATS  # the workers of `evaluate`, each with all seats
        assert PUTS <= len(asked) <= PUTS + runs * under_way
        assert len(kept) <= PUTS


def _assert_there(path: Path, kept: dict[str, str]) -> None:
    with SqliteMemory(path) as memory:
        for key, digest in kept.items():
            value = memory.get(key)
            assert value is not None, key
            assert hashlib.sha256(value).hexdigest() == digest
