"""The number of processes changes no byte of what commands write and say, seconds apart."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

from fakes.command import call
from fakes.rows import summary

SECONDS = re.compile(rb'("?(?:mean_)?seconds"?: ?)[0-9.e-]+')
DATES = re.compile(rb"20\d\d-\d\d-\d\dT[0-9:.]+(?:Z|\+00:00)?")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
PANEL = ("--judge", "grounding", "--judge", "form", "--no-progress")
DEMO = ("--task", "summarization", "--demo", "--limit", "2", *PANEL)
COMMANDS = (
    ("evaluate", "texts.jsonl", *PANEL, "--run-dir", "run"),
    ("resume", "run", "--no-progress"),
    ("rescore", "run", "--score", "from-spans", "-o", "rescored.jsonl"),
    ("metrics", "score", "texts.jsonl", "--metric", "rouge-l", "--no-progress", "-o", "m.jsonl"),
    ("bench", "spans", "texts.jsonl", "--draws", "20", *PANEL, "-o", "bench"),
    ("exam", "discernment", *DEMO, "-o", "discernment"),
    ("exam", "robustness", *DEMO, "-o", "robustness"),
    ("calibrate", "run", "--human", "texts.jsonl", "--draws", "100", "-o", "calibration.json"),
    # Pooled, it would draw agreement against seconds.
    (
        "meta",
        "run",
        "--human",
        "texts.jsonl",
        "--level",
        "by-input",
        "--draws",
        "0",
        "--no-progress",
        "-o",
        "meta",
    ),
    ("compare", "run/results.jsonl", "rescored.jsonl", "-o", "compared"),
)


def row(number: int) -> dict[str, object]:
    """Return a text that says another day and number than its source if `number` is odd."""
    wrong, day = number % 2, DAYS[number % 6]
    named = DAYS[(number + 1) % 6] if wrong else day
    text = f"The mill at No. {number + 20 + 50 * wrong} burnt down on {named}."
    article = f"The mill at No. {number + 20} burnt down on {day}. No one was hurt."
    marks = [{"start": text.index(named), "end": len(text) - 1}] if wrong else []
    people = {"human": {"consistency": {"anna": 2 if wrong else 5}}, "spans": marks}
    return {**summary(f"text-{number}", text, article=article), **people, "references": [article]}


def written(folder: Path, *, workers: int) -> Mapping[str, bytes]:
    """Run all commands in `folder`; return what they said and the files that they wrote."""
    folder.mkdir()
    rows = (json.dumps(row(number)) for number in range(24))
    (folder / "texts.jsonl").write_text("".join(f"{line}\n" for line in rows))
    said = {}
    for command in COMMANDS:
        done = call(folder, *command, SPANJURY_WORKERS=str(workers))
        said[" ".join(command)] = done.stdout.replace(str(folder), "").encode()
    files = (path for path in folder.rglob("*") if path.is_file())
    read = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in files
        # A memory has pages of its own, and a manifest names folder and workers.
        if not path.name.startswith(("memory.sqlite3", "run.", "run-"))
    }
    assert len(read["run/results.jsonl"].splitlines()) >= 24
    return {
        name: DATES.sub(b"", SECONDS.sub(rb"\g<1>0", data)) for name, data in (said | read).items()
    }


def test_ten_commands_write_the_same_with_any_number_of_workers(tmp_path: Path) -> None:
    one, three = (written(tmp_path / str(count), workers=count) for count in (1, 3))
    assert three.keys() == one.keys()
    assert [name for name in one if three[name] != one[name]] == []
