"""Runs of a spanjury command as a process, and searches of the files that it leaves."""

import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from spanjury.adapters.runs.memory_form import unpacked

__all__ = ["everything", "run"]


def everything(folder: Path) -> str:
    """Return the contents of all files in `folder`, as stored and with escapes decoded."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    raw = b"\n".join((*(path.read_bytes() for path in files), *_remembered(files)))
    text = raw.decode("utf-8", "replace")
    plain = re.sub(r"\\u([0-9a-f]{4})", lambda match: chr(int(match[1], 16)), text)
    return text + plain.replace("\\n", "\n")


def _remembered(files: list[Path]) -> Iterator[bytes]:
    """Yield the values of memories, whose files contain them compressed."""
    for path in files:
        if path.name == "memory.sqlite3":
            with closing(sqlite3.connect(path)) as memory:
                for row in memory.execute("SELECT key, value, checksum FROM memory"):
                    yield unpacked(*row) or b""


def run(
    folder: Path, *arguments: str, environment: dict[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run a command in `folder`, which is also its home folder."""
    usual = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    usual |= {"HOME": str(folder), "XDG_DATA_HOME": str(folder / "data"), "NO_COLOR": "1"}
    return subprocess.run(  # noqa: S603
        [sys.executable, "-m", "spanjury", *arguments],
        cwd=folder,
        env={**usual, **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
    )
