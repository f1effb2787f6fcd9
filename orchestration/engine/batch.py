"""Batch evaluation: pairs in, results out, in the same order, in bounded memory."""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeVar

from anyio import (
    BrokenResourceError,
    EndOfStream,
    Event,
    WouldBlock,
    create_memory_object_stream,
    create_task_group,
    get_cancelled_exc_class,
)
from anyio.streams.memory import MemoryObjectReceiveStream

from spanjury.judges.core import (
    Aspect,
    ConfigError,
    Result,
    RunFailedError,
    RunStoppedError,
    Segment,
    first_error_alone,
)
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.engine.stopping import StopToken

T = TypeVar("T")

ALL_ASPECTS = "all"
"""Stands for every aspect of a segment's task."""

_WINDOW = 4
"""Pairs under way per worker: how far a quick pair may run ahead of a slow one."""


def pair(
    segments: Iterable[Segment],
    catalogue: Catalogue,
    *,
    task: str | None = None,
    aspects: Sequence[str] = (),
) -> Iterator[tuple[Segment, Aspect]]:
    """Pair each segment with the aspects it is judged on, segment by segment.

    Raise `ConfigError` if a segment has no task, or a task or an aspect is unknown; the
    message lists the choices.

    Parameters
    ----------
    task
        The task of every segment, whatever its row says; None for the row's own.
    aspects
        Names of aspects; empty for the defaults of the task, ``"all"`` for every one.
    """
    known: dict[str, tuple[Aspect, ...]] = {}
    for segment in segments:
        name = task or segment.task
        if not name:
            choices = ", ".join(task.name for task in catalogue.tasks())
            raise ConfigError(
                f"row {segment.segment_id!r} names no task: name one with --task ({choices})"
            )
        if name not in known:
            known[name] = _asked_for(catalogue, name, aspects)
        for aspect in known[name]:
            yield segment, aspect


async def evaluate(
    panel: Panel,
    pairs: Iterable[tuple[Segment, Aspect]],
    *,
    write: Callable[[Result], None],
    workers: int = 8,
    stop_token: StopToken | None = None,
) -> None:
    """Assess every pair and hand its result to `write`, in the order of `pairs`.

    Parameters
    ----------
    panel
        The judges.
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
        await _pipe(panel, pairs, write=write, workers=workers, stop_token=stop_token)
    if stop_token.failure is not None:
        raise stop_token.failure


async def each(
    things: Iterable[T], do: Callable[[T], Awaitable[None]], *, workers: int, stop_token: StopToken
) -> None:
    """Do something for each of `things`, so many at once; what one raises ends all.

    Raise `RunStoppedError` if the stop token left something undone.

    Parameters
    ----------
    things
        Each is taken once, in their order.
    do
        Does it for one.
    workers
        The number of things for which it is done at once.
    stop_token
        Once it is requested, nothing new is begun.
    """
    todo = iter(things)  # one for all workers, so that each thing is taken once

    async def work() -> None:
        for thing in todo:
            if stop_token.is_requested:
                stop_token.interrupted = True
                return
            await do(thing)

    with first_error_alone(), stop_token:
        async with create_task_group() as group:
            for _ in range(workers):
                group.start_soon(work)
    if stop_token.interrupted:
        raise RunStoppedError(stop_token.reason)


@dataclass(slots=True)
class _Slot:
    """A pair's place in the order of the output."""

    segment: Segment
    aspect: Aspect
    done: Event = field(default_factory=Event)
    result: Result | None = None


async def _pipe(
    panel: Panel,
    pairs: Iterable[tuple[Segment, Aspect]],
    *,
    write: Callable[[Result], None],
    workers: int,
    stop_token: StopToken,
) -> None:
    todo_in, todo = create_memory_object_stream[_Slot](workers)
    order_in, order = create_memory_object_stream[_Slot](_WINDOW * workers)
    async with create_task_group() as running, order_in, todo_in:
        running.start_soon(_write_in_order, order, write)
        for _ in range(workers):
            running.start_soon(_work, panel, todo.clone(), stop_token)
        todo.close()
        # A stream breaks when its reader has failed; then that failure is raised.
        with suppress(BrokenResourceError):
            for segment, aspect in pairs:
                if stop_token.is_requested:
                    stop_token.interrupted = True
                    break
                slot = _Slot(segment, aspect)
                await order_in.send(slot)
                await todo_in.send(slot)


async def _work(
    panel: Panel, todo: MemoryObjectReceiveStream[_Slot], stop_token: StopToken
) -> None:
    async with todo:
        async for slot in todo:
            if stop_token.is_requested:
                stop_token.interrupted = True
            else:
                await _judge(slot, panel, stop_token)
            slot.done.set()


async def _judge(slot: _Slot, panel: Panel, stop_token: StopToken) -> None:
    try:
        report = await panel.assess(slot.segment, slot.aspect)
    except RunFailedError as failure:
        stop_token.fail(failure)
    else:
        slot.result = Result(segment=slot.segment, aspect=slot.aspect, report=report)


async def _write_in_order(
    order: MemoryObjectReceiveStream[_Slot], write: Callable[[Result], None]
) -> None:
    waiting: list[_Slot] = []
    async with order:
        try:
            async for slot in order:
                waiting.append(slot)
                await slot.done.wait()
                _write(waiting.pop(), write)
        except get_cancelled_exc_class():
            for slot in (*waiting, *_queued(order)):
                if slot.done.is_set():
                    _write(slot, write)
            raise


def _queued(order: MemoryObjectReceiveStream[_Slot]) -> Iterator[_Slot]:
    """Take what waits in `order`, without waiting for more."""
    while True:
        try:
            yield order.receive_nowait()
        except (WouldBlock, EndOfStream):
            return


def _write(slot: _Slot, write: Callable[[Result], None]) -> None:
    if slot.result is not None:  # it has none if the stop token came before its turn
        write(slot.result)


def _asked_for(catalogue: Catalogue, task: str, aspects: Sequence[str]) -> tuple[Aspect, ...]:
    if ALL_ASPECTS in aspects:
        return catalogue.aspects(task)
    names = aspects or catalogue.task(task).default_aspects
    found = (catalogue.aspect(task, name) for name in names)
    return tuple({aspect.name: aspect for aspect in found}.values())
