"""The ledger of a run on a cluster: the spending of all workers, and the stop that ends them all.

It is one object, on the head node. A worker asks it before each chunk, once a second and, where
cost or tokens are limited, after each call: before whoever made the call begins anything else.
So the limits hold for all workers together, and the run exceeds them by what is under way at
that moment, on one machine or on many. Calls that end at about the same time are reported
together: the rate of reports does not grow with that of the calls.
"""

import math
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import anyio
from pydantic import TypeAdapter

from spanjury.judges.core import ChatModel, ChatRequest, Reply, TokenPrice, Usage
from spanjury.orchestration.engine.metering import LimitedModel, Limits, Meter
from spanjury.orchestration.engine.stopping import GRACE, StopToken

Ask = Callable[[str], Awaitable[str]]
"""Sends a note to the ledger, and returns its answer."""

_PAUSE = 1.0
"""Seconds between two notes of a worker that has nothing to report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """The usage of calls that were made at one price."""

    usage: Usage
    price: TokenPrice | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """The order to begin nothing new.

    Parameters
    ----------
    reason
        Why, for the user.
    grace
        Seconds that what is under way may still take; None for as long as it takes.
    """

    reason: str
    grace: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Note:
    """A report to the ledger: what was spent since the last one, and why all are to stop."""

    spent: tuple[Spent, ...] = ()
    stop: Stop | None = None


_NOTE = TypeAdapter(_Note)
_STOP: TypeAdapter[Stop | None] = TypeAdapter(Stop | None)


class Ledger:
    """Count what all workers spend, and tell each of them when to stop.

    It is given notes as JSON, and answers each with the stop that was requested, or null.

    Parameters
    ----------
    limits
        Those of the run; its time begins now.
    """

    def __init__(self, limits: Limits, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = limits.max_seconds
        self._clock = clock
        self._begun = clock()
        self._meter = Meter(limits=limits, stop=self._request)
        self._reason = ""
        self._end = math.inf

    def __call__(self, note: str) -> str:
        """Take a note; return the `Stop` as JSON."""
        read = _NOTE.validate_json(note)
        for spent in read.spent:
            self._meter.count(spent.usage, price=spent.price)
        if read.stop is not None:
            self._request(read.stop.reason, grace=read.stop.grace)
        now = self._clock()
        if self._seconds is not None and now - self._begun >= self._seconds:
            self._request(f"{self._seconds:g} seconds are over", grace=GRACE)
        return _STOP.dump_json(self._stop(now)).decode()

    def _request(self, reason: str, grace: float | None = None) -> None:
        self._reason = self._reason or reason
        if grace is not None:
            self._end = min(self._end, self._clock() + grace)

    def _stop(self, now: float) -> Stop | None:
        if not self._reason:
            return None
        grace = None if math.isinf(self._end) else max(0.0, self._end - now)
        return Stop(reason=self._reason, grace=grace)


def stop_note(reason: str, *, grace: float = math.inf) -> str:
    """Return the note to the ledger that ends the run."""
    stop = Stop(reason=reason, grace=None if math.isinf(grace) else grace)
    return _NOTE.dump_json(_Note(stop=stop)).decode()


def _ignore(_: str) -> None:
    """Pass nothing on: the ledger is not there yet, or not any longer."""


class ClusterStop(StopToken):
    """The stop token of the driver, which passes a request on to the ledger."""

    def __init__(self) -> None:
        super().__init__()
        self._note = ""
        self._tell: Callable[[str], None] = _ignore

    def request(self, reason: str, *, grace: float = math.inf) -> None:
        """Stop all workers; the first reason is kept."""
        super().request(reason, grace=grace)
        self._note = stop_note(self.reason, grace=grace)
        self._tell(self._note)

    @contextmanager
    def passed_on(self, tell: Callable[[str], None]) -> Iterator[None]:
        """Pass requests on by `tell` as long as this lasts, and what was requested before."""
        self._tell = tell
        if self._note:
            tell(self._note)
        try:
            yield
        finally:
            self._tell = _ignore


class WorkerMeter(Meter):
    """The meter of one worker, which keeps the limits of the whole run.

    Parameters
    ----------
    limits
        Those of the run.
    ask
        Reaches its ledger.
    """

    def __init__(self, *, limits: Limits, ask: Ask) -> None:
        super().__init__(limits=limits)
        self.stop_token = StopToken()
        self._ask = ask
        self._is_limited = limits.max_cost is not None or limits.max_tokens is not None
        self._pending: dict[TokenPrice | None, Usage] = {}
        self._counted = self._reported = 0
        self._lock = anyio.Lock()

    def on(self, model: LimitedModel, *, name: str, price: TokenPrice | None) -> ChatModel:
        """Return `model` with its calls counted, and settled where the run has a limit."""
        metered = super().on(model, name=name, price=price)
        return _Settled(model=metered, meter=self) if self._is_limited else metered

    def count(self, usage: Usage, *, price: TokenPrice | None) -> None:
        """Add the usage of one call, and keep it for the next report."""
        super().count(usage, price=price)
        self._pending[price] = self._pending.get(price, Usage()) + usage
        self._counted += 1

    async def begin(self) -> StopToken:
        """Report; return a new stop token, which is requested if the run is to stop."""
        self.stop_token = StopToken()
        async with self._lock:
            await self._report()
        return self.stop_token

    async def settle(self) -> None:
        """Return when all that was counted by now is reported, by whomever."""
        counted = self._counted
        async with self._lock:
            if self._reported < counted:
                await self._report()

    async def watch(self) -> None:
        """Report again and again, and request the stop of the run once it is ordered."""
        while True:
            await anyio.sleep(_PAUSE)
            async with self._lock:
                await self._report()

    async def _report(self) -> None:
        counted = self._counted
        spent = tuple(Spent(usage=usage, price=price) for price, usage in self._pending.items())
        self._pending = {}
        answer = await self._ask(_NOTE.dump_json(_Note(spent=spent)).decode())
        self._reported = counted
        if stop := _STOP.validate_json(answer):
            grace = math.inf if stop.grace is None else stop.grace
            self.stop_token.request(stop.reason, grace=grace)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Settled:
    """A model each of whose calls is in the ledger before its reply is used."""

    model: ChatModel
    meter: WorkerMeter

    @property
    def signature(self) -> str:
        return self.model.signature

    async def complete(self, request: ChatRequest) -> Reply:
        reply = await self.model.complete(request)
        await self.meter.settle()
        return reply
