"""Turns: the work of offline judges keeps the event loop waiting for one short text at most.

Long texts are read in threads. All judges share a few, whatever they are and however many
texts wait, and take turns in the order in which they came. More threads would not be faster,
since Python runs one at a time, and each more would keep the event loop waiting longer.
Short texts are read in the event loop, one in each of its rounds.
"""

from collections.abc import Callable
from typing import TypeVar

import anyio.lowlevel
import anyio.to_thread

T = TypeVar("T")

LONG = 2_000
"""Code points from which a text takes longer than other tasks should be kept waiting."""

_THREADS = 2  # so that one very long text does not keep all the others waiting
_queues: anyio.lowlevel.RunVar["_Queues"] = anyio.lowlevel.RunVar("judges.turns")


async def in_turn(work: Callable[[], T], *, length: int) -> T:
    """Do `work` when its turn comes, in a thread if it is long.

    `length` is that of all texts that it reads, in code points. Raises what `work` raises.

    Parameters
    ----------
    work
        Returns what it makes and changes nothing: where the caller is cancelled it is left
        to end by itself.
    """
    queues = _of_this_loop()
    if length > LONG:
        return await anyio.to_thread.run_sync(work, limiter=queues.long, abandon_on_cancel=True)
    async with queues.short:
        return work()


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
