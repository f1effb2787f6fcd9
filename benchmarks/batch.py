"""Cost of the command `spanjury evaluate` with an annotator, compared with bare aiohttp.

Run as ``python -m benchmarks.batch [--rows N] [--rounds N]``. The model is a stub in another
process, whose CPU is not counted; it answers with three errors each time, after a delay. Each
command is run on few rows, which measures its start-up, and on all; the cost per row is the
difference. The commands alternate, round after round, and the medians of the rounds are printed.
The benchmark ends with an error if a run fails, makes other calls, or leaves a row without its
errors.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.batch_process import Cost, RowCost, row_cost
from benchmarks.batch_runs import Course, bare, evaluate, resume
from benchmarks.batch_server import served

Run = Callable[[Course, int], Cost]

BARE = "bare aiohttp"
QUIET = ("--show", "none")
COLD: Mapping[str, Run] = {
    BARE: bare,
    "`evaluate`": evaluate,
    "`evaluate --show none`": partial(evaluate, flags=QUIET),
    "`evaluate --show none --no-memory`": partial(evaluate, flags=(*QUIET, "--no-memory")),
}
WARM: Mapping[str, Run] = {
    "`resume`": resume,
    "`resume --show none`": partial(resume, flags=QUIET),
}
WARM_TIMES = 10  # times as many rows, since a cached row takes little compared with start-up


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Numbers of rows and rounds, and the server's delay and connections."""

    rows: int
    rounds: int
    delay: float
    connections: int

    @property
    def ideal(self) -> float:
        """Calls per second of a client that takes no time itself."""
        return self.connections / self.delay if self.delay else float("inf")

    def __str__(self) -> str:
        return (
            f"{self.rows:,} rows, {self.connections} connections, answers after"
            f" {self.delay * 1e3:.0f} ms, medians of {self.rounds} rounds"
        )


def in_rounds(
    runs: Mapping[str, Run], course: Course, *, rows: int, size: Size
) -> Mapping[str, Sequence[RowCost]]:
    """Run all of `runs` in turn, round after round; return the cost per row in each.

    Each is first run once on few rows, so that bytecode and files are cached.
    """
    for run in runs.values():
        run(course, size.connections)
    rounds: dict[str, list[RowCost]] = {name: [] for name in runs}
    for _ in range(size.rounds):
        for name, run in runs.items():
            cost = row_cost(partial(run, course), rows=rows, few=size.connections)
            rounds[name].append(cost)
    return rounds


def print_cold(course: Course, size: Size) -> None:
    """Print the cost of rows that no run has seen before."""
    rounds = in_rounds(COLD, course, rows=size.rows, size=size)
    print(f"{size}; each line interleaved with the others.\n")
    print(
        "| command | CPU ms a row | of rounds | beyond bare | rows a s | share | MB | start-up s |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name, costs in rounds.items():
        spent = [cost.cpu_ms for cost in costs]
        beyond = [cost.cpu_ms - base.cpu_ms for cost, base in zip(costs, rounds[BARE], strict=True)]
        rate = median(cost.rate for cost in costs)
        print(
            f"| {name} | {median(spent):.2f} | {min(spent):.2f} to {max(spent):.2f}"
            f" | {median(beyond):.2f} | {rate:,.0f} | {rate / size.ideal:.0%}"
            f" | {median(cost.peak_mb for cost in costs):.0f}"
            f" | {median(cost.start_up for cost in costs):.2f} |",
            flush=True,
        )


def print_warm(course: Course, size: Size) -> None:
    """Print the cost of cached rows, written to a new results file."""
    rows = size.rows * WARM_TIMES
    for count in (size.connections, rows):
        evaluate(course, count, flags=QUIET)
    print(f"\nThe same again, all of {rows:,} rows remembered, the file of results new.\n")
    print("| command | rows a CPU s | of rounds | CPU ms a row | MB | start-up s |")
    print("|---|---|---|---|---|---|")
    for name, costs in in_rounds(WARM, course, rows=rows, size=size).items():
        rates = [1e3 / cost.cpu_ms for cost in costs]
        print(
            f"| {name} | {median(rates):,.0f} | {min(rates):,.0f} to {max(rates):,.0f}"
            f" | {median(cost.cpu_ms for cost in costs):.3f}"
            f" | {median(cost.peak_mb for cost in costs):.0f}"
            f" | {median(cost.start_up for cost in costs):.2f} |",
            flush=True,
        )


def parser(*, rows: int, rounds: int = 3, about: str) -> argparse.ArgumentParser:
    """Return a parser with the flags for sizes; the default is `rows` rows."""
    flags = argparse.ArgumentParser(description=about)
    flags.add_argument("--rows", type=int, default=rows)
    flags.add_argument("--rounds", type=int, default=rounds)
    flags.add_argument("--delay", type=float, default=0.05, help="seconds until an answer")
    flags.add_argument("--connections", type=int, default=64)
    flags.add_argument("--folder", help="where rows, results and memories are put meanwhile")
    return flags


def size_of(options: argparse.Namespace) -> Size:
    """Return the size set by `options`."""
    if options.rows <= options.connections:
        raise SystemExit("--rows must be more than --connections: so many rows are start-up")
    return Size(
        rows=options.rows,
        rounds=options.rounds,
        delay=options.delay,
        connections=options.connections,
    )


def main() -> None:
    """Print both tables."""
    options = parser(rows=3_000, about="Measure `spanjury evaluate`.").parse_args()
    size = size_of(options)
    with served(delay=size.delay) as address, TemporaryDirectory(dir=options.folder) as folder:
        course = Course(address=address, folder=Path(folder), connections=size.connections)
        print_cold(course, size)
        print_warm(course, size)


if __name__ == "__main__":
    main()
