"""Resolve spanjury beside the newest release of each library that is often installed with it.

Nothing is installed. It fails where the ranges of spanjury shut out neighbours that can be
installed without it. Where no registry answers, it says so and passes.
"""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
NEIGHBOURS = ("litellm", "pydantic-ai", "inspect-ai", "deepeval")
TOGETHER = ("litellm", "pydantic-ai")


class CannotResolveError(Exception):
    """uv found no set of releases; its message is uv's."""


def resolve(*requirements: str, project: bool = False) -> list[str]:
    """Return what uv would install, as ``name==version``."""
    with TemporaryDirectory() as folder:
        wanted = Path(folder, "wanted.in")
        wanted.write_text("\n".join(requirements), "utf-8")
        inputs = [str(PROJECT)] * project + [str(wanted)]
        uv = [os.environ.get("UV", "uv"), "pip", "compile", "--quiet", "--no-header"]
        done = subprocess.run(
            [*uv, "--no-annotate", "--no-emit-index-url", "--no-emit-find-links", *inputs],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise CannotResolveError(done.stderr.strip())
    return done.stdout.splitlines()


def newest(name: str) -> str:
    """Return the newest release of `name` that can be installed alone."""
    return next(line for line in resolve(name) if line.startswith(f"{name}=="))


def conflict(pins: list[str]) -> str:
    """Say why spanjury cannot be installed beside `pins`; empty if it can."""
    try:
        resolve(*pins, project=True)
    except CannotResolveError as error:
        return str(error)
    return ""


def conflict_without(pins: list[str]) -> bool:
    """Whether `pins` cannot be installed together even where spanjury is not."""
    try:
        resolve(*pins)
    except CannotResolveError:
        return True
    return False


def main() -> int:
    """Print what came of each neighbour, of two, and of all; return the exit status."""
    try:
        pins = {name: newest(name) for name in NEIGHBOURS}
    except CannotResolveError as error:
        print(f"skipped: no registry gives the neighbours\n{error}")
        return 0
    failed = False
    for names in (*((name,) for name in NEIGHBOURS), TOGETHER, NEIGHBOURS):
        beside = [pins[name] for name in names]
        said = conflict(beside)
        if said and conflict_without(beside):
            said = f"these conflict without spanjury, too\n{said}"
        else:
            failed |= bool(said) and names != NEIGHBOURS
        print(f"beside {', '.join(beside)}: {said or 'resolved'}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
