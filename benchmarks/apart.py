"""Work done in a process of its own, so that memory and caches are its own, and its cost."""

import multiprocessing
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

__all__ = ["Spent", "apart", "spending"]

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(slots=True)
class Spent:
    """Seconds of CPU that some work took, all threads together."""

    cpu: float = 0.0


@contextmanager
def spending() -> Iterator[Spent]:
    """Measure the work that is done inside; the value is filled in at the end."""
    spent = Spent()
    cpu = time.process_time()
    yield spent
    spent.cpu = time.process_time() - cpu


def apart(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call `function` in a new process."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=spawn) as pool:
        return pool.submit(function, *args, **kwargs).result()
