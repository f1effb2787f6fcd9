"""A command of spanjury as a process, and what it left behind."""

import os
import re
import subprocess
import sys
from pathlib import Path

__all__ = ["everything", "run"]


def everything(folder: Path) -> str:
    """Return all that the files of `folder` hold, as it stands there and with escapes undone."""
    raw = b"\n".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())
    text = raw.decode("utf-8", "replace")
    plain = re.sub(r"\\u([0-9a-f]{4})", lambda match: chr(int(match[1], 16)), text)
    return text + plain.replace("\\n", "\n")


def run(
    folder: Path, *arguments: str, environment: dict[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run a command in `folder`, which is its user's home as well."""
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
