"""Notice code that blocks the event loop, in which no other task runs meanwhile."""

from collections.abc import Awaitable, Callable, Coroutine, Generator
from functools import partial
from time import perf_counter, thread_time
from types import coroutine
from typing import TypeVar

LONGEST = 1.0
"""Seconds from which a task blocks the event loop; Ctrl-C waits as long."""
_CROWDED = 10
"""A busy machine lets a thread wait for up to this many times the seconds that it computes."""

T = TypeVar("T")


async def with_longest_step(call: Callable[[], Awaitable[T]], note: Callable[[float], None]) -> T:
    """Return what `call` returns; pass the seconds of its longest step to `note`, even if it fails.

    A step lasts until the code waits for something, and the event loop goes on. Its seconds leave
    out those for which a busy machine probably ran other programs instead.
    """
    steps = [0.0]
    try:
        return await _timed(_awaited(call), steps)
    finally:
        note(max(steps))


async def _awaited(call: Callable[[], Awaitable[T]]) -> T:
    return await call()


@coroutine
def _timed(work: Coroutine[object, object, T], steps: list[float]) -> Generator[object, object, T]:
    """Await `work`, as ``yield from`` does, and keep the seconds of its longest step."""
    go_on = partial(work.send, None)
    while True:
        began, computed = perf_counter(), thread_time()
        try:
            awaited = go_on()
        except StopIteration as done:
            result: T = done.value
            return result
        finally:
            own = thread_time() - computed
            idle = perf_counter() - began - _CROWDED * own
            steps[0] = max(steps[0], own, idle)
        try:
            go_on = partial(work.send, (yield awaited))
        except BaseException as error:  # noqa: BLE001  a cancellation, for the work to handle
            go_on = partial(work.throw, error)
