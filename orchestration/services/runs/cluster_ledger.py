"""The ledger of a run on a cluster: the spending of all workers, and the stop of all workers.

It is one object, on the head node. A worker contacts it before each chunk, once a second and, if
spending is limited, before each call, which is sent only after it is reserved there. So limits and
the panel's budget hold for all workers together as on one machine (`metering`), and calls that a
lost worker had under way count as spent. Concurrent calls are reserved together: the rate of notes
does not grow with the rate of calls.
"""

import math
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import anyio
from pydantic import TypeAdapter

from spanjury.judges.core import OverBudgetError, RunStoppedError, TokenPrice, Usage
from spanjury.orchestration.engine.metering import SEATS, Bound, Limits, Meter
from spanjury.orchestration.engine.spending import NOTHING, Spending
from spanjury.orchestration.engine.stopping import GRACE, StopToken
from spanjury.orchestration.wiring.cluster import ShardFolder

_OTHERS = "others"
"""Maker of the calls of other workers, from a worker's point of view."""

Ask = Callable[[str], Awaitable[str]]
"""Sends a note to the ledger, and returns its answer."""


_PAUSE = 1.0
"""Seconds between two notes of a worker with nothing to report."""
_TURN = 0.05
"""Seconds until a worker requests room again for a call that had none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """The usage of calls made at one price."""

    usage: Usage
    price: TokenPrice | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """The order to begin nothing new.

    Work under way may still take `grace` seconds, or unlimited time if that is None. `reason` is
    for the user.
    """

    reason: str
    grace: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Note:
    """A worker's note to the ledger.

    It reports the spending since the last note, and the reservations that this settles. The
    `wanted` calls must fit into the `budgets`.
    """

    spent: tuple[Spent, ...] = ()
    settled: Spending = NOTHING
    wanted: tuple[Spending, ...] = ()
    budgets: tuple[Bound, ...] = ()
    stop: Stop | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The ledger's answer.

    The first `granted` of the wanted calls may be sent. `refusal` says why the next one never may:
    no budget has room for it. `spent` is the spending of all workers in all sessions of the
    run, as far as it is stored.
    """

    granted: int = 0
    refusal: str = ""
    spent: Spending = NOTHING
    stop: Stop | None = None


_NOTE = TypeAdapter(_Note)
_ANSWER = TypeAdapter(Answer)


