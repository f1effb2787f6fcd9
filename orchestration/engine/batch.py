"""Batch evaluation: pairs in, results out, in the same order and in bounded memory."""

from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Generic, TypeVar

from anyio import Event, create_task_group
from anyio.lowlevel import checkpoint

from spanjury.judges.core import (
    Aspect,
    Result,
    RunFailedError,
    RunStoppedError,
    Segment,
    first_error_alone,
)
from spanjury.judges.tasks import ALL_ASPECTS, Catalogue
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.engine.stopping import StopToken

T = TypeVar("T")

_WINDOW = 4
"""Pairs under way per worker: how far fast pairs may run ahead of a slow one."""
_STRETCH = 0.01
"""Seconds after which workers that never wait yield to the event loop."""


def pair(
    segments: Iterable[Segment],
    catalogue: Catalogue,
    *,
    task: str | None = None,
    aspects: Sequence[str] = (),
) -> Iterator[tuple[Segment, Aspect]]:
    """Pair each segment with the aspects it is judged on, segment by segment.

    Raise `ConfigError` if a task or an aspect is unknown, or if a segment without a task fits
    several tasks; the message lists the choices.

    Parameters
    ----------
    task
        The task of every segment, overriding its row; None for the row's own task, or the one that
        `Catalogue.likely_task` infers from its inputs.
    aspects
        Names of aspects; empty for the defaults of the task, ``"all"`` for every one.
    """
    named = [name for name in aspects if name != ALL_ASPECTS]
    aspects_of: dict[str, tuple[Aspect, ...]] = {}
    for segment in segments:
        name = (
            task
            or segment.task
            or catalogue.likely_task(named, inputs=segment.inputs, output=segment.output)
        )
        if name not in aspects_of:
            aspects_of[name] = _asked_for(catalogue, name, aspects)
        fitted = aspects_of[name][0].task.fit(segment)
        for aspect in aspects_of[name]:
            yield fitted, aspect


async def evaluate(
    panel: Panel,
    pairs: Iterable[tuple[Segment, Aspect]],
    *,
    write: Callable[[Result], None],
    workers: int = 8,
    stop_token: StopToken | None = None,
) -> None:
    """Assess every pair and hand its result to `write`, in the order of `pairs`.

    Raise the same errors as `assess_in_order`, which explains the other parameters.

    Parameters
    ----------
    panel
        The judges.
    """

    async def assess(segment: Segment, aspect: Aspect) -> Result:
        report = await panel.assess(segment, aspect)
        return Result(segment=segment, aspect=aspect, report=report)

    await assess_in_order(pairs, assess, write=write, workers=workers, stop_token=stop_token)


async def assess_in_order(
    pairs: Iterable[tuple[Segment, Aspect]],
    assess: Callable[[Segment, Aspect], Awaitable[T]],
    *,
    write: Callable[[T], None],
    workers: int = 8,
    stop_token: StopToken | None = None,
) -> None:
    """Pass the result of `assess` for every pair to `write`, in the order of `pairs`.

    Parameters
    ----------
    pairs
        Read lazily, a bounded number ahead.
    write
        Called with each result, by one task only. An exception that it raises ends the run.
    workers
        The number of pairs that are assessed at once.
    stop_token
        A request to stop ends the run early; complete results are still written.

    Raises
    ------
    RunFailedError
        If a model cannot be used or does not answer. Rows that wait for it have no result; calls to
        other models that are under way may still be answered within the stop token's grace.

    Notes
    -----
    When the run is cancelled, every result that is complete has been written before the
    cancellation leaves this function.
    """
    stop_token = stop_token or StopToken()
    with first_error_alone(), stop_token:
        await _pipe(pairs, assess, write=write, workers=workers, stop_token=stop_token)
    if stop_token.failure is not None:
        raise stop_token.failure


