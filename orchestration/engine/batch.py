"""Batch evaluation: pairs in, results out, in the same order, in bounded memory."""

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
"""Pairs under way per worker: how far a quick pair may run ahead of a slow one."""
_STRETCH = 0.01
"""Seconds after which workers that wait for nothing give way."""


def pair(
    segments: Iterable[Segment],
    catalogue: Catalogue,
    *,
    task: str | None = None,
    aspects: Sequence[str] = (),
) -> Iterator[tuple[Segment, Aspect]]:
    """Pair each segment with the aspects it is judged on, segment by segment.

    Raise `ConfigError` if a task or an aspect is unknown, or a segment without a task may be of
    several; the message lists the choices.

    Parameters
    ----------
    task
        The task of every segment, whatever its row says; None for the row's own, or what
        `Catalogue.likely_task` says of its inputs.
    aspects
        Names of aspects; empty for the defaults of the task, ``"all"`` for every one.
    """
    named = [name for name in aspects if name != ALL_ASPECTS]
    aspects_of: dict[str, tuple[Aspect, ...]] = {}
    for segment in segments:
        name = task or segment.task or catalogue.likely_task(named, headers=segment.inputs)
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

    Raises as `assess_in_order`, which explains the other parameters, does.

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
    """Hand what `assess` makes of every pair to `write`, in the order of `pairs`.

    Parameters
    ----------
    pairs
        Read as they are needed, a bounded number ahead.
    write
        Called with each result, by one task only. What it raises ends the run.
    workers
        The number of pairs that are assessed at once.
    stop_token
        Ends the run early, once it is requested, with what is complete by then.

    Raises
    ------
    RunFailedError
        If a model cannot be used or does not answer. The rows that wait for it have no result;
        calls of others that are under way may still be answered, for the stop token's grace.

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
    """Do something for each of `items`, so many at once; what one raises ends all.

    Raise `RunStoppedError` if the stop token left something undone.

    Parameters
    ----------
    items
        Each is taken once, in their order.
    do
        Does it for one.
    workers
        The number of things for which it is done at once.
    stop_token
        Once it is requested, nothing new is begun.
    """
    todo = iter(items)  # one for all workers, so that each thing is taken once

    async def work() -> None:
        for thing in todo:
            if stop_token.is_requested:
                stop_token.interrupted = True
                return
            try:
                await do(thing)
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
    """A place in the order of the output; `results` holds one result, or none."""

    is_done: bool = False
    results: list[T] = field(default_factory=list)


class _Order(Generic[T]):
    """Writes results in the order of their pairs; who completes the awaited one writes the rest."""

    def __init__(self, write: Callable[[T], None], *, most: int) -> None:
        self._write = write
        self._most = most
        self._slots: deque[_Slot[T]] = deque()
        self._has_failed = False
        self._has_room: Event | None = None  # made for those who wait for room

    async def room(self) -> None:
        """Return once another pair may be begun."""
        while len(self._slots) >= self._most:
            self._has_room = self._has_room or Event()
            await self._has_room.wait()

    def begin(self) -> _Slot[T]:
        """Give the next pair its place."""
        slot: _Slot[T] = _Slot()  # a call of `_Slot[T]` takes longer
        self._slots.append(slot)
        return slot

    def finish(self, slot: _Slot[T]) -> None:
        """Write the result in `slot` if those before it are written, and those that waited."""
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
        """Write what is complete, whatever is missing before it; the run was cancelled."""
        while self._slots and not self._has_failed:
            self._put(self._slots.popleft())

    def _put(self, slot: _Slot[T]) -> None:
        for result in slot.results:  # it has none if the stop token came before its turn
            self._has_failed = True
            self._write(result)
            self._has_failed = False


class _Pace:
    """Lets the event loop have its turn where nothing is waited for: signals and clocks need it."""

    def __init__(self) -> None:
        self._next = 0.0

    async def keep(self) -> None:
        """Give way if that is long ago."""
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
    todo, pace = iter(pairs), _Pace()  # one for all workers, so that each pair is taken once
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
