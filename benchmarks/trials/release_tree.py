"""Copies of the package with changed sources, which trials use as later releases."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import spanjury

__all__ = ["Change", "Release"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A text in a file of the package, and its replacement in a later release."""

    file: str
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A copy of the package in `folder`, with its commands.

    Parameters
    ----------
    folder
        Folder that contains the package; it comes first in the import path.
    """

    folder: Path

    @classmethod
    def cut(cls, folder: Path, changes: Iterable[Change] = (), *, version: str = "") -> "Release":
        """Copy the running package, and apply the changes."""
        source = Path(spanjury.__file__).parent
        package = folder / "spanjury"
        shutil.copytree(source, package, ignore=shutil.ignore_patterns("__pycache__"))
        bumped = Change(
            file="judges/core/version.py",
            before=f'VERSION = "{_version(package)}"',
            after=f'VERSION = "{version}"',
        )
        for change in (*changes, *([bumped] if version else [])):
            path = package / change.file
            text = path.read_text(encoding="utf-8")
            if change.before not in text:
                raise ValueError(f"{change.file} has no {change.before!r} to change")
            path.write_text(text.replace(change.before, change.after, 1), encoding="utf-8")
        return cls(folder=folder)

    def run(self, *arguments: str, where: Path) -> subprocess.CompletedProcess[str]:
        """Run a command of this release in the folder `where`."""
        kept = {name: value for name, value in os.environ.items() if "SPANJURY" not in name}
        return subprocess.run(  # noqa: S603  our own command
            [sys.executable, "-m", "spanjury", *arguments],
            cwd=where,
            env={**kept, "PYTHONPATH": str(self.folder), "OPENAI_API_KEY": "sk-none"},
            capture_output=True,
            text=True,
            check=True,
        )


def _version(package: Path) -> str:
    return (package / "judges/core/version.py").read_text().rpartition("VERSION = ")[2].strip('"\n')
