"""Stopping: ending a run early, at a signal, limit or failure, while work under way may finish."""

import math
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from types import TracebackType
from typing import Self, TypeVar

import anyio
from anyio import CancelScope, create_task_group
from anyio.abc import TaskStatus

from spanjury.judges.core import ConfigError, RunFailedError, check_field_types, first_error_alone

GRACE = 10.0
"""Seconds that work under way may take when a run must end."""

LONGEST_OUTAGE = 60.0
"""Seconds that a run waits by default for a model that does not answer."""

LEAST_USABLE, USABLE_WINDOW = 0.1, 50
"""Least share of usable answers among a model's last assessments, and the number of these."""

T = TypeVar("T")
Work = Callable[[], Coroutine[object, object, T]]


class StopToken:
    """A request to end a batch early: no row is begun and no call is sent; those under way may end.

    It is used once, as the context of the work that it may end. Any observer of the work in the
    same event loop may request the stop: a signal, a clock, a meter. `interrupted` says whether
    anything was left undone: the request may come when all is done. `failure` is the reason why the
    run cannot continue, to be raised when work under way has ended; None if it can.
    """

    def __init__(self) -> None:
        self._reason: str | Callable[[], str] = ""
        self.interrupted = False
        self.failure: RunFailedError | None = None
        self._grace = math.inf
        self._scope: CancelScope | None = None

    @property
    def is_requested(self) -> bool:
        """True if no further row is to be begun, and no further call sent."""
        return bool(self._reason)

    @property
    def reason(self) -> str:
        """The reason of the first request, for the user; empty before it."""
        return self._reason if isinstance(self._reason, str) else self._reason()

    def request(self, reason: str | Callable[[], str], *, grace: float = math.inf) -> None:
        """Request the stop; the first reason is kept.

        Parameters
        ----------
        reason
            Why, for the user; not empty. A function returns it as it is now, such as what is spent
            while calls under way end.
        grace
            Seconds that work under way may still take before it is cancelled; the shortest of all
            requests counts.
        """
        self._reason = self._reason or reason
        self._grace = min(self._grace, grace)
        self._limit()

    def fail(self, failure: RunFailedError) -> None:
        """Stop because the run cannot continue; work under way gets the usual grace period."""
        self.failure = self.failure or failure
        self.request(str(failure), grace=GRACE)

    def __enter__(self) -> Self:
        self._scope = CancelScope()
        self._scope.__enter__()
        self._limit()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        """Return whether `error` is the cancellation that this token caused."""
        assert self._scope is not None
        is_handled = bool(self._scope.__exit__(kind, error, trace))
        self.interrupted |= self._scope.cancelled_caught
        return is_handled

    def _limit(self) -> None:
        if self._scope is not None:
            deadline = anyio.current_time() + self._grace
            self._scope.deadline = min(self._scope.deadline, deadline)


async def run_watched(work: Work[T], *watchers: Work[object]) -> T:
    """Run `work` with `watchers` beside it; cancel these when it ends, and return its result.

    Watchers start first, so that work that blocks the event loop at once, such as an import, is
    watched, too. An exception in any of them ends all of them and is raised unchanged.
    """
    with first_error_alone():
        async with create_task_group() as group:
            for watch in watchers:
                await group.start(_begun, watch)
            result = await work()
            group.cancel_scope.cancel()
    return result


async def _begun(watch: Work[object], *, task_status: TaskStatus[None]) -> None:
    """Run `watch`; report it as started at once: the caller resumes when `watch` first waits."""
    task_status.started()
    await watch()


async def run_in_time(work: Work[T], stop_token: StopToken, *, seconds: float | None) -> T:
    """Run `work` and return its result; request `stop_token` after `seconds`.

    None for `seconds` means no limit.
    """

    async def watch_the_clock() -> None:
        if seconds is not None:
            await anyio.sleep(seconds)
            stop_token.request(f"{seconds:g} seconds are over", grace=GRACE)

    return await run_watched(work, watch_the_clock)


@dataclass(frozen=True, slots=True, kw_only=True)
class FailurePolicy:
    """The measures of a run against models that are unusable or do not answer.

    Raises `ConfigError` if a number is out of range.

    Parameters
    ----------
    max_outage
        Seconds that calls wait for a model that does not answer; 0 to end the run at once.
    min_usable
        Least share, 0 to 1, of the last assessments for which each model must give a usable answer,
        or the run ends; 0 demands nothing.
    usable_window
        The number of these assessments; a third suffices at the beginning of a run.
    """

    preflight: bool = True
    max_outage: float = LONGEST_OUTAGE
    min_usable: float = LEAST_USABLE
    usable_window: int = USABLE_WINDOW

    def __post_init__(self) -> None:
        check_field_types(self)
        if not 0 <= self.max_outage < math.inf:
            raise ConfigError(f"max_outage must be 0 or more seconds, got {self.max_outage!r}")
        if not 0 <= self.min_usable <= 1 or self.usable_window < 1:
            raise ConfigError(
                "min_usable must be a share, 0 to 1, of 1 or more assessments, got"
                f" {self.min_usable!r} of {self.usable_window!r}"
            )
