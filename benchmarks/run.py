"""Run benchmarks and print one page of Markdown: the source of every figure in docs/performance.md.

Run as ``python -m benchmarks.run [SCRIPT ...] [--data FOLDER] [--peer NAME=FOLDER ...]``; without
SCRIPT, all run. FOLDER has the collected data sets. Scripts whose data are missing are skipped, as
are peers without a folder. The first script that fails ends the page.
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
    "stream",
    "watch",
)


def printed(command: Sequence[str]) -> str:
    """Return the output of `command`, run in the project's folder."""
    run = subprocess.run(command, cwd=HERE.parent, check=True, text=True, stdout=subprocess.PIPE)  # noqa: S603 - our own scripts, and git
    return run.stdout.strip()


def heading() -> str:
    """Return the time, the commit and the machine of the figures."""
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
    """Return the number and the model of the processors."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    models = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    return f"{len(models)} x {models[0]}" if models else platform.machine()


def section(script: str, arguments: Sequence[str]) -> str:
    """Run a script and return its section: title, file, load, and output."""
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
    """Run the scripts one after another, so that they do not disturb each other."""
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
