"""Stopping: a run ends early, at a signal, limit or failure, and work under way may finish."""

import math
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from types import TracebackType
from typing import Self, TypeVar

import anyio
from anyio import CancelScope, create_task_group
from anyio.abc import TaskStatus

from spanjury.judges.core import ConfigError, RunFailedError, first_error_alone

GRACE = 10.0
"""Seconds that work under way may take when a run is to end at once."""

LONGEST_OUTAGE = 60.0
"""Seconds for which a run waits for a model that does not answer, by default."""

LEAST_USABLE, USABLE_WINDOW = 0.1, 50
"""Share of the last assessments that a model must answer usably, and how many these are."""

T = TypeVar("T")
Work = Callable[[], Coroutine[object, object, T]]


class StopToken:
    """End a batch early: nothing new is begun, and what is under way may be finished.

    It is the context of the work that it may end, once. Whatever watches the work may request
    the stop, in the same event loop: a signal, a clock, a meter. `interrupted` says whether
    anything was left undone for it: the request may come when all is done. `failure` is why the
    run cannot go on, to be raised when what was under way has ended; None where it could.
    """

    def __init__(self) -> None:
        self.reason = ""
        self.interrupted = False
        self.failure: RunFailedError | None = None
        self._grace = math.inf
        self._scope: CancelScope | None = None

    @property
    def is_requested(self) -> bool:
        """True if nothing new is to be begun."""
        return bool(self.reason)

    def request(self, reason: str, *, grace: float = math.inf) -> None:
        """Stop; the first reason is kept.

        Parameters
        ----------
        reason
            Why, for the user; not empty.
        grace
            Seconds that what is under way may still take before it is cancelled; the shortest
            of all requests counts.
        """
        self.reason = self.reason or reason
        self._grace = min(self._grace, grace)
        self._limit()

    def fail(self, failure: RunFailedError) -> None:
        """Stop because the run cannot go on; what is under way elsewhere gets its grace."""
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
        """Return whether `error` is the cancellation that the stop token has made itself."""
        assert self._scope is not None
        is_handled = bool(self._scope.__exit__(kind, error, trace))
        self.interrupted |= self._scope.cancelled_caught
        return is_handled

    def _limit(self) -> None:
        if self._scope is not None:
            deadline = anyio.current_time() + self._grace
            self._scope.deadline = min(self._scope.deadline, deadline)


async def run_watched(work: Work[T], *watchers: Work[object]) -> T:
    """Run `work` with `watchers` beside it, which are cancelled when it ends; return its result.

    Watchers begin first: work that blocks the loop at once, as an import does, is watched, too.
    What any of them raises ends all of them, and is raised as it is.
    """
    with first_error_alone():
        async with create_task_group() as group:
            for watch in watchers:
                await group.start(_begun, watch)
            result = await work()
            group.cancel_scope.cancel()
    return result


async def _begun(watch: Work[object], *, task_status: TaskStatus[None]) -> None:
    """Run `watch`; whoever waits for its start goes on when it first waits itself."""
    task_status.started()
    await watch()


async def run_in_time(work: Work[T], stop_token: StopToken, *, seconds: float | None) -> T:
    """Run `work` and return its result; request `stop_token` when so many seconds are over.

    With None for `seconds` there is no such limit.
    """

    async def watch_the_clock() -> None:
        if seconds is not None:
            await anyio.sleep(seconds)
            stop_token.request(f"{seconds:g} seconds are over", grace=GRACE)

    return await run_watched(work, watch_the_clock)


@dataclass(frozen=True, slots=True, kw_only=True)
class FailurePolicy:
    """The measures of a run against models that cannot be used or do not answer.

    Raises `ConfigError` if the outage is negative or has no end, or the share is none.

    Parameters
    ----------
    max_outage
        Seconds for which calls wait for a model that does not answer; 0 to end the run at once.
    min_usable
        Share of the last assessments, 0 to 1, that each model must answer so that it can be used,
        or the run ends; 0 demands nothing.
    usable_window
        How many assessments these are; when the run begins, a third suffices.
    """

    preflight: bool = True
    max_outage: float = LONGEST_OUTAGE
    min_usable: float = LEAST_USABLE
    usable_window: int = USABLE_WINDOW

    def __post_init__(self) -> None:
        if not 0 <= self.max_outage < math.inf:
            raise ConfigError(f"max_outage must be 0 or more seconds, got {self.max_outage!r}")
        if not 0 <= self.min_usable <= 1 or self.usable_window < 1:
            raise ConfigError(
                "min_usable must be a share, 0 to 1, of 1 or more assessments, got"
                f" {self.min_usable!r} of {self.usable_window!r}"
            )
