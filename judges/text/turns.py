"""Scheduling of the offline judges' work: it blocks the event loop for at most one short text.

Long texts are read in threads. All judges share a few threads, however many texts wait, and take
turns in order of arrival. More threads would not be faster, since Python runs one at a time, and
each would make the event loop wait longer. Short texts are read in the event loop, one in each of
its iterations.

Inside `Processes.working`, processes read all texts instead. A text whose process dies is retried
once.
"""

import pickle
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar, cast

import anyio.lowlevel
import anyio.to_process
import anyio.to_thread

T = TypeVar("T")

LONG = 2_000
"""Number of code points above which reading a text would block other tasks too long."""

_THREADS = 2  # two, so that one very long text does not block all others
_queues: anyio.lowlevel.RunVar["_Queues"] = anyio.lowlevel.RunVar("judges.turns")
_processes: "ContextVar[Processes | None]" = ContextVar("judges.processes", default=None)


class Processes:
    """Worker processes for judges, up to `count` at once.

    They start on demand and end with the event loop. Cancelling work kills its process.
    """

    def __init__(self, count: int) -> None:
        self._limiter = anyio.CapacityLimiter(count)

    @contextmanager
    def working(self) -> Iterator[None]:
        """Run all judges' work of this context, and of tasks started in it, in these processes."""
        token = _processes.set(self)
        try:
            yield
        finally:
            with suppress(ValueError):  # raised in another context, where the token is invalid
                _processes.reset(token)

    async def do(self, order: "_Order[T]") -> T:
        """Run pickled work, and retry it once if its process dies."""
        run = partial(anyio.to_process.run_sync, order, cancellable=True, limiter=self._limiter)
        try:
            return await run()
        except anyio.BrokenWorkerProcess:
            return await run()


async def in_turn(work: Callable[[], T], *, length: int, stays: bool = False) -> T:
    """Run `work` when its turn comes, in a thread if it is long.

    `length` is the number of code points of all texts that it reads. Raises the errors of `work`.

    Parameters
    ----------
    work
        A function without side effects: if the caller is cancelled, it runs on to its end. It is
        pickled for another process; if that is impossible, it runs here.
    stays
        Whether it must run in this process, because its data are large.
    """
    processes = _processes.get()
    if processes is not None and not stays and (order := _pickled(work)) is not None:
        return await processes.do(order)
    queues = _of_this_loop()
    if length > LONG:
        return await anyio.to_thread.run_sync(work, limiter=queues.long, abandon_on_cancel=True)
    async with queues.short:
        return work()


async def all_in_turns(parts: Callable[[], Iterator[T]], *, length: int) -> list[T]:
    """Return all items of `parts`: each takes a turn, or one worker process makes them all.

    `length` is as in `in_turn`. Raises the errors of `parts`.
    """
    if _processes.get() is not None:
        return await in_turn(partial(_listed, parts), length=length)
    results: list[T] = []
    iterator = parts()
    while (part := await in_turn(partial(next, iterator, _END), length=length)) is not _END:
        results.append(cast("T", part))  # only `_END` is not a part
    return results


_END = object()


def _listed(parts: Callable[[], Iterator[T]]) -> list[T]:
    return list(parts())


def _pickled(work: Callable[[], T]) -> "_Order[T] | None":
    try:
        return _Order(pickle.dumps(work))
    except (pickle.PicklingError, AttributeError, TypeError):  # some part cannot be pickled
        return None


@dataclass(frozen=True, slots=True)
class _Order(Generic[T]):
    """Pickled work for a process that ignores Ctrl-C, because the main process ends it."""

    work: bytes

    def __call__(self) -> T:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        do: Callable[[], T] = pickle.loads(self.work)  # noqa: S301  by `_pickled`
        return do()


class _Queues:
    """The two queues of one event loop in which texts wait for their turn."""

    def __init__(self) -> None:
        self.long = anyio.CapacityLimiter(_THREADS)
        # An event loop runs all ready tasks in one iteration; a lock admits one per iteration.
        self.short = anyio.Lock()


def _of_this_loop() -> _Queues:
    try:
        return _queues.get()
    except LookupError:
        queues = _Queues()
        _queues.set(queues)
        return queues
