"""Run every attack and fault of docs/security.md on the program, and count the harm.

Run as ``python -m benchmarks.trials.run [NAME …]``, where NAME is a module of this folder, such as
``lost_replies``; without one, all of them run. Each module has a function ``trials()`` that returns
a list of `Trial`. The exit code is 1 if any trial did harm, and 2 if a NAME is unknown.
"""

import importlib
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.trials.trial import Harm, Trial

HERE = Path(__file__).parent


def modules() -> list[str]:
    """Return the names of the trial modules, which begin with a kind of harm."""
    prefixes = tuple(f"{harm}_" for harm in Harm)
    return sorted(path.stem for path in HERE.glob("*.py") if path.stem.startswith(prefixes))


def held(names: list[str]) -> Iterator[Trial]:
    """Run the trials of the modules `names`, one after another."""
    for name in names:
        yield from importlib.import_module(f"benchmarks.trials.{name}").trials()


def main(names: list[str]) -> int:
    """Print a row per trial, then the total of each kind of harm."""
    if unknown := sorted({*names} - {*modules()}):
        print(f"no trials are called {', '.join(unknown)}; there are {', '.join(modules())}")
        return 2
    harm: Counter[Harm] = Counter()
    print("| harm | trial | tries | harmed | |\n|---|---|---|---|---|")
    for trial in held(names or modules()):
        harm[trial.harm] += trial.harmed
        cells = (trial.harm, trial.name, trial.tries, trial.harmed, trial.note)
        print(f"| {' | '.join(map(str, cells))} |", flush=True)
    print("\n" + ", ".join(f"{harm[kind]} {kind}" for kind in Harm))
    return int(harm.total() > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
