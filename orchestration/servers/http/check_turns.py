"""Turns of checks at one panel: which check begins next, and which are refused.

A check that is accepted begins soon. The expected seconds until then decide, not the number of
other checks, since those of one panel take a hundred times as long as another's.
"""

import math
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from time import perf_counter

from anyio import Event

from spanjury.orchestration.servers.http.problems import ProblemError
from spanjury.orchestration.services.serving.turns import Turns, has_share

_AT_ONCE = 0.02
"""Seconds of work under way per lane beyond which no check begins: the event loop needs breaks."""
_FIRST = 0.01
"""Assumed seconds of a check until one was measured."""
_NONE = Counter[str]()
_WEIGHT = 0.1
"""Weight of a check in the moving averages."""


@dataclass(slots=True, kw_only=True, eq=False)
class _Check:
    tenant: str
    characters: int
    seconds: float
    started: float = 0.0
    begun: Event = field(default_factory=Event)


class CheckTurns:
    """The checks of one panel that are under way or wait.

    At most `most` are under way. A check that may be expected to wait longer than `longest_wait`
    seconds is refused. `lanes` returns the number of checks that take no longer together than a
    single one. `noted` is called with the number of checks under way whenever it changes.
    """

    def __init__(
        self,
        *,
        most: int,
        longest_wait: float,
        lanes: Callable[[], int],
        is_shared: bool,
        noted: Callable[[int], None] = lambda _: None,
        now: Callable[[], float] = perf_counter,
    ) -> None:
        self._most = most
        self._longest_wait = longest_wait
        self._lanes = lanes
        self._is_shared = is_shared
        self._noted = noted
        self._now = now
        self._waiting = Turns[_Check]()
        self._running = Counter[str]()
        self._arriving = Counter[str]()
        """Checks that were admitted by their heads but are not queued yet, by tenant."""
        self._begun = 0.0
        """Expected seconds of all checks under way."""
        self._clock = self._seen = 0.0
        """Seconds that each check under way has had to itself, and when they were last counted."""
        self._measured = 0
        self._seconds, self._characters = _FIRST, math.inf
        """Averages over checks; until one was measured, length has no effect."""

    def wait(self, tenant: str) -> float:
        """Return the seconds until a new check of this tenant is expected to begin."""
        if tenant not in self._waiting and self._has_room(tenant, besides=self._arriving):
            return 0.0
        ahead = self._waiting.ahead(tenant) + self._arriving[tenant] * self._seconds
        return (ahead + self._seconds) / self._lanes()

    def require_soon(self, tenant: str) -> None:
        """Raise `ProblemError` if a check of this tenant would not begin soon enough."""
        wait = self.wait(tenant)
        if wait > self._longest_wait:
            raise ProblemError(
                "too-busy",
                f"a check would wait {math.ceil(wait)} s, and {self._longest_wait:g} s is the most",
                headers={"Retry-After": f"{max(1, math.ceil(wait - self._longest_wait))}"},
            )

    def arrive(self, tenant: str) -> Callable[[], None]:
        """Count a check that is admitted by its head until the returned function is called.

        Raise `ProblemError` if it would not begin soon enough. Otherwise a crowd whose heads arrive
        before the first body would be admitted, and refused later at a hundred times the cost.
        """
        self.require_soon(tenant)
        self._arriving[tenant] += 1
        is_there = True

        def leave() -> None:
            nonlocal is_there
            self._arriving[tenant] -= is_there
            is_there = False

        return leave

    @asynccontextmanager
    async def turn(self, tenant: str, *, characters: int) -> AsyncIterator[None]:
        """Wait for the turn of a check, which lasts while the context is open.

        Raise `ProblemError` if it would not begin soon enough.
        """
        self.require_soon(tenant)
        # A text of usual length takes the average, and a longer one more.
        seconds = self._seconds * max(1.0, characters / self._characters)
        check = _Check(tenant=tenant, characters=characters, seconds=seconds)
        self._waiting.add(check, tenant=tenant, cost=seconds)
        self._begin()
        try:
            await check.begun.wait()
            yield
            self._measure(check)
        finally:
            self._end(check)

    def _has_room(self, tenant: str, *, besides: Counter[str] = _NONE) -> bool:
        """Return whether a check may begin if those in `besides` begin before it."""
        held, lanes = self._running + besides, self._lanes()
        if not has_share(held, tenant, most=self._most, is_shared=self._is_shared):
            return False
        begun = self._begun + besides.total() * self._seconds
        return held.total() < lanes or begun < _AT_ONCE * lanes

    def _begin(self) -> None:
        while (check := self._waiting.take(self._has_room)) is not None:
            self._tick()
            self._running[check.tenant] += 1
            self._begun += check.seconds
            check.started = self._clock
            check.begun.set()
        self._noted(self._running.total())

    def _end(self, check: _Check) -> None:
        if check.begun.is_set():
            self._tick()
            self._running[check.tenant] -= 1
            # Without any check it is exactly 0, so that rounding errors do not add up.
            self._begun = self._begun - check.seconds if self._running.total() else 0.0
        else:
            self._waiting.remove(check)
        self._begin()

    def _tick(self) -> None:
        """Advance the clock: if more checks than lanes are under way, each is slowed down."""
        now, running = self._now(), self._running.total()
        if running:
            self._clock += (now - self._seen) * min(1.0, self._lanes() / running)
        self._seen = now

    def _measure(self, check: _Check) -> None:
        self._tick()
        self._measured += 1
        weight = max(_WEIGHT, 1 / self._measured)  # the plain mean at first
        before = self._characters if self._measured > 1 else 0.0  # it was infinite until now
        self._characters = before + weight * (max(1, check.characters) - before)
        self._seconds += weight * (self._clock - check.started - self._seconds)
