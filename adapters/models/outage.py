"""The signs by which a circuit knows its model: silence, which is logged, and complaints."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

from spanjury.judges.core import EventLog, ModelError, kind_of

ALIKE = 3
"""Failures alike in a row after which a model is given up: refusals, or complaints."""

log = EventLog()

T = TypeVar("T")


class Outage:
    """The wait for a model, logged once when it begins and once when it ends.

    Calls wait for at most `longest` seconds. A wait is logged after `silence` seconds without any
    reply, though there may be none.
    """

    def __init__(
        self, name: str, *, longest: float, silence: float, clock: Callable[[], float]
    ) -> None:
        self._name = name
        self._longest = longest
        self._silence = silence
        self._clock = clock
        self._began: float | None = None
        self._answers = 0

    def begin(self, error: ModelError | None = None, *, longest: float | None = None) -> None:
        """Tell that calls wait because of `error`, or because no reply came yet."""
        if self._began is None:
            self._began = self._clock()
            log.warning(
                "outage.begun",
                model=self._name,
                longest=self._longest if longest is None else longest,
                error="no reply yet" if error is None else kind_of(error),
            )

    def end(self) -> None:
        """Note that the model has answered; tell that calls go on, if they waited."""
        self._answers += 1
        if self._began is not None:
            seconds = self._clock() - self._began
            self._began = None
            log.warning("outage.ended", model=self._name, seconds=seconds)

    async def watch(self, probe: Callable[[], Awaitable[T]]) -> T:
        """Return what `probe` does; tell of the wait if it takes long."""

        async def tell() -> None:
            await anyio.sleep(self._silence)
            self.begin()

        async with anyio.create_task_group() as group:
            group.start_soon(tell)
            outcome = await probe()
            group.cancel_scope.cancel()
        return outcome

    async def pause(
        self, seconds: float, error: ModelError, *, sleep: Callable[[float], Awaitable[None]]
    ) -> None:
        """Sleep before a call is tried again; tell of it where no other call is answered."""
        answers, silent = self._answers, min(seconds, self._silence)
        await sleep(silent)
        if silent < seconds:
            if answers == self._answers:
                self.begin(error, longest=seconds - silent)
            await sleep(seconds - silent)


class Complaints:
    """Complaints of a model that has never replied.

    A text that is too long gets a complaint of its own. A model that says the same of every
    request, the probe among them, has an option that it does not know, or is another one.
    """

    def __init__(self) -> None:
        self._has_replied = False
        self._last = ""
        self._alike = 0
        self._of_probe: str | None = None

    def replied(self) -> None:
        """Note a reply: from now on every complaint is a request's own."""
        self._has_replied = True

    def add(self, error: ModelError) -> None:
        """Note a complaint."""
        said = str(error)
        self._alike = self._alike + 1 if said == self._last else 1
        self._last = said

    def add_of_probe(self, error: ModelError) -> None:
        """Note that the complaint that was added last is of the probe."""
        self._of_probe = str(error)

    @property
    def are_suspicious(self) -> bool:
        """Whether the probe should be asked, which was not asked yet."""
        return self._are_many and self._of_probe is None

    @property
    def are_of_all(self) -> bool:
        """Whether the model says the same of whatever it is asked."""
        return self._are_many and self._of_probe == self._last

    @property
    def _are_many(self) -> bool:
        return not self._has_replied and self._alike >= ALIKE
