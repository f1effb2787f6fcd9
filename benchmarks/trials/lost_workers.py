"""Runs that judge in several processes, killed repeatedly until they are finished.

After a random number of rows (fixed seed), the command or one of its workers is killed (kill -9).
After a worker's death the command continues by itself; after its own death it is resumed. Harm is a
row that is lost, duplicated, or different from an undisturbed run. Linux only, because it needs
``/proc``.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from benchmarks.trials.lost_results import environment, spanjury
from benchmarks.trials.trial import Harm, Trial
from numpy.random import Generator

__all__ = ["trials"]

ROWS = 400
KILLS = 60
APART = 120
"""Maximum number of rows between two kills."""
_SHARE = 0.5
"""Share of the kills that hit a worker, if there is one."""
_TICK = 0.01
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_SECONDS = re.compile(r'"seconds": ?[0-9.e-]+')
_PANEL = ("--judge", "grounding", "--judge", "form", "--workers", "2", "--no-progress")
_EVALUATE = ("evaluate", "rows.jsonl", "--aspect", "consistency", *_PANEL, "--show", "none")


@dataclass(slots=True)
class Kills:
    """Kills so far, and the runs and rows that were harmed."""

    of: Counter[str] = field(default_factory=Counter)
    failed: int = 0
    lost: int = 0
    doubled: int = 0
    other: int = 0
    runs: int = 0

    @property
    def count(self) -> int:
        """Kills of commands and of workers."""
        return self.of.total()


def row(number: int) -> dict[str, object]:
    """Return a text; every third one names another day than its source."""
    day, named = DAYS[number % 7], DAYS[(number + (number % 3 == 0)) % 7]
    lines = [f"Visitor {number + index} came on {day} at {index} o'clock." for index in range(30)]
    return {
        "id": str(number),
        "task": "summarization",
        "inputs": {"Article": f"Mill {number} burnt down on {day}. {' '.join(lines)}"},
        "output": f"Mill {number} burnt down on {named}.",
    }


def results(folder: Path, name: str) -> dict[str, str]:
    """Return the rows of a run by id, without seconds; raise `ValueError` for duplicates."""
    lines = (folder / name / "results.jsonl").read_text(encoding="utf-8").splitlines()
    rows = {str(json.loads(line)["id"]): _SECONDS.sub("", line) for line in lines}
    if len(rows) < len(lines):
        raise ValueError(f"{len(lines) - len(rows)} rows are there twice")
    return rows


def judged(run: Path) -> int:
    """Return the number of rows that a run has written so far."""
    part = run / "results.jsonl.part"
    return part.read_bytes().count(b"\n") if part.exists() else 0


def kill_one(
    command: "subprocess.Popen[bytes]", run: Path, *, chance: Generator, kills: Kills
) -> None:
    """Kill the command or a worker after some more rows, unless the command has ended."""
    enough = judged(run) + chance.integers(APART)
    while not run.exists() or judged(run) < enough:
        with suppress(subprocess.TimeoutExpired):
            command.wait(_TICK)
            return
    children = Path(f"/proc/{command.pid}/task/{command.pid}/children").read_text().split()
    if children and chance.random() < _SHARE:
        with suppress(ProcessLookupError):  # it has ended by itself
            os.kill(int(chance.choice(children)), signal.SIGKILL)
            kills.of["worker"] += 1
        return
    command.send_signal(signal.SIGKILL)
    command.wait()
    kills.of["command"] += 1


def disturbed(run: Path, *, chance: Generator, kills: Kills) -> None:
    """Start a run and continue it, killing it until it is finished or there were enough kills."""
    arguments: tuple[str, ...] = (*_EVALUATE, "--run-dir", run.name)
    while True:
        command = subprocess.Popen(  # noqa: S603  our own command
            [sys.executable, "-m", "spanjury", *arguments],
            cwd=run.parent,
            env=environment(run.parent),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while command.poll() is None and kills.count < KILLS:
            kill_one(command, run, chance=chance, kills=kills)
        code = command.wait()
        if code != -signal.SIGKILL:
            kills.failed += code != 0
            return
        if (run / "run.json").exists():
            arguments = ("resume", run.name, "--no-progress", "--show", "none")


def trials() -> list[Trial]:
    """Return the effects of the kills on the rows."""
    kills, chance = Kills(), np.random.default_rng(34)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        lines = (json.dumps(row(number)) for number in range(ROWS))
        (folder / "rows.jsonl").write_text("".join(f"{line}\n" for line in lines))
        whole = spanjury(folder, *_EVALUATE, "--run-dir", "whole")
        if whole.returncode:
            raise RuntimeError(whole.stderr)
        expected = results(folder, "whole")
        while kills.count < KILLS:
            name = f"run-{kills.runs}"
            kills.runs += 1
            disturbed(folder / name, chance=chance, kills=kills)
            try:
                made = results(folder, name)
            except ValueError:
                kills.doubled += 1
            else:
                kills.lost += len(expected.keys() - made.keys())
                kills.other += sum(made[key] != expected[key] for key in made)
    rows = ROWS * kills.runs
    note = f"{kills.of['command']} of commands, {kills.of['worker']} of workers, {kills.runs} runs"
    return [
        Trial(harm=Harm.LOST, name=name, tries=tries, harmed=harmed, note=note)
        for name, tries, harmed in (
            ("kill -9 with workers: a run that does not go on", kills.count, kills.failed),
            ("kill -9 with workers: a row lost", rows, kills.lost),
            ("kill -9 with workers: a row doubled", kills.runs, kills.doubled),
            ("kill -9 with workers: a row other than without a kill", rows, kills.other),
        )
    ]