class Ledger:
    """Counts the spending of all workers, and tells each of them when to stop.

    It receives notes as JSON, and answers each with an `Answer`. The time of `limits` starts when
    it is created. If the panel has a budget, which covers all sessions of the run, the file stores
    the spending; a call counts there before it is sent.
    """

    def __init__(
        self,
        limits: Limits,
        *,
        file: ShardFolder | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._seconds = limits.max_seconds
        self._clock = clock
        self._begun = clock()
        self._stop_token = StopToken()
        self._meter = Meter(limits=limits, stop_token=self._stop_token)
        self._file = file
        if file is not None:
            self._meter.go_on_with(file.ledger() or b"{}")
        self._end = math.inf

    def __call__(self, note: str) -> str:
        """Process a note; return the `Answer` as JSON."""
        read = _NOTE.validate_json(note)
        self._meter.release(read.settled)
        for spent in read.spent:
            self._meter.count(spent.usage, price=spent.price)
        if read.stop is not None:
            self._request(read.stop.reason, grace=read.stop.grace)
        now = self._clock()
        if self._seconds is not None and now - self._begun >= self._seconds:
            self._request(f"{self._seconds:g} seconds are over", grace=GRACE)
        for budget in read.budgets:
            if budget not in self._meter.budgets:
                self._meter.hold(budget)
        granted, refusal = self._granted(read.wanted)
        # Spending settled in the meantime is stored with the next calls, or once there are none.
        is_stored = granted or (read.settled.calls and self._meter.is_idle)
        if is_stored and self._file is not None and self._meter.budgets:
            self._file.keep_ledger(self._meter.written())
        stop = None
        if self._stop_token.is_requested:
            grace = None if math.isinf(self._end) else max(0.0, self._end - now)
            stop = Stop(reason=self._stop_token.reason, grace=grace)
        answer = Answer(granted=granted, refusal=refusal, spent=self._meter.of_run, stop=stop)
        return _ANSWER.dump_json(answer).decode()

    def _granted(self, wanted: Sequence[Spending]) -> tuple[int, str]:
        """Reserve the wanted calls one after the other, until one does not fit.

        Return the number that fit, and why no budget has room for the next.
        """
        for number, most in enumerate(wanted):
            try:
                if not self._meter.take(most):
                    return number, ""
            except OverBudgetError as error:
                return number, str(error)
            except RunStoppedError:  # the stop is in the answer
                return number, ""
        return len(wanted), ""

    def _request(self, reason: str, grace: float | None = None) -> None:
        self._stop_token.request(reason)
        if grace is not None:
            self._end = min(self._end, self._clock() + grace)


def stop_note(reason: str, *, grace: float = math.inf) -> str:
    """Return the note to the ledger that ends the run."""
    stop = Stop(reason=reason, grace=None if math.isinf(grace) else grace)
    return _NOTE.dump_json(_Note(stop=stop)).decode()


def _ignore(_: str) -> None:
    """Ignore a note: the ledger does not exist yet, or no longer."""


class ClusterStop(StopToken):
    """The stop token of the driver, which forwards requests to the ledger."""

    def __init__(self) -> None:
        super().__init__()
        self._note = ""
        self._tell: Callable[[str], None] = _ignore

    def request(self, reason: str | Callable[[], str], *, grace: float = math.inf) -> None:
        """Stop all workers; the first reason is kept."""
        super().request(reason, grace=grace)
        self._note = stop_note(self.reason, grace=grace)
        self._tell(self._note)

    @contextmanager
    def passed_on(self, tell: Callable[[str], None]) -> Iterator[None]:
        """Forward requests with `tell` while the context is open, including an earlier request."""
        self._tell = tell
        if self._note:
            tell(self._note)
        try:
            yield
        finally:
            self._tell = _ignore


class WorkerMeter(Meter):
    """The meter of one worker, which enforces the limits of the whole run.

    `ask` calls the ledger of the run.
    """

    def __init__(self, *, limits: Limits, ask: Ask) -> None:
        super().__init__(limits=limits)
        self.stop_token: StopToken = StopToken()
        self._ask = ask
        self._pending: dict[TokenPrice | None, Usage] = {}
        self._to_release = NOTHING
        self._wanted: list[_Wanted] = []
        self._lock = anyio.Lock()

    async def reserve(self, most: Spending) -> None:
        """Wait until a call that spends at most `most` is reserved in the ledger.

        Raise `RunStoppedError` if the run is stopped instead, and the errors of `Meter.reserve`.
        """
        await super().reserve(most)
        if not self._bounds:
            return
        wanted = _Wanted(most)
        try:
            while not wanted.is_granted:
                await self._want(wanted)
        finally:
            if not wanted.is_sent:  # this task was cancelled or stopped, or the call refused
                wanted.is_left = True
                self.release(most)
                if wanted.is_granted:
                    self._to_release += most

    async def _want(self, wanted: "_Wanted") -> None:
        """Request a call from the ledger once; wait a while if it is not granted."""
        self._wanted.append(wanted)
        try:
            async with self._lock:
                if wanted in self._wanted:  # else another task has just reported it, too
                    await self._report()
        finally:
            if wanted in self._wanted:
                self._wanted.remove(wanted)
        wanted.is_sent = wanted.is_granted
        if wanted.refusal:
            raise OverBudgetError(wanted.refusal)
        if not wanted.is_granted:
            if self.stop_token.is_requested:
                raise RunStoppedError(self.stop_token.reason)
            await anyio.sleep(_TURN)

    async def settle(
        self, most: Spending, usage: Usage, *, price: TokenPrice | None, maker: str
    ) -> None:
        """Replace the reservation of a call by its actual usage; the next note reports it."""
        if self._bounds:
            self._to_release += most
        await super().settle(most, usage, price=price, maker=maker)

    def count(self, usage: Usage, *, price: TokenPrice | None, maker: str = SEATS) -> None:
        """Add the usage of one call, and queue it for the next note."""
        super().count(usage, price=price, maker=maker)
        self._pending[price] = self._pending.get(price, Usage()) + usage

    async def begin(self) -> StopToken:
        """Report; return a new stop token, which is requested if the run should stop."""
        self.stop_token = StopToken()
        await self.report()
        return self.stop_token

    async def report(self) -> None:
        """Report spending to the ledger: other workers may wait for the rest of a reservation."""
        async with self._lock:
            await self._report()

    async def watch(self) -> None:
        """Report periodically, and request a stop when the ledger orders it."""
        while True:
            await anyio.sleep(_PAUSE)
            await self.report()

    async def _report(self) -> None:
        spent = tuple(Spent(usage=usage, price=price) for price, usage in self._pending.items())
        wanted, settled = self._wanted, self._to_release
        self._pending, self._wanted, self._to_release = {}, [], NOTHING
        note = _Note(
            spent=spent,
            settled=settled,
            wanted=tuple(wish.most for wish in wanted),
            budgets=self.budgets,
        )
        own = self.spent  # before the ledger answers: meanwhile it may grow
        with anyio.CancelScope(shield=True):  # the ledger has counted the note, and others wait
            answer = _ANSWER.validate_json(await self._ask(_NOTE.dump_json(note).decode()))
        self.before = {_OTHERS: answer.spent - own}
        for wish in wanted[: answer.granted]:
            wish.is_granted = True
            if wish.is_left:
                self._to_release += wish.most
        if answer.refusal:
            wanted[answer.granted].refusal = answer.refusal
        if stop := answer.stop:
            grace = math.inf if stop.grace is None else stop.grace
            self.stop_token.request(stop.reason, grace=grace)


@dataclass(slots=True, eq=False)
class _Wanted:
    """A call that waits for the ledger, and its outcome."""

    most: Spending
    refusal: str = ""
    is_granted: bool = False
    is_sent: bool = False
    is_left: bool = False
