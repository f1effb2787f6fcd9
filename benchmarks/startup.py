"""CPU seconds of short commands and of the import, beyond those of the bare interpreter.

Run as ``python -m benchmarks.startup [RUNS]``. Each case runs once first, so that bytecode is
cached, and then RUNS times, alternating with the others; the best counts. A slow case is run less
often.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.batch_process import cost_of
from benchmarks.batch_rows import write_rows

PATIENCE = 20.0
"""CPU seconds after which a case is not run again."""
BARE = "the bare interpreter"
RULES = ("--judge", "grounding", "--judge", "form")


def cases(folder: Path) -> Mapping[str, Sequence[str]]:
    """Return the commands by name; their files are in `folder`."""
    row = folder / "row.jsonl"
    write_rows(row, 1)
    program = str(Path(sys.executable).with_name("spanjury"))
    evaluate = (program, "evaluate", str(row), "-o", str(folder / "results.jsonl"))
    return {
        BARE: (sys.executable, "-c", ""),
        "`import spanjury`": (sys.executable, "-c", "import spanjury"),
        "`spanjury --help`": (program, "--help"),
        "`spanjury judges`": (program, "judges"),
        "`spanjury evaluate`, one row, rules only": (*evaluate, *RULES),
        "`spanjury evaluate`, one row, default panel": evaluate,
        "`spanjury doctor`": (program, "doctor"),
    }


def seconds(command: Sequence[str], folder: Path) -> float:
    """Return the CPU seconds of `command`; if it starts a run, that is stored in `folder`."""
    return cost_of(command, variables={"SPANJURY_RUNS": str(folder / "runs")}).cpu


def best(runs: int, folder: Path) -> Mapping[str, float]:
    """Return the lowest CPU seconds of each case."""
    commands = cases(folder)
    spent = {name: [seconds(command, folder)] for name, command in commands.items()}
    for _ in range(runs):
        for name, command in commands.items():
            if sum(spent[name]) < PATIENCE:
                spent[name].append(seconds(command, folder))
    return {name: min(costs) for name, costs in spent.items()}


def main(runs: int) -> None:
    """Print the table."""
    with TemporaryDirectory() as folder:
        fewest = best(runs, Path(folder))
    bare = fewest[BARE]
    print(f"Best of {runs} runs, in turn. {BARE.capitalize()} takes {bare:.3f} s.\n")
    print("| command | CPU s beyond it |\n|---|---|")
    for name, cpu in fewest.items():
        if name != BARE:
            print(f"| {name} | {cpu - bare:.3f} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
