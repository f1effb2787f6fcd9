"""The command line on the texts of a `ChaosServer`: as a process of its own, or in this one."""

import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from loopback.chaos import judged_text
from typer.testing import CliRunner, Result

from spanjury.orchestration.cli.app import app

SPANJURY = (sys.executable, "-m", "spanjury")
RESUME = ("resume", "run", "--no-progress")
_SECONDS = re.compile(rb'"seconds": [0-9.e-]+')


def judged_rows(folder: Path, *, count: int) -> None:
    """Write ``rows.jsonl`` with the texts that a `ChaosServer` knows."""
    rows = (
        {"id": str(number), "task": "summarization", "output": judged_text(number)}
        for number in range(count)
    )
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def evaluate(url: str, *flags: str, run: str = "run") -> tuple[str, ...]:
    """Return the arguments that judge ``rows.jsonl`` in the run folder `run`."""
    model = ("--model", "openai-compatible/judge", "--model-base-url", url)
    given = ("--aspect", "fluency", *model, "--run-dir", run, "--no-progress")
    return ("evaluate", "rows.jsonl", *given, *flags)


def start(
    folder: Path, *arguments: str, command: Sequence[str] = SPANJURY
) -> "subprocess.Popen[str]":
    """Start the command in `folder`."""
    return subprocess.Popen(
        [*command, *arguments],
        cwd=folder,
        env=environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def spanjury(
    *arguments: object,
    code: int | Collection[int] | None = 0,
    env: Mapping[str, str | None] | None = None,
    piped: str | None = None,
) -> Result:
    """Run the command in this process, which has loaded it already; it must exit with `code`.

    None stands for any exit code. `piped` is its standard input.
    """
    given = [str(argument) for argument in arguments]
    done = CliRunner().invoke(app, given, env=env, input=piped)
    codes = {code} if isinstance(code, int) else code
    assert codes is None or done.exit_code in codes, done.output
    return done


def call(
    folder: Path,
    *arguments: object,
    code: int | Collection[int] | None = 0,
    piped: str | None = None,
    **variables: str,
) -> Result:
    """Run `spanjury` in `folder`, and without the variables that set flags."""
    usual = {**environment(folder), **variables}
    changed = {name: usual.get(name) for name in {*os.environ, *usual}}
    with contextlib.chdir(folder):
        return spanjury(*arguments, code=code, env=changed, piped=piped)


def environment(folder: Path) -> dict[str, str]:
    """Return an environment that sets no flag, and keeps runs in `folder`."""
    usual = {name: value for name, value in os.environ.items() if not name.startswith("SPANJURY")}
    return {**usual, "XDG_DATA_HOME": str(folder / "data")}


def complaint(stderr: str) -> str:
    """Return the one line of `stderr` that says what went wrong.

    Beside it there may be lines that say how to go on.
    """
    advice = ("continue with: ", "see which models answer: ")
    (line,) = (line for line in stderr.splitlines() if not line.startswith(advice))
    assert line.startswith("spanjury: ")
    return line.removeprefix("spanjury: ")


def without_seconds(path: Path) -> bytes:
    """Return the bytes of a results file, all times made equal."""
    return _SECONDS.sub(b'"seconds": 0', path.read_bytes())
