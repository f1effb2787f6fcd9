"""Turns: the work of offline judges keeps the event loop waiting for one short text at most.

Long texts are read in threads. All judges share a few, whatever they are and however many
texts wait, and take turns in the order in which they came. More threads would not be faster,
since Python runs one at a time, and each more would keep the event loop waiting longer.
Short texts are read in the event loop, one in each of its rounds.

While `Processes` work, they read all texts instead. A text whose process dies is read
once more.
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
"""Code points from which a text takes longer than other tasks should be kept waiting."""

_THREADS = 2  # so that one very long text does not keep all the others waiting
_queues: anyio.lowlevel.RunVar["_Queues"] = anyio.lowlevel.RunVar("judges.turns")
_processes: "ContextVar[Processes | None]" = ContextVar("judges.processes", default=None)


class Processes:
    """Processes that do the work of judges, `count` at once.

    They begin when they are needed, and end with the event loop. Cancelling work kills the process
    that does it.
    """

    def __init__(self, count: int) -> None:
        self._limiter = anyio.CapacityLimiter(count)

    @contextmanager
    def working(self) -> Iterator[None]:
        """Have them do all work of judges while the context lasts, and of the tasks begun in it."""
        token = _processes.set(self)
        try:
            yield
        finally:
            with suppress(ValueError):  # in another context, where it was not set
                _processes.reset(token)

    async def do(self, order: "_Order[T]") -> T:
        """Do pickled work, once more if its process dies."""
        run = partial(anyio.to_process.run_sync, order, cancellable=True, limiter=self._limiter)
        try:
            return await run()
        except anyio.BrokenWorkerProcess:
            return await run()


async def in_turn(work: Callable[[], T], *, length: int, stays: bool = False) -> T:
    """Do `work` when its turn comes, in a thread if it is long.

    `length` is that of all texts that it reads, in code points. Raises what `work` raises.

    Parameters
    ----------
    work
        Returns what it makes and changes nothing: where the caller is cancelled it is left
        to end by itself. It is pickled if another process is to do it; work that cannot be is
        done here.
    stays
        Whether it is done in this process in any case, for what it holds is large.
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
    """Return all that `parts` yields: each is made in a turn, or all in one by another process.

    `length` is as in `in_turn`. Raises what `parts` raises.
    """
    if _processes.get() is not None:
        return await in_turn(partial(_listed, parts), length=length)
    made: list[T] = []
    iterator = parts()
    while (part := await in_turn(partial(next, iterator, _END), length=length)) is not _END:
        made.append(cast("T", part))  # the end alone is no part
    return made


_END = object()


def _listed(parts: Callable[[], Iterator[T]]) -> list[T]:
    return list(parts())


def _pickled(work: Callable[[], T]) -> "_Order[T] | None":
    try:
        return _Order(pickle.dumps(work))
    except (pickle.PicklingError, AttributeError, TypeError):  # it holds what cannot be
        return None


@dataclass(frozen=True, slots=True)
class _Order(Generic[T]):
    """Pickled work for a process that Ctrl-C is not meant for: the first process ends it."""

    work: bytes

    def __call__(self) -> T:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        do: Callable[[], T] = pickle.loads(self.work)  # noqa: S301  by `_pickled`
        return do()


class _Queues:
    """The two queues of one event loop, in which texts wait for their turn."""

    def __init__(self) -> None:
        self.long = anyio.CapacityLimiter(_THREADS)
        # An event loop runs all that is ready in one round: a lock lets through one a round.
        self.short = anyio.Lock()


def _of_this_loop() -> _Queues:
    try:
        return _queues.get()
    except LookupError:
        queues = _Queues()
        _queues.set(queues)
        return queues
