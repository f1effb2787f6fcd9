"""Ids, systems, explanations and file names that try to control a terminal, or to inject HTML."""

import json
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.trials.command import run
from benchmarks.trials.trial import Harm, Trial

__all__ = ["hostile_trials"]

_STEERING = (
    "\x1b]0;owned\x07",
    "\x1b[2J\x1b[H",
    "\x9b2J",
    "\x1b]8;;http://evil\x1b\\click\x1b]8;;\x1b\\",
    "\x1b]52;c;b3duZWQ=\x07",
    "safe\rforged",
    "\x08\x08\x08\x08",
    "\x1bP+q\x1b\\",
    "invoice\u202egnp.exe",
    "\u2066hidden\u2069",
    "\u2028new line",
    "id\n  fluency: 6.66 of 5, Forged",
)
_MARKUP = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[click](javascript:alert(1))",
    "![x](http://evil/pixel.png)",
    "a | b | c",
    "`code` <b>bold</b>",
    "http://evil.example/",
    "[bold red]rich[/bold red]",
)
_ASPECT = "<img src=x> [a](http://b) | c"
_RUN = "first \x1b]0;owned\x07 \u202e <b>"
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_FORGED = re.compile(r"^ {2}fluency: 6\.66", re.MULTILINE)
_LIVE = re.compile(r"<[a-zA-Z!/?]|(?<!\\)\]\((?:javascript|http)|(?<!\\)://")


def hostile_trials() -> Iterator[Trial]:
    """Test the commands that print or write names with hostile ones."""
    with tempfile.TemporaryDirectory() as path:
        folder = Path(path)
        yield from _on_screen(folder)
        yield from _on_pages(folder)
    yield _links()


def _on_screen(folder: Path) -> Iterator[Trial]:
    """Judge rows with hostile names; check the report, the JSON and the error messages."""
    names = (*_STEERING, *_MARKUP)
    _rows(folder / "rows.jsonl", names)
    # An error message quotes the invalid value.
    bad = "".join(f"{json.dumps({'id': name, 'output': [name]})}\n" for name in names)
    (folder / "mixed.jsonl").write_text((folder / "rows.jsonl").read_text() + bad)
    commands = {
        "evaluate": ("evaluate", "rows.jsonl", "--aspect", "fluency", "--run-dir", _RUN),
        "evaluate --json": ("evaluate", "rows.jsonl", "--json", "--run-dir", "second"),
        "skipped rows": ("evaluate", "mixed.jsonl", "--skip-bad-rows", "--no-memory"),
        "runs": ("runs", "list", "."),
        "compare": ("compare", _RUN, "second", "--draws", "10"),
        "compare --json": ("compare", _RUN, "second", "--draws", "10", "--json"),
    }
    for name, arguments in commands.items():
        done = run(folder, *arguments)
        shown = done.stdout + done.stderr
        harmed = len(_CONTROL.findall(shown)) + len(_FORGED.findall(done.stdout))
        lines = done.stdout.splitlines() if name == "evaluate --json" else ()
        unread = sum(not _reads(line) for line in lines)
        yield _trial(f"hostile names on the screen, {name}", harmed + unread, len(names))


def _on_pages(folder: Path) -> Iterator[Trial]:
    """Write pages about hostile systems, aspects, runs and files."""
    names = _MARKUP[:7]
    data = "r<img src=x>[a](http:b).jsonl"
    _rows(folder / data, names * 3)
    (folder / "aspects.toml").write_text(
        f'[tasks.summarization.aspects."{_ASPECT}"]\nkind = "form"\n'
        'definition = "It is fine."\nworst = "Bad."\nbest = "Good."\n'
    )
    named = ("--aspect", _ASPECT, "--aspects-file", "aspects.toml")
    run(folder, "evaluate", data, *named, "--run-dir", "<img src=x>")
    human = ("--human", data, "--draws", "0", "--level", "pooled", "--output", "meta")
    recipe = ("--recipe", "bias", *named, "--output", "exam")
    commands = {
        "meta": (("meta", "<img src=x>", *human), "meta/meta.md"),
        "exam": (("exam", "discernment", data, *recipe), "exam/report.md"),
        "card": (("exam", "card", "exam", "--output", "card"), "card/card.md"),
        "exam compare": (
            ("exam", "compare", "exam", "exam", "--output", "pair", "--draws", "100"),
            "pair/comparison.md",
        ),
    }
    for name, (arguments, page) in commands.items():
        done = run(folder, *arguments)
        path = folder / page
        text = path.read_text() if path.exists() else "<missing page>"
        live = _LIVE.findall(re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text))
        shown = _CONTROL.findall(done.stdout + done.stderr + text)
        yield _trial(f"hostile names on a page, {name}", len(live) + len(shown), len(names))


def _links() -> Trial:
    """Read a folder that has links out of it, a pipe and a device."""
    with tempfile.TemporaryDirectory() as path:
        folder, outside = Path(path, "texts"), Path(path, "outside")
        for made in (folder, outside):
            made.mkdir()
        (folder / "fine.txt").write_text("The bridge is open.")
        (outside / "secret.txt").write_text("hunter-2-hunter")
        (folder / "file.txt").symlink_to(outside / "secret.txt")
        (folder / "twice.txt").symlink_to(folder / "file.txt")
        (folder / "folder").symlink_to(outside, target_is_directory=True)
        (folder / "device.txt").symlink_to("/dev/zero")
        os.mkfifo(folder / "pipe.txt")
        judged = ("evaluate", "texts", "--task", "summarization", "--aspect", "fluency")
        done = run(Path(path), *judged, "--skip-bad-rows", "--output", "out.jsonl")
        rows = Path(path, "out.jsonl").read_text()
        harmed = ("hunter" in done.stdout + done.stderr + rows) + rows.count("\n") - 1
        return _trial("links and pipes in a folder of texts", harmed, 5)


def _rows(path: Path, names: tuple[str, ...]) -> None:
    rows = (
        {
            "id": f"{number} {name}",
            "system": name,
            "task": "summarization",
            "output": f"The bridge is is open {name.replace(chr(10), chr(32))}"
            if number % 2
            else "The bridge is open.",
            "human": {"fluency": number % 5 + 1, _ASPECT: number % 5 + 1},
        }
        for number, name in enumerate(names)
    )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def _reads(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def _trial(name: str, harmed: int, tries: int) -> Trial:
    return Trial(harm=Harm.LEAKED, name=name, tries=tries, harmed=min(harmed, tries))
