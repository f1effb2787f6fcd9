"""Evidence about a model's health: outages, uniform complaints, and the share of usable answers."""

import math
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

from spanjury.judges.core import USABLE, EventLog, ModelError, Report, first_error_alone, kind_of

ALIKE = 3
"""Number of equal failures in a row, refusals or complaints, after which the run fails."""

log = EventLog()

T = TypeVar("T")


class Outage:
    """The wait for a model, logged once when it begins and once when it ends.

    Calls wait at most `longest` seconds. A wait is logged once a probe has failed, or after
    `silence` seconds without any reply; then its first error is logged as well. The log has the
    `name` of the model and no address; messages on screen use `where`.
    """

    def __init__(
        self, name: str, *, where: str, longest: float, silence: float, clock: Callable[[], float]
    ) -> None:
        self._name = name
        self._where = where
        self._longest = longest
        self._silence = silence
        self._clock = clock
        self._began: float | None = None
        self._has_reason = False
        self._shown_from = 0.0
        self._limit = longest
        self._answers = 0

    def begin(self, error: ModelError | None = None, *, longest: float | None = None) -> None:
        """Log that calls wait because of `error`, or because there is no reply yet."""
        if self._began is None:
            self._began = self._clock()
            self._shown_from = time.monotonic()  # other threads cannot read the event loop's clock
            self._limit = self._longest if longest is None else longest
        elif error is None or self._has_reason:
            return
        self._has_reason = error is not None
        log.warning(
            "outage.begun",
            model=self._name,
            longest=self._limit,
            error="no reply yet" if error is None else error.unconnected or kind_of(error),
        )

    def end(self) -> None:
        """Record that the model has answered; log it if calls were waiting."""
        self._answers += 1
        if self._began is not None:
            seconds = self._clock() - self._began
            self._began = None
            log.warning("outage.ended", model=self._name, seconds=seconds)

    def waiting(self, now: float) -> str:
        """Return for what, and how long at monotonic time `now`, calls wait; "" if none do."""
        if self._began is None:
            return ""
        seconds = max(0.0, now - self._shown_from)
        return f"waiting for {self._where} ({seconds:.0f} s of {self._limit:.0f})"

    async def watch(self, probe: Callable[[], Awaitable[T]]) -> T:
        """Return the result of `probe`; log an outage if it takes long."""

        async def tell() -> None:
            await anyio.sleep(self._silence)
            self.begin()

        with first_error_alone():
            async with anyio.create_task_group() as group:
                group.start_soon(tell)
                outcome = await probe()
                group.cancel_scope.cancel()
        return outcome

    async def pause(
        self, seconds: float, error: ModelError, *, sleep: Callable[[float], Awaitable[None]]
    ) -> float:
        """Sleep for the silent part of the wait before a retry; return the seconds left.

        If no other call was answered meanwhile, log an outage for the rest of the wait.
        """
        answers, silent = self._answers, min(seconds, self._silence)
        await sleep(silent)
        left = seconds - silent
        if left > 0 and answers == self._answers:
            self.begin(error, longest=left)
        return left


class Complaints:
    """Counts the complaints of a model that has never replied.

    A text that is too long gets a complaint of its own. If a model says the same about every
    request, including the probe, an option is unknown to it, or it is the wrong model.
    """

    def __init__(self) -> None:
        self._has_replied = False
        self._last = ""
        self._alike = 0
        self._of_probe: str | None = None

    def replied(self) -> None:
        """Record a reply: from now on each complaint concerns its own request only."""
        self._has_replied = True

    def add(self, error: ModelError) -> None:
        """Count a complaint."""
        message = str(error)
        self._alike = self._alike + 1 if message == self._last else 1
        self._last = message

    def add_of_probe(self, error: ModelError) -> None:
        """Record that the complaint added last was about the probe."""
        self._of_probe = str(error)

    @property
    def are_suspicious(self) -> bool:
        """True if the probe should be sent, to see whether it gets the same complaint."""
        return self._are_many and self._of_probe is None

    @property
    def are_of_all(self) -> bool:
        """True if the model has the same complaint about every request."""
        return self._are_many and self._of_probe == self._last

    @property
    def _are_many(self) -> bool:
        return not self._has_replied and self._alike >= ALIKE


class UsableShare:
    """The share of a model's last `window` assessments that are usable.

    A share below `least` is too small; 0 accepts any. At the start of a run, a third of the window
    is enough to decide.
    """

    def __init__(self, *, least: float = 0.0, window: int = 1) -> None:
        self.enough = max(1, window // 3) if least else math.inf
        self._least = least
        self._last: deque[Report] = deque(maxlen=window)

    def add(self, report: Report) -> None:
        """Add the report of an assessment for which the model was called."""
        self._last.append(report)

    @property
    def is_too_small(self) -> bool:
        """True if too few of the model's answers are usable."""
        return len(self._last) >= self.enough and self._usable < self._least * len(self._last)

    @property
    def _usable(self) -> int:
        return sum(report.outcome in USABLE for report in self._last)

    def __str__(self) -> str:
        failed = [report for report in self._last if report.outcome not in USABLE]
        outcomes = Counter(report.outcome.value for report in failed).most_common()
        counts = ", ".join(f"{count} {outcome}" for outcome, count in outcomes)
        ((reason, _),) = Counter(report.reason for report in failed).most_common(1)
        return (
            f"{self._usable} of its last {len(self._last)} assessments can be used ({counts}: "
            f"{reason}), and {self._least:.0%} is the least that a run goes on with (--min-usable)"
        )
