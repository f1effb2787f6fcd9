"""CPU per row, memory and files of `spanjury evaluate` itself, by the number of rows.

Run as ``python -m benchmarks.scale [ROWS ...] [--case NAME] [--million] [--folder FOLDER]``; the
default is 10^3, 10^4 and 10^5 rows. With ``--million``, the trivial judge and its cached re-run are
also measured with 10^6 rows, which takes 6 GB in FOLDER. A row has an article of 2,400 characters
and one aspect. Each figure is the user and system time of a separate process. The CPU per row
excludes the start, which a run of one to three rows measures. The model is a stub in another
process that answers at once, with two errors. Linux only.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.batch_rows import write_rows
from benchmarks.batch_server import served

ROWS = (1_000, 10_000, 100_000)
MILLION = 1_000_000
STARTS = (1, 2, 3)
"""Numbers of rows in the runs that measure the start; the fastest counts."""
PLUGIN = """
from dataclasses import dataclass
from spanjury import Report

@dataclass(frozen=True, slots=True)
class TrivialJudge:
    signature: str = "trivial"

    async def assess(self, segment, aspect):
        return Report(score=3)
"""
ENTRY_POINT = "[spanjury.judges]\ntrivial = trivial_judge:TrivialJudge\n"
METADATA = "Metadata-Version: 2.1\nName: spanjury-trivial-judge\nVersion: 1.0\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Flags of `spanjury evaluate`; `before` is the case whose run is resumed instead.

    It is measured for at most `most` rows, and for a million only if it `may_be_long`.
    """

    flags: Sequence[str] = ()
    before: str = ""
    most: int = 100_000
    may_be_long: bool = False


CASES: Mapping[str, Case] = {
    "trivial": Case(flags=("--judge", "trivial"), most=200_000, may_be_long=True),
    "trivial, warm": Case(before="trivial", most=200_000, may_be_long=True),
    "rules": Case(flags=("--judge", "grounding", "--judge", "form")),
    "annotator": Case(
        flags=("--model", "openai-compatible/stub", "--max-connections", "64"), most=10_000
    ),
    "annotator, warm": Case(before="annotator", most=10_000),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Costs of a run of the command; file sizes are in bytes."""

    cpu: float
    peak_mb: float
    results: int
    memory: int


class Bench:
    """Runs the command on rows in `folder`, with the stub at `address`."""

    def __init__(self, folder: Path, *, address: str) -> None:
        self._folder = folder
        self._address = address
        self._environment = {**os.environ, "PYTHONPATH": str(_plugin_in(folder))}

    def measured(self, name: str, rows: int) -> Measured:
        """Run a case and return its costs."""
        case = CASES[name]
        run = self._folder / f"{case.before or name} {rows}"
        command = ["resume", str(run)] if case.before else self._evaluate(case, run, rows)
        cpu, peak_mb = self._spent(command)
        memory = sum(file.stat().st_size for file in run.glob("memory.sqlite3*"))
        results = (run / "results.jsonl").stat().st_size
        return Measured(cpu=cpu, peak_mb=peak_mb, results=results, memory=memory)

    def _evaluate(self, case: Case, run: Path, rows: int) -> list[str]:
        data = self._folder / f"{rows}.jsonl"
        if not data.exists():
            write_rows(data, rows)
        model = ["--model-base-url", f"{self._address}/v1"] if "--model" in case.flags else []
        flags = [*case.flags, *model, "--aspect", "consistency", "--run-dir", str(run)]
        return ["evaluate", str(data), *flags]

    def _spent(self, arguments: Sequence[str]) -> tuple[float, float]:
        """Run the command; return its CPU seconds and its peak resident memory."""
        errors = self._folder / "errors.txt"
        with errors.open("w") as file:
            process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-m", "spanjury", *arguments],
                stdout=subprocess.DEVNULL,
                stderr=file,
                env=self._environment,
            )
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"spanjury {' '.join(arguments)}: {process.returncode}\n{errors.read_text()}")
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6


def _plugin_in(folder: Path) -> Path:
    """Install the trivial judge below `folder`; return the path for ``PYTHONPATH``."""
    path = folder / "plugin"
    info = path / "spanjury_trivial_judge-1.0.dist-info"
    info.mkdir(parents=True)
    (path / "trivial_judge.py").write_text(PLUGIN)
    (info / "entry_points.txt").write_text(ENTRY_POINT)
    (info / "METADATA").write_text(METADATA)
    return path


@contextmanager
def opened(folder: str | None) -> Iterator[Bench]:
    """Open a bench whose files are deleted at the end."""
    with ExitStack() as stack:
        folder_name = stack.enter_context(TemporaryDirectory(dir=folder))
        address = stack.enter_context(served(delay=0.0))
        yield Bench(Path(folder_name), address=address)


def show(bench: Bench, all_rows: Sequence[int], *, is_asked: Callable[[str], bool]) -> None:
    """Print the table."""
    print(
        f"{'case':<16}{'rows':>9}{'start, CPU s':>14}{'CPU s':>9}{'µs a row':>10}"
        f"{'rows a CPU s':>14}{'peak MB':>9}{'result B':>10}{'memory B':>10}",
        flush=True,
    )
    for name, case in CASES.items():
        if not is_asked(name):
            continue
        start = min(bench.measured(name, rows).cpu for rows in STARTS)
        for rows in all_rows:
            if rows > case.most and not (case.may_be_long and rows == MILLION):
                continue
            run = bench.measured(name, rows)
            seconds = run.cpu - start
            print(
                f"{name:<16}{rows:>9}{start:>14.2f}{run.cpu:>9.2f}{seconds / rows * 1e6:>10.0f}"
                f"{rows / seconds:>14.0f}{run.peak_mb:>9.0f}{run.results / rows:>10.0f}"
                f"{run.memory / rows:>10.0f}",
                flush=True,
            )


def main() -> None:
    """Print the requested table."""
    parser = argparse.ArgumentParser(description="Measure the command by rows.")
    parser.add_argument("rows", nargs="*", type=int, metavar="ROWS", help="10^3 to 10^5")
    parser.add_argument("--case", choices=CASES, action="append", help="all, if none is named")
    parser.add_argument("--million", action="store_true", help="10^6 rows, too")
    parser.add_argument("--folder", help="where rows, results and memories are put meanwhile")
    options = parser.parse_args()
    asked = {*(options.case or CASES)}
    asked |= {CASES[name].before for name in asked}  # a case can only be resumed after its run
    rows = [*(options.rows or ROWS), *([MILLION] if options.million else [])]
    with opened(options.folder) as bench:
        show(bench, rows, is_asked=asked.__contains__)


if __name__ == "__main__":
    main()
