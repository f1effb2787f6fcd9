"""A brake: how a run ends before its end, with nothing cut off that could still be finished."""

import math
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import anyio
from anyio import CancelScope, create_task_group
from anyio.lowlevel import checkpoint

from spanjury.judges.core import ConfigError, RunFailedError

__all__ = [
    "GRACE",
    "LONGEST_OUTAGE",
    "Brake",
    "FailurePolicy",
    "first_error_alone",
    "pull_in_time",
    "run_watched",
]

GRACE = 10.0
"""Seconds that what is under way may take when a run is to end at once."""


class Brake:
    """End a batch early: nothing new is begun, and what is under way may be finished.

    It is the context of the work that it may end, once. Whatever watches the work may pull
    it, in the same event loop: a signal, a clock, a meter. `has_cut` says whether anything
    was left undone for it: it may be pulled when all is done. `failure` is why the run
    cannot go on, to be raised when what was under way has ended; None where it could.
    """

    def __init__(self) -> None:
        self.reason = ""
        self.has_cut = False
        self.failure: RunFailedError | None = None
        self._grace = math.inf
        self._scope: CancelScope | None = None

    @property
    def is_pulled(self) -> bool:
        """Whether nothing new is to be begun."""
        return bool(self.reason)

    def pull(self, reason: str, *, grace: float = math.inf) -> None:
        """Stop; the first reason is the one that is told.

        Parameters
        ----------
        reason
            Why, for the user; not empty.
        grace
            Seconds that what is under way may still take before it is cancelled.
        """
        self.reason = self.reason or reason
        self._grace = grace
        self._limit()

    def fail(self, failure: RunFailedError) -> None:
        """Stop because the run cannot go on; what is under way elsewhere gets its grace."""
        self.failure = self.failure or failure
        self.pull(str(failure), grace=GRACE)

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
        """Return whether `error` is the cancellation of the brake's own making."""
        assert self._scope is not None
        is_handled = bool(self._scope.__exit__(kind, error, trace))
        self.has_cut |= self._scope.cancelled_caught
        return is_handled

    def _limit(self) -> None:
        if self._scope is not None:
            deadline = anyio.current_time() + self._grace
            self._scope.deadline = min(self._scope.deadline, deadline)


async def pull_in_time(brake: Brake, seconds: float | None) -> None:
    """Pull `brake` when so many seconds are over; None for never."""
    if seconds is not None:
        await anyio.sleep(seconds)
        brake.pull(f"{seconds:g} seconds are over", grace=GRACE)


Task = Callable[[], Coroutine[object, object, None]]


async def run_watched(work: Task, *watchers: Task) -> None:
    """Run `work` with `watchers` beside it; they are cancelled when it ends.

    Watchers begin first: work that blocks the loop at once, as an import does, is watched, too.
    What any of them raises ends all of them, and is raised as it is.
    """
    with first_error_alone():
        async with create_task_group() as group:
            for watch in watchers:
                group.start_soon(watch)
            await checkpoint()
            await work()
            group.cancel_scope.cancel()


@contextmanager
def first_error_alone() -> Iterator[None]:
    """Raise the first error of a task group in place of the group.

    For a group whose tasks work on one thing: what follows the first error follows from it.
    """
    try:
        yield
    except ExceptionGroup as group:
        raise _first(group) from group


def _first(group: ExceptionGroup[Exception]) -> Exception:
    error = group.exceptions[0]
    return _first(error) if isinstance(error, ExceptionGroup) else error


LONGEST_OUTAGE = 60.0
"""Seconds for which a run waits for a model that does not answer, if nothing else is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailurePolicy:
    """The measures of a run against models that cannot be used or do not answer.

    Parameters
    ----------
    preflight
        Each model answers one small call before anything else is asked of it.
    max_outage
        Seconds for which calls wait for a model that does not answer; 0 to end the run at once.

    Raises
    ------
    ConfigError
        If the outage is negative or has no end.
    """

    preflight: bool = True
    max_outage: float = LONGEST_OUTAGE

    def __post_init__(self) -> None:
        if not 0 <= self.max_outage < math.inf:
            raise ConfigError(f"max_outage must be 0 or more seconds, got {self.max_outage!r}")
