"""A brake: how a run ends before its end, with nothing cut off that could still be finished."""

import math
from types import TracebackType
from typing import Self

import anyio
from anyio import CancelScope

from spanjury.judges.core import RunFailedError

__all__ = ["GRACE", "Brake", "pull_in_time"]

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
