"""Run benchmarks and print one page of Markdown: the source of every figure in docs/performance.md.

Run as ``python -m benchmarks.run [SCRIPT ...] [--data FOLDER] [--peer NAME=FOLDER ...]``: all
scripts, or those that are named. FOLDER holds the collected data sets; without it the scripts
that need them are left out, as are the peers that no folder is named for. The first script that
fails ends the page.
"""

import argparse
import ast
import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

HERE = Path(__file__).parent
DATA = HERE.parents[1] / "shared" / "data"
QAGS = Path("judgements") / "qags_four_judges.jsonl.gz"
PEERS = "batch_peers"
ON_QAGS = ("offline_speed", "qags_offline", "qags_replies")
SCRIPTS = (
    "startup",
    "batch",
    PEERS,
    "scale",
    "cluster",
    "client_cpu",
    "memory",
    "locator",
    *ON_QAGS,
    "metrics",
    "perturbations",
    "result_files",
    "exam_statistics",
    "damage_data",
    "distil",
    "serve",
    "watch",
)


def printed(command: Sequence[str]) -> str:
    """Return what `command` prints, run in the folder of the project."""
    run = subprocess.run(command, cwd=HERE.parent, check=True, text=True, stdout=subprocess.PIPE)  # noqa: S603 - our own scripts, and git
    return run.stdout.strip()


def heading() -> str:
    """Return when, of which commit and on which machine the figures are."""
    changed = printed(["git", "status", "--porcelain", "--untracked-files=no"])
    commit = printed(["git", "rev-parse", "--short", "HEAD"])
    lines = (
        f"- {datetime.now().astimezone():%Y-%m-%d %H:%M %Z}",
        f"- commit {commit}{' with changes' if changed else ''}",
        f"- Python {platform.python_version()}, {platform.system()}",
        f"- {processors()}",
    )
    return "# Figures\n\n" + "\n".join(lines)


def processors() -> str:
    """Return how many processors of which model there are."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    models = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    return f"{len(models)} x {models[0]}" if models else platform.machine()


def section(script: str, arguments: Sequence[str]) -> str:
    """Run a script and return its section: what it measures, where it is, what it prints."""
    source = (HERE / f"{script}.py").read_text(encoding="utf-8")
    title = (ast.get_docstring(ast.parse(source)) or script).partition("\n")[0].rstrip(".")
    busy = os.getloadavg()[0]
    output = printed([sys.executable, "-m", f"benchmarks.{script}", *arguments])
    body = output if "\n|" in f"\n{output}" else f"```text\n{output}\n```"
    return f"## {title}\n\n`benchmarks/{script}.py`, begun at a load of {busy:.1f}\n\n{body}"


def read_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Print the figures of docs/performance.md.")
    parser.add_argument("scripts", nargs="*", metavar="SCRIPT", help=", ".join(SCRIPTS))
    parser.add_argument("--data", type=Path, default=DATA, metavar="FOLDER")
    parser.add_argument("--peer", dest="peers", action="append", default=[], metavar="NAME=FOLDER")
    options = parser.parse_args()
    if unknown := set(options.scripts) - set(SCRIPTS):
        parser.error(f"no such script: {', '.join(sorted(unknown))}")
    return options


def main() -> None:
    """Run them one after the other, so that none disturbs another."""
    options = read_options()
    qags = options.data.resolve() / QAGS
    arguments: Mapping[str, Sequence[str]] = {
        **dict.fromkeys(ON_QAGS, [str(qags)] if qags.is_file() else []),
        PEERS: [word for peer in options.peers for word in ("--peer", peer)],
    }
    print(heading(), flush=True)
    for script in options.scripts or SCRIPTS:
        if script in arguments and not arguments[script]:
            print(f"\n`benchmarks/{script}.py` is left out: it needs data or peers.", flush=True)
        else:
            print(f"\n{section(script, arguments.get(script, []))}", flush=True)


if __name__ == "__main__":
    main()