async def each(
    items: Iterable[T], do: Callable[[T], Awaitable[None]], *, workers: int, stop_token: StopToken
) -> None:
    """Call `do` for each of `items`, with bounded concurrency; the first exception ends all work.

    Raise `RunStoppedError` if the stop token left items undone.

    Parameters
    ----------
    items
        Each is processed once; they are begun in order.
    do
        Processes one item.
    workers
        The number of items that are processed at once.
    stop_token
        Once a stop is requested, no further item is begun.
    """
    todo = iter(items)  # one iterator for all workers: each item is taken once

    async def work() -> None:
        for item in todo:
            if stop_token.is_requested:
                stop_token.interrupted = True
                return
            try:
                await do(item)
            except RunStoppedError as stopped:
                stop_token.request(str(stopped))
                stop_token.interrupted = True

    with first_error_alone(), stop_token:
        async with create_task_group() as group:
            for _ in range(workers):
                group.start_soon(work)
    if stop_token.interrupted:
        raise RunStoppedError(stop_token.reason)


@dataclass(slots=True)
class _Slot(Generic[T]):
    """A position in the output order; `results` holds at most one result."""

    is_done: bool = False
    results: list[T] = field(default_factory=list)


class _Order(Generic[T]):
    """Writes results in the order of their pairs; the first open slot releases those behind it."""

    def __init__(self, write: Callable[[T], None], *, most: int) -> None:
        self._write = write
        self._most = most
        self._slots: deque[_Slot[T]] = deque()
        self._has_failed = False
        self._has_room: Event | None = None  # made only when a worker waits for room

    async def room(self) -> None:
        """Wait until another pair may be begun."""
        while len(self._slots) >= self._most:
            self._has_room = self._has_room or Event()
            await self._has_room.wait()

    def begin(self) -> _Slot[T]:
        """Reserve the next position in the output order."""
        slot: _Slot[T] = _Slot()  # calling `_Slot[T]` is slower
        self._slots.append(slot)
        return slot

    def finish(self, slot: _Slot[T]) -> None:
        """Write the result in `slot` and all that wait for it, if no earlier one is open."""
        slot.is_done = True
        slots = self._slots
        if slots[0] is not slot:
            return
        while slots and slots[0].is_done:
            self._put(slots.popleft())
        if self._has_room is not None:
            self._has_room.set()
            self._has_room = None

    def end(self) -> None:
        """Write all complete results, despite gaps before them, when the run ends."""
        while self._slots and not self._has_failed:
            self._put(self._slots.popleft())

    def _put(self, slot: _Slot[T]) -> None:
        for result in slot.results:  # it is empty if the run stopped before this pair was assessed
            self._has_failed = True  # it stays so if `write` raises: `end` then writes nothing more
            self._write(result)
            self._has_failed = False


class _Pace:
    """Yields to the event loop when workers never wait, so that signals and timers are handled."""

    def __init__(self) -> None:
        self._next = 0.0

    async def keep(self) -> None:
        """Yield to the event loop if `_STRETCH` seconds have passed."""
        if (now := monotonic()) >= self._next:
            await checkpoint()
            self._next = now + _STRETCH


async def _pipe(
    pairs: Iterable[tuple[Segment, Aspect]],
    assess: Callable[[Segment, Aspect], Awaitable[T]],
    *,
    write: Callable[[T], None],
    workers: int,
    stop_token: StopToken,
) -> None:
    todo, pace = iter(pairs), _Pace()  # one iterator for all workers: each pair is taken once
    order = _Order(write, most=_WINDOW * workers)

    async def work() -> None:
        while True:
            await pace.keep()
            await order.room()
            pair = next(todo, None)
            if pair is None:
                return
            if stop_token.is_requested:
                stop_token.interrupted = True
                return
            slot = order.begin()
            try:
                slot.results.append(await assess(*pair))
            except RunFailedError as failure:
                stop_token.fail(failure)
            except RunStoppedError as stopped:
                stop_token.request(str(stopped))
                stop_token.interrupted = True
            order.finish(slot)

    try:
        async with create_task_group() as running:
            for _ in range(workers):
                running.start_soon(work)
    finally:
        order.end()


def _asked_for(catalogue: Catalogue, task: str, aspects: Sequence[str]) -> tuple[Aspect, ...]:
    every = catalogue.aspects(task) if ALL_ASPECTS in aspects else ()
    names = aspects or catalogue.task(task).default_aspects
    named = (catalogue.aspect(task, name) for name in names if name != ALL_ASPECTS)
    return tuple({aspect.name: aspect for aspect in (*every, *named)}.values())
