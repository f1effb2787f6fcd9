"""People's marks in a damaged file, as handled by the real commands.

The marks file is damaged as disks, crashes and mistakes do it, 40 times with a fixed seed, half of
them without a backup; then the marks are exported by following the program's own advice. A missing
mark is harm if the backup has it, or if no command names it and exits with 1.
"""

import json
import re
import shlex
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmarks.trials.command import run
from benchmarks.trials.lost_results import cut, flip, spoil, zero
from benchmarks.trials.trial import Harm, Trial

__all__ = ["trials"]

_ROWS = 60
_DAMAGES = 40
_ADVICE = re.compile(r"spanjury (runs repair \S+)")
_EXPORT = ("marks", "export", "run", "-o", "out.jsonl")


@dataclass(slots=True)
class Counts:
    """Counts of the damaged files that led to harm."""

    lost: int = 0
    unnamed: int = 0
    dead_ends: int = 0
    repaired: int = 0


def trials() -> list[Trial]:
    """Damage the marks of a run, and count the losses."""
    counts = Counts()
    with tempfile.TemporaryDirectory() as path:
        base = _begun(Path(path) / "base")
        for turn in range(_DAMAGES):
            _damaged(base, turn, counts)
    note = f"{counts.repaired} needed `runs repair`"
    names = {
        "damaged marks: one that the backup holds is missing": (counts.lost, _DAMAGES // 2),
        "damaged marks: one is missing, and no command names it": (counts.unnamed, _DAMAGES),
        "damaged marks: a trace, or advice that does not lead on": (counts.dead_ends, _DAMAGES),
    }
    return [
        Trial(harm=Harm.LOST, name=name, tries=tries, harmed=harmed, note=note)
        for name, (harmed, tries) in names.items()
    ]


def _begun(folder: Path) -> Path:
    """Judge texts offline, and import a mark for each."""
    folder.mkdir()
    rows = (
        {
            "id": f"text-{number}",
            "task": "summarization",
            "output": f"Text {number} ends here.",
            "human": {"fluency": 4},
            "meta": {"annotators": ["anna"]},
        }
        for number in range(_ROWS)
    )
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    judge = ("--judge", "form", "--aspect", "fluency", "--run-dir", "run", "--no-progress")
    for command in (
        ("evaluate", "rows.jsonl", *judge),
        ("marks", "import", "run", "rows.jsonl", "--annotator", "anna"),
        _EXPORT,
    ):
        done = run(folder, *command)
        if done.returncode:
            raise RuntimeError(done.stderr)
    if len(_exported(folder)) != _ROWS:
        raise RuntimeError("the marks are not what was taken in")
    return folder


def _exported(folder: Path) -> set[str]:
    path = folder / "out.jsonl"
    if not path.exists():
        return set()
    return {json.loads(line)["id"] for line in path.read_text().splitlines()}


def _damaged(base: Path, turn: int, counts: Counts) -> None:
    """Damage a copy of the marks and export them."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "copy"
        shutil.copytree(base, folder)
        (folder / "out.jsonl").unlink()
        marks = folder / "run" / "marks.sqlite3"
        has_backup = turn % 2 == 0
        if not has_backup:
            marks.with_name(f"{marks.name}.backup.jsonl").unlink(missing_ok=True)
        data = bytearray(marks.read_bytes())
        (flip, zero, cut, spoil)[turn // 2 % 4](data, np.random.default_rng(turn))
        marks.write_bytes(data)
        done = [run(folder, *_EXPORT)]
        if done[0].returncode and (advice := _ADVICE.search(done[0].stderr)):
            counts.repaired += 1
            done += [run(folder, *shlex.split(advice[1])), run(folder, *_EXPORT)]
        missing = {f"text-{number}" for number in range(_ROWS)} - _exported(folder)
        named = any(process.returncode == 1 and "lost" in process.stderr for process in done)
        named |= done[-1].returncode == 1 and "were left out" in done[-1].stderr
        counts.lost += bool(missing) and has_backup
        counts.unnamed += bool(missing) and not named
        counts.dead_ends += any("Traceback" in process.stderr for process in done)
        counts.dead_ends += done[-1].returncode != 0 and not missing
