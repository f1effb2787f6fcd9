"""The cost of work, measured in a process of its own. Linux only: memory is read from ``/proc``."""

import multiprocessing
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ParamSpec, TypeVar

__all__ = ["Spent", "apart", "peak_mb", "resident_mb", "spending"]

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(slots=True)
class Spent:
    """Seconds that some work took, by the clock and of CPU, all threads together."""

    wall: float = 0.0
    cpu: float = 0.0


@contextmanager
def spending() -> Iterator[Spent]:
    """Measure the work that is done inside; the value is filled in at the end."""
    spent = Spent()
    wall, cpu = time.perf_counter(), time.process_time()
    yield spent
    spent.wall, spent.cpu = time.perf_counter() - wall, time.process_time() - cpu


def apart(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call `function` in a new process, so that memory and caches are its own."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=spawn) as pool:
        return pool.submit(function, *args, **kwargs).result()


def resident_mb() -> float:
    """Return the memory that this process has in use."""
    return _megabytes("VmRSS:")


def peak_mb() -> float:
    """Return the most memory that this process ever had in use."""
    return _megabytes("VmHWM:")


def _megabytes(name: str) -> float:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    kibibytes = next(line.split()[1] for line in lines if line.startswith(name))
    return int(kibibytes) * 1024 / 1e6
