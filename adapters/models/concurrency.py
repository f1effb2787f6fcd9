"""The number of calls under way at one server: as many as it bears.

The limit falls to a half when the server is overloaded and rises by one when a round of
calls went well, as TCP shares a line among strangers [1]_. Overload is what the server
says (`OverloadedModelError`) or what its silence says (`ModelTimeoutError`); a broken
connection or an internal error is none, since fewer calls would not cure it.

References
----------
.. [1] Chiu, Jain (1989), Computer Networks and ISDN Systems 17(1):1-14,
   doi:10.1016/0169-7552(89)90019-6
"""

import anyio

from spanjury.judges.core import ModelError, ModelTimeoutError, OverloadedModelError


class AdaptiveLimiter:
    """Places for calls, in a number that follows how the calls end.

    Places are given in the order in which they were asked for, each task holds one at
    most. When the limit falls, calls under way go on, and none begins until they are
    fewer than the limit. Waiting and learning are apart, so that a task that holds a place may
    still do something else, or nothing, before the call::

        async with limiter:
            began = limiter.begin()
            try:
                reply = await model.complete(request)
            except ModelError as error:
                limiter.ended(error, began=began)
                raise
            limiter.ended(None, began=began)

    The limit starts at `most` and stays within ``1 <= least <= most``; other bounds raise
    `ValueError`.
    """

    def __init__(self, *, least: int, most: int) -> None:
        if not 1 <= least <= most:
            raise ValueError(f"expected 1 <= least <= most, got {least} and {most}")
        self._least = least
        self._most = most
        self._limit = most
        self._limiter = anyio.CapacityLimiter(most)
        self._cuts = 0
        self._successes = 0
        self._was_full = False

    @property
    def limit(self) -> int:
        """Calls that may be under way now."""
        return self._limit

    @property
    def under_way(self) -> int:
        """Places that are taken; more than `limit` for a while after it fell."""
        return self._limiter.borrowed_tokens

    @property
    def outstanding(self) -> int:
        """Places that are taken or waited for."""
        return self._limiter.borrowed_tokens + self._limiter.statistics().tasks_waiting

    async def acquire(self) -> None:
        """Wait for a place and take it."""
        try:
            self._limiter.acquire_nowait()  # spares a turn of the event loop
        except anyio.WouldBlock:
            await self._limiter.acquire()

    def release(self) -> None:
        """Give the place back."""
        self._limiter.release()

    async def __aenter__(self) -> None:
        await self.acquire()

    async def __aexit__(self, *_: object) -> None:
        self.release()

    def begin(self) -> int:
        """Begin a call; the task holds a place. Return what `ended` is to be given."""
        self._was_full |= self.under_way >= self._limit
        return self._cuts

    def ended(self, error: ModelError | None, *, began: int) -> None:
        """Learn from how one call ended: in `error`, or well.

        A call that began before the limit last fell says nothing about the new limit: of
        all the calls of one round trip, the first that meets overload counts.
        """
        if began != self._cuts:
            return
        if error is None:
            self._succeed()
        elif isinstance(error, OverloadedModelError | ModelTimeoutError):
            self._cut()

    def _cut(self) -> None:
        self._cuts += 1
        self._begin_round(max(self._least, self._limit // 2))

    def _succeed(self) -> None:
        """Count a success; a full round of them earns one place more, if places ran out."""
        self._successes += 1
        if self._successes >= self._limit:
            self._begin_round(min(self._most, self._limit + self._was_full))

    def _begin_round(self, limit: int) -> None:
        self._successes = 0
        self._was_full = False
        if limit != self._limit:
            self._limit = self._limiter.total_tokens = limit
