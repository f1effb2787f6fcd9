"""The commands `spanjury evaluate` and bare aiohttp, with checks that they did their work."""

import json
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.batch_process import Cost, cost_of
from benchmarks.batch_rows import ASPECT, write_calls, write_rows
from benchmarks.batch_server import ERRORS, counts

__all__ = ["Course", "bare", "evaluate", "expected_calls", "resume"]

_KEY: Mapping[str, str] = {"OPENAI_COMPATIBLE_API_KEY": "none-needed"}
_PREFLIGHT = 1
_ROOT = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """The server and connections that all clients use, and a folder for files."""

    address: str
    folder: Path
    connections: int

    def rows(self, count: int) -> Path:
        """Return a file of `count` rows."""
        return _written(self.folder / f"rows-{count}.jsonl", partial(write_rows, count=count))

    def calls(self, count: int) -> Path:
        """Return a file of the request bodies for `count` rows."""
        return _written(self.folder / f"calls-{count}.jsonl", partial(write_calls, count=count))


def _written(path: Path, write: Callable[[Path], None]) -> Path:
    if not path.exists():
        write(path)
    return path


def bare(course: Course, rows: int) -> Cost:
    """Make the calls for `rows` rows with bare aiohttp."""
    module = [sys.executable, "-m", "benchmarks.batch_client"]
    order = [course.address, str(course.calls(rows)), str(course.connections)]
    with expected_calls(course, rows, size=course.calls(rows).stat().st_size):
        return cost_of([*module, *order], cwd=_ROOT)


def evaluate(course: Course, rows: int, *, flags: Sequence[str] = ()) -> Cost:
    """Judge `rows` rows with the annotator in a new run, and check the results."""
    run = _folder(course, rows)
    shutil.rmtree(run, ignore_errors=True)
    command = ["evaluate", str(course.rows(rows)), "--judge", "annotator:form=text"]
    command += ["--aspect", ASPECT]
    command += ["--model", "openai-compatible/stub", "--model-base-url", f"{course.address}/v1"]
    command += ["--max-connections", str(course.connections)]
    keeping = () if "--no-memory" in flags else ("--run-dir", str(run))
    with expected_calls(course, rows, size=course.calls(rows).stat().st_size):
        return _checked(course, rows, command=[*command, *keeping, *flags])


def resume(course: Course, rows: int, *, flags: Sequence[str] = ()) -> Cost:
    """Repeat a run finished by `evaluate`, without calls, into a new results file."""
    with expected_calls(course, 0):
        return _checked(course, rows, command=["resume", str(_folder(course, rows)), *flags])


def _folder(course: Course, rows: int) -> Path:
    return course.folder / f"run-{rows}"


def _checked(course: Course, rows: int, *, command: Sequence[str]) -> Cost:
    """Run a command of ours into a new results file, and check that file."""
    program = Path(sys.executable).with_name("spanjury")
    with TemporaryDirectory(dir=course.folder) as folder:
        results = Path(folder) / "results.jsonl"
        cost = cost_of([str(program), *command, "-o", str(results)], variables=_KEY)
        _check_results(results, rows)
    return cost


@contextmanager
def expected_calls(course: Course, calls: int, *, size: int | None = None) -> Iterator[None]:
    """Check that the context makes `calls` calls, of `size` bytes in all; a preflight is allowed.

    Raises
    ------
    RuntimeError
        If the number differs, or the size differs by more than 2 %.
    """
    before = counts(course.address)
    yield
    after = counts(course.address)
    made, sent = after.calls - before.calls, after.size - before.size
    if not 0 <= made - calls <= _PREFLIGHT:
        raise RuntimeError(f"expected {calls} calls, and {made} were made")
    if size is not None and abs(sent - size) > size / 50 + 1_000 * _PREFLIGHT:
        raise RuntimeError(f"expected calls of {size} bytes, and {sent} were sent")


def _check_results(path: Path, rows: int) -> None:
    """Raise `RuntimeError` unless each of `rows` rows has a score and all its errors."""
    with path.open(encoding="utf-8") as lines:
        results = map(json.loads, lines)
        good = {
            result["id"]
            for result in results
            if result["outcome"] == "scored"
            and [span["located"] for span in result["spans"]] == ["exact"] * ERRORS
        }
    if len(good) != rows:
        raise RuntimeError(f"of {rows} rows {len(good)} have a score and {ERRORS} located errors")
