"""Delivery: scores and alerts reach their sinks at least once, whatever fails."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from anyio import Event, move_on_after, sleep
from anyio import Path as AsyncPath

from spanjury.judges.core import (
    EventLog,
    Sink,
    SinkError,
    SinkRefusedError,
    StoreError,
    failing_as,
    reason_of,
)
from spanjury.orchestration.wiring.traffic import Outgoing, ResultLog, TrafficStore

log = EventLog()

_MOST = 100
"""Most scores in one request."""
_PAUSES = (1.0, 2.0, 5.0, 15.0, 30.0, 60.0)
"""Seconds before each further attempt to reach a service."""
_REFUSED_PAUSES = (10.0, 60.0, 300.0, 1800.0)
"""Seconds before a refused score is resent: its trace may not have reached the service yet."""
_LOOK = 1.0
"""Seconds after which the store is checked even without a wake-up."""


class Bell:
    """Wakes tasks that wait for something to do."""

    def __init__(self) -> None:
        self._event = Event()

    def ring(self) -> None:
        """Wake all waiting tasks."""
        self._event.set()
        self._event = Event()

    async def wait(self, seconds: float) -> None:
        """Return when the bell rings, or after `seconds`."""
        with move_on_after(seconds):
            await self._event.wait()


@dataclass(slots=True)
class DeliveryCount:
    """Scores that a sink accepted and refused, and the last problem; empty if it accepts scores."""

    sent: int = 0
    dropped: int = 0
    problem: str = ""


class Delivery:
    """Sends a sink all scores made for it, continuing where it stopped.

    The store keeps the progress of the delivery under the sink's name.
    """

    def __init__(
        self,
        name: str,
        send: Callable[[Sequence[Outgoing]], Awaitable[None]],
        *,
        store: TrafficStore,
        bell: Bell,
        say: Callable[[str], None],
        kind: str = "score",
    ) -> None:
        self.name = name
        self.count = DeliveryCount()
        self._send = send
        self._store = store
        self._bell = bell
        self._say = say
        self._kind = kind
        self._failures = 0

    @property
    def is_done(self) -> bool:
        """True if everything has been sent at least once."""
        return not self._store.undelivered(self.name, kind=self._kind, limit=1)

    async def run(self) -> None:
        """Send all that arrives, until cancelled."""
        while True:
            if not await self._step():
                await self._bell.wait(_LOOK)

    async def _step(self) -> bool:
        """Send what is waiting; return whether there was anything."""
        batch = self._store.undelivered(self.name, kind=self._kind, limit=_MOST)
        try:
            if batch:
                refused = await self._sent(batch)
                await self._store.deliver(self.name, batch[-1].number, refused=refused)
                self.count.sent += len(batch) - len(refused)
            again = self._store.refused(self.name, limit=_MOST)
            for each in again:
                await self._again(each)
        except SinkError as error:
            await self._pause(error)
            return True
        if (batch or again) and self._failures:
            self._say(f"{self.name}: reached again")
            self._failures, self.count.problem = 0, ""
        return bool(batch or again)

    async def _sent(self, batch: Sequence[Outgoing]) -> dict[int, float]:
        """Send a batch; return, by number, when to resend what was refused."""
        try:
            await self._send(batch)
        except SinkRefusedError as error:
            if len(batch) == 1:
                log.warning("sink.score_refused", sink=self.name, error=str(error))
                return {batch[0].number: time.time() + _REFUSED_PAUSES[0]}
        else:
            return {}
        # The sink does not say which scores it refused: send them one by one.
        refused: dict[int, float] = {}
        for each in batch:
            refused.update(await self._sent([each]))
        return refused

    async def _again(self, each: Outgoing) -> None:
        try:
            await self._send([each])
        except SinkRefusedError as error:
            if each.tries < len(_REFUSED_PAUSES):
                due = time.time() + _REFUSED_PAUSES[each.tries]
                await self._store.redeliver(self.name, each.number, due=due)
                return
            self.count.dropped += 1
            self._say(f"{self.name}: a score was refused {each.tries + 1} times: {error}")
        else:
            self.count.sent += 1
        await self._store.redeliver(self.name, each.number, due=None)

    async def _pause(self, error: SinkError) -> None:
        seconds = _PAUSES[min(self._failures, len(_PAUSES) - 1)]
        if not self._failures:
            self._say(f"{error}; scores wait on disk and are sent again")
        self._failures += 1
        self.count.problem = str(error)
        await sleep(max(seconds, error.retry_after or 0.0))


def to_sink(sink: Sink) -> Callable[[Sequence[Outgoing]], Awaitable[None]]:
    """Return a function that sends scores to a sink; any exception becomes a `SinkError`."""

    async def send(batch: Sequence[Outgoing]) -> None:
        with failing_as(
            lambda error: SinkError(reason_of(error, kind=True)), passing=(SinkError, StoreError)
        ):
            await sink.send([each.score for each in batch])

    return send


class FileDelivery:
    """Writes result rows to a file, each exactly once, even after a crash."""

    def __init__(self, name: str, log_file: ResultLog, *, store: TrafficStore, bell: Bell) -> None:
        self.name = name
        self._log = log_file
        self._store = store
        self._bell = bell

    @property
    def is_done(self) -> bool:
        """True if all rows are in the file."""
        return not self._store.undelivered(self.name, kind="score", limit=1)

    async def run(self) -> None:
        """Write all rows that arrive, until cancelled."""
        while True:
            batch = self._store.undelivered(self.name, kind="score", limit=_MOST)
            if not batch:
                await self._bell.wait(_LOOK)
                continue
            size = self._log.append(b"".join(each.line for each in batch))
            await self._store.deliver(self.name, batch[-1].number, size=size)


@asynccontextmanager
async def file_delivery(
    path: Path, *, store: TrafficStore, bell: Bell
) -> AsyncIterator[FileDelivery]:
    """Open a file for result rows; rows that it got just before a crash are not written again.

    Raise `StoreError` if it cannot be written.
    """
    name = f"file:{await AsyncPath(path).resolve()}"
    pending = store.undelivered(name, kind="score", limit=_MOST)
    lines = [each.line for each in pending]
    with ResultLog(path, size=store.file_size(name), pending=lines) as log_file:
        written = pending[: log_file.written]
        last = written[-1].number if written else store.cursor(name)
        await store.deliver(name, last, size=log_file.size or 0)
        yield FileDelivery(name, log_file, store=store, bell=bell)
