"""News of a batch as server-sent events."""

from collections.abc import AsyncIterator, Callable

from anyio import Event, create_task_group, move_on_after, sleep

from spanjury.orchestration.services.serving.batches.batch import Batch

KEEP_ALIVE = 15.0
"""Seconds without news after which a comment is sent, so that no proxy closes the stream."""
_PAUSE = 0.25
"""Seconds between two events at least."""


async def events(
    batch: Batch, body: Callable[[], str], *, after: str, draining: Event
) -> AsyncIterator[bytes]:
    """Yield events until the batch ends, or the service does.

    Parameters
    ----------
    body
        Makes the data of an event.
    after
        The id of the last event that the client has; empty for none.
    """
    sent = after
    while True:
        state = batch.record.state
        now = f"{state.value}-{batch.done}"
        if now != sent or state.is_end:
            name = "end" if state.is_end else "progress"
            yield f"id: {now}\nevent: {name}\ndata: {body()}\n\n".encode()
            sent = now
        else:
            yield b": still there\n\n"
        if state.is_end or draining.is_set():
            return
        await sleep(_PAUSE)
        if f"{batch.record.state.value}-{batch.done}" == sent:
            await _either(batch.changed, draining, seconds=KEEP_ALIVE)


async def _either(first: Event, second: Event, *, seconds: float) -> None:
    """Wait for one of two events, so many seconds at most."""
    with move_on_after(seconds):
        async with create_task_group() as group:

            async def wait(event: Event) -> None:
                await event.wait()
                group.cancel_scope.cancel()

            group.start_soon(wait, first)
            group.start_soon(wait, second)
