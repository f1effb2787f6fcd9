"""Functions and commands in their own processes, with their own memory and caches; their cost."""

import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

__all__ = ["Spent", "apart", "commanded", "spending"]

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(slots=True)
class Spent:
    """CPU seconds that some work took, over all threads."""

    cpu: float = 0.0


@contextmanager
def spending() -> Iterator[Spent]:
    """Measure the work in the context; the value is set at its end."""
    spent = Spent()
    cpu = time.process_time()
    yield spent
    spent.cpu = time.process_time() - cpu


def apart(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call `function` in a new process."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=spawn) as pool:
        return pool.submit(function, *args, **kwargs).result()


def commanded(*arguments: str) -> float:
    """Run ``spanjury ARGUMENTS``; return its CPU seconds, child processes included."""
    before = os.times()
    subprocess.run(  # noqa: S603
        [sys.executable, "-m", "spanjury", *arguments],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])
