"""One thread that continues prompts, those together that wait together.

A caller, from whichever event loop, waits for an event of that loop. One that stops waiting is
dropped at the next token, and the others do not notice.
"""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import anyio
from anyio import from_thread
from anyio.lowlevel import EventLoopToken, current_token

from spanjury.adapters.causal.writing import Prompt, Written
from spanjury.judges.core import ModelError, PermanentModelError

_JOIN_LIMIT = 30.0  # seconds that a batch may take to notice that no caller waits any more


@dataclass(frozen=True, slots=True, kw_only=True)
class Batching:
    """The prompts that go together.

    A batch has at most `rows` prompts, and `tokens` tokens when each is as long as the longest and
    has been answered; its first waits `linger` seconds for others.
    """

    rows: int = 32
    tokens: int = 1 << 16
    linger: float = 0.01


@dataclass(slots=True, kw_only=True, eq=False)
class _Ticket:
    """A prompt that a caller waits for."""

    prompt: Prompt
    loop: EventLoopToken
    done: anyio.Event
    dropped: bool = False
    outcome: Written | ModelError | None = None

    def settle(self, outcome: Written | ModelError) -> None:
        """Hand the outcome over; the caller's loop may have ended by now."""
        self.outcome = outcome
        with suppress(RuntimeError, anyio.RunFinishedError):
            from_thread.run_sync(self.done.set, token=self.loop)


@dataclass(slots=True, kw_only=True, eq=False)
class Worker:
    """A thread that continues prompts until it is closed.

    `write` asks of a place whether it was dropped, and raises `ModelError`.
    """

    write: Callable[[Sequence[Prompt], Callable[[int], bool]], Sequence[Written]]
    batching: Batching = Batching()
    _waiting: deque[_Ticket] = field(default_factory=deque)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _closed: bool = False
    _thread: threading.Thread = field(init=False)

    def __post_init__(self) -> None:
        self._thread = threading.Thread(target=self._work, name="local-model", daemon=True)
        self._thread.start()

    async def ask(self, prompt: Prompt) -> Written:
        """Return the continuation of a prompt; cancellable while it is written.

        Raises `ModelError` as `write` does.
        """
        ticket = _Ticket(prompt=prompt, loop=current_token(), done=anyio.Event())
        with self._changed:
            if self._closed:
                raise _closed_error()
            self._waiting.append(ticket)
            self._changed.notify()
        try:
            await ticket.done.wait()
        finally:
            ticket.dropped = True
        assert ticket.outcome is not None
        if isinstance(ticket.outcome, ModelError):
            raise ticket.outcome
        return ticket.outcome

    def close(self) -> None:
        """End the thread; blocks until it has. Whoever still waits gets an error."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join(_JOIN_LIMIT)

    def _work(self) -> None:
        while batch := self._next_batch():
            outcomes = self._written(batch)
            for ticket, outcome in zip(batch, outcomes, strict=True):
                ticket.settle(outcome)
        for ticket in self._waiting:
            ticket.settle(_closed_error())

    def _next_batch(self) -> list[_Ticket]:
        """Wait for prompts; return those that go with the first, or none once closed."""
        with self._changed:
            while True:
                self._changed.wait_for(lambda: self._waiting or self._closed)
                if not self._closed and len(self._waiting) < self.batching.rows:
                    self._changed.wait_for(self._is_full, timeout=self.batching.linger)
                if self._closed:
                    return []
                kept = [ticket for ticket in self._waiting if not ticket.dropped]
                self._waiting = deque(kept)
                if kept:
                    return self._taken()

    def _is_full(self) -> bool:
        return self._closed or len(self._waiting) >= self.batching.rows

    def _taken(self) -> list[_Ticket]:
        """Take the first that waits, and those whose prompts are about as long as its own."""
        bucket = _bucket(self._waiting[0].prompt)
        batch: list[_Ticket] = []
        widest = 0
        for ticket in list(self._waiting):
            wide = max(widest, len(ticket.prompt.ids) + ticket.prompt.most)
            fits = not batch or wide * (len(batch) + 1) <= self.batching.tokens
            if _bucket(ticket.prompt) == bucket and len(batch) < self.batching.rows and fits:
                batch.append(ticket)
                widest = wide
                self._waiting.remove(ticket)
        return batch

    def _written(self, batch: Sequence[_Ticket]) -> Sequence[Written | ModelError]:
        """Continue a batch; an error is everybody's."""
        try:
            written = self.write(
                [ticket.prompt for ticket in batch],
                lambda row: batch[row].dropped or self._closed,
            )
        except ModelError as error:
            return [error] * len(batch)
        # What was under way when the model was closed ends anywhere.
        return [_closed_error()] * len(batch) if self._closed else written


def _bucket(prompt: Prompt) -> tuple[bool, int]:
    """Return the same for prompts that are forced, or not, and about as long as each other.

    None is over twice as long as another.
    """
    return bool(prompt.forced), len(prompt.ids).bit_length()


def _closed_error() -> ModelError:
    return PermanentModelError("the local model has been closed")
