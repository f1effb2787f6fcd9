"""Several servers of one model: load balancing, and resting servers that fail.

The gateway keeps one `Endpoints`, even for one server, and nests its parts in each attempt of a
call, from the outside in::

    Gateway                retries, and for each attempt
      Endpoints.slot       chooses a server and waits for a slot there (AdaptiveLimiter)
        RateLimit.admit    waits until the limits per minute allow the call
          Endpoint.ended   records how it ends, for the server's limit and health
            CancelScope    limits its time, which excludes all waiting
              ChatModel.complete

So the gateway keeps retries and time limits to itself. `Endpoints` is not a `ChatModel`, because a
call must wait for its slot outside the time limit, and a time-out must be seen inside the slot.
"""

import math
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager

import anyio

from spanjury.judges.core import (
    ChatModel,
    ChatRequest,
    ConfigError,
    EventLog,
    ModelError,
    ModelOptions,
    ModelTimeoutError,
    OverloadedModelError,
    RateLimitedModelError,
    TransientModelError,
    UnusableModelError,
    Usage,
)


class AdaptiveLimiter:
    """Slots for calls to one server; their number adapts to how the calls end.

    The limit is halved when the server is overloaded, and rises by one after a round of successful
    calls, like TCP's congestion control [1]_. Overload is reported by the server
    (`OverloadedModelError`), or inferred from its silence (`ModelTimeoutError`). Broken connections
    and internal errors do not count, since fewer calls would not prevent them.

    Slots are given first come, first served, at most one per task. When the limit falls, running
    calls continue, and none starts until they are fewer than the limit. Acquiring a slot and
    recording the call are separate steps, so that a task with a slot may still do other work, or
    give up, before the call.

    The limit starts at `most` and stays within ``1 <= least <= most``.

    References
    ----------
    .. [1] Chiu, Jain (1989), Computer Networks and ISDN Systems 17(1):1-14,
       doi:10.1016/0169-7552(89)90019-6
    """

    def __init__(self, *, least: int, most: int) -> None:
        self._least = least
        self._most = most
        self._limit = most
        self._limiter = anyio.CapacityLimiter(most)
        self._cuts = 0
        self._successes = 0
        self._was_full = False

    @property
    def limit(self) -> int:
        """Maximum number of concurrent calls at present."""
        return self._limit

    @property
    def under_way(self) -> int:
        """Slots in use; for a while more than `limit` after it fell."""
        return self._limiter.borrowed_tokens

    @property
    def outstanding(self) -> int:
        """Slots in use, plus tasks waiting for one."""
        return self._limiter.borrowed_tokens + self._limiter.statistics().tasks_waiting

    async def acquire(self) -> None:
        """Wait for a slot and take it."""
        try:
            self._limiter.acquire_nowait()  # skips a cycle of the event loop
        except anyio.WouldBlock:
            await self._limiter.acquire()

    def release(self) -> None:
        """Release the slot."""
        self._limiter.release()

    def begin(self) -> int:
        """Start a call in the task's slot; return the value to pass to `ended` as `began`."""
        self._was_full |= self.under_way >= self._limit
        return self._cuts

    def ended(self, error: ModelError | None, *, began: int) -> None:
        """Record how one call ended: with `error`, or with a reply.

        Calls that began before the limit last fell say nothing about the new limit. So of all calls
        in one round trip, only the first overload counts.
        """
        if began != self._cuts:
            return
        if error is None:
            self._successes += 1
            if self._successes >= self._limit:  # a full round
                self._begin_round(min(self._most, self._limit + self._was_full))
        elif isinstance(error, OverloadedModelError | ModelTimeoutError):
            self._cuts += 1
            self._begin_round(max(self._least, self._limit // 2))

    def _begin_round(self, limit: int) -> None:
        self._successes = 0
        self._was_full = False
        if limit != self._limit:
            self._limit = self._limiter.total_tokens = limit


_AT_ONCE = 0.1  # share of a minute's allowance
_SECONDS = 60.0
_CHARACTERS_PER_TOKEN = 4  # in English prose; corrected by the reply's usage
_ROUNDING = 1e-9  # share of the capacity: allows for rounding after a wait of exactly `delay`


class RateLimit:
    """Delays calls to stay within two limits per minute, first come, first served.

    A tenth of a minute's allowance may be sent at once; the other nine tenths become available
    evenly over the minute. So no window of a minute exceeds the limit, however the server counts.
    In return, a throttled run reaches nine tenths of the limit. Tokens are estimated before the
    call and corrected after it. A call of more than a tenth of the minute's tokens exceeds the
    limit by the surplus.

    The first call in the queue waits until both buckets hold what it needs; the others wait behind
    it. The amount is taken when the call is sent, so a call cancelled while waiting has taken
    nothing. Without limits, calls do not wait.
    """

    def __init__(
        self,
        *,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        clock: Callable[[], float] = anyio.current_time,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._requests = Bucket(requests_per_minute) if requests_per_minute else None
        self._tokens = Bucket(tokens_per_minute) if tokens_per_minute else None
        self._clock = clock
        self._sleep = sleep
        self._head = anyio.Lock()  # first come, first served
        self._has_more = anyio.Event()

    async def admit(self, request: ChatRequest) -> int:
        """Wait until `request` may be sent; return its estimated tokens, for `settle`."""
        if self._requests is None and self._tokens is None:
            return 0
        tokens = estimated_tokens(request)
        both = ((self._requests, 1), (self._tokens, tokens))
        needs = [(bucket, amount) for bucket, amount in both if bucket is not None]
        async with self._head:
            while (delay := _delay(needs, now=self._clock())) > 0:
                await self._wait(delay)
            for bucket, amount in needs:
                bucket.take(amount)
        return tokens

    def settle(self, usage: Usage, *, reckoned: int) -> None:
        """Replace the estimate of `admit` by the actual usage.

        If a reply reports no usage, or the call fails, the estimate stays.
        """
        spent = usage.prompt + usage.completion
        if self._tokens is not None and spent > 0:
            self._tokens.give_back(reckoned - spent, now=self._clock())
            if spent < reckoned:
                self._has_more.set()

    async def _wait(self, seconds: float) -> None:
        """Wait for `seconds`, or until a reply has taken fewer tokens than estimated."""
        self._has_more = has_more = anyio.Event()

        async def wake() -> None:
            await has_more.wait()
            group.cancel_scope.cancel()

        async with anyio.create_task_group() as group:
            group.start_soon(wake)
            await self._sleep(seconds)
            group.cancel_scope.cancel()


class Bucket:
    """An allowance that refills evenly up to its capacity.

    The amounts taken within ``t`` seconds sum to at most ``capacity + rate * t``, as long as no
    single amount exceeds the capacity. A larger amount waits for a full bucket, and leaves a debt
    for which later amounts wait.

    `per_minute` is the limit for any window of a minute, 1 or more.
    """

    def __init__(self, per_minute: int) -> None:
        self.capacity = max(1.0, per_minute * _AT_ONCE)
        self.rate = per_minute * (1.0 - _AT_ONCE) / _SECONDS
        self._level = self.capacity
        self._filled_at = -math.inf

    def delay(self, amount: float, *, now: float) -> float:
        """Return the seconds until `amount` may be taken; 0 if that is now."""
        self._fill(now)
        lacking = min(amount, self.capacity) - self._level
        return lacking / self.rate if lacking > self.capacity * _ROUNDING else 0.0

    def take(self, amount: float) -> None:
        """Take `amount`; call it only when `delay` returns 0."""
        self._level -= amount

    def give_back(self, amount: float, *, now: float) -> None:
        """Return unused allowance; a negative `amount` takes more."""
        self._fill(now)
        self._level += amount  # the next fill caps it at the capacity

    def _fill(self, now: float) -> None:
        self._level = min(self.capacity, self._level + self.rate * (now - self._filled_at))
        self._filled_at = now


def _delay(needs: Iterable[tuple[Bucket, int]], *, now: float) -> float:
    """Return the seconds until each bucket holds the amount that is needed."""
    return max(bucket.delay(amount, now=now) for bucket, amount in needs)


def estimated_tokens(request: ChatRequest) -> int:
    """Estimate the tokens of a call before it is made.

    The estimate is a quarter of the prompt's characters, rounded up, plus the longest reply
    allowed. For scripts with about a token per character it is too low, until the reply corrects
    it.
    """
    characters = sum(len(message.content) for message in request.messages) + len(request.prefix)
    return math.ceil(characters / _CHARACTERS_PER_TOKEN) + request.decoding.max_tokens


PATIENCE = 3
"""Failures in a row after which a server rests."""

FIRST_REST = 1.0
"""Seconds of the first rest; each further rest is twice as long."""

LONGEST_REST = 60.0
"""Longest rest, in seconds."""

log = EventLog()


class Endpoint:
    """One server of a model: its concurrency limit and its health.

    `number` counts the model's servers from 1; the log uses it in place of the address. After
    `patience` failures in a row the server rests; then one call, a probe, tests it. The only server
    of a model has infinite patience, since no other could replace it.
    """

    def __init__(
        self,
        model: ChatModel,
        *,
        number: int,
        limiter: AdaptiveLimiter,
        patience: float = PATIENCE,
        clock: Callable[[], float] = anyio.current_time,
    ) -> None:
        self.model = model
        self.limiter = limiter
        self.failures = 0
        self._number = number
        self._patience = patience
        self._clock = clock
        self._rest = FIRST_REST
        self._rests_until = -math.inf
        self.probes = 0

    @property
    def is_sick(self) -> bool:
        """True if it has failed `patience` times in a row."""
        return self.failures >= self._patience

    @property
    def is_ejected(self) -> bool:
        """True if it gets no calls: it rests, or one call is testing whether it works again."""
        return self.is_sick and (self._clock() < self._rests_until or self.probes > 0)

    def ended(self, error: ModelError | None, *, began: int) -> None:
        """Record how a call to it ended: with `error`, or with a reply.

        Transient failures, such as time-outs and 5xx, count against the server, as do an unknown
        model and a refused key. Any other error shows that the server is up, and so does one about
        too many requests.
        """
        self.limiter.ended(error, began=began)
        well = error is None or isinstance(error, RateLimitedModelError)
        if isinstance(error, TransientModelError | UnusableModelError) and not well:
            self._failed()
        else:
            self._answered()

    def _failed(self) -> None:
        self.failures += 1
        now = self._clock()
        if not self.is_sick or now < self._rests_until:
            return  # calls already running when it was ejected do not prolong its rest
        log.warning(
            "endpoint.ejected",
            model=self.model.signature,
            endpoint=self._number,
            failures=self.failures,
            seconds=self._rest,
        )
        self._rests_until = now + self._rest
        self._rest = min(LONGEST_REST, 2 * self._rest)

    def _answered(self) -> None:
        if self.is_sick:
            log.info("endpoint.returned", model=self.model.signature, endpoint=self._number)
        self.failures = 0
        self._rest = FIRST_REST
        self._rests_until = -math.inf


class Endpoints:
    """The servers of one model.

    A call goes to a server with a free slot; among these to the one with the fewest outstanding
    calls, and then to the first. After a failure, the next attempt prefers a server not yet tried.
    A server that fails `PATIENCE` times in a row rests, and must then answer one call before it
    gets more. If all servers rest, the one with the fewest failures is used.

    `models` are the same model, each at one server; `options` limit the concurrent calls of each.
    Raises `ConfigError` if there are none, or their signatures differ.
    """

    def __init__(
        self,
        models: Sequence[ChatModel],
        *,
        options: ModelOptions,
        clock: Callable[[], float] = anyio.current_time,
    ) -> None:
        signatures = sorted({model.signature for model in models})
        if len(signatures) != 1:
            raise ConfigError(f"endpoints must serve one model, got {signatures!r}")
        self._endpoints = tuple(
            Endpoint(
                model,
                number=number,
                limiter=AdaptiveLimiter(
                    least=options.min_connections, most=options.max_connections
                ),
                patience=PATIENCE if len(models) > 1 else math.inf,
                clock=clock,
            )
            for number, model in enumerate(models, start=1)
        )

    @property
    def limit(self) -> int:
        """Maximum number of concurrent calls at present, over all servers."""
        return sum(endpoint.limiter.limit for endpoint in self._endpoints)

    @property
    def under_way(self) -> int:
        """Number of calls that hold a slot, including those waiting for the limits per minute."""
        return sum(endpoint.limiter.under_way for endpoint in self._endpoints)

    def slot(self, *, tried: list[Endpoint]) -> AbstractAsyncContextManager[Endpoint]:
        """Return a slot at a server, held for one attempt; the server is added to `tried`."""
        return _Slot(self, tried)

    async def take(self, tried: list[Endpoint]) -> Endpoint:
        """Wait for a slot at the best server, and take it."""
        while True:
            endpoint = self._best(tried)
            await endpoint.limiter.acquire()
            # It may have been ejected while this call waited for its slot.
            if not endpoint.is_ejected or all(other.is_ejected for other in self._endpoints):
                tried.append(endpoint)
                return endpoint
            endpoint.limiter.release()

    def _best(self, tried: Sequence[Endpoint]) -> Endpoint:
        """Return the best server; of equal ones, the first."""
        if len(self._endpoints) == 1:
            return self._endpoints[0]

        def badness(endpoint: Endpoint) -> tuple[float, ...]:
            ejected = endpoint.is_ejected
            limiter = endpoint.limiter
            return (
                endpoint.failures if ejected else 0,
                tried.count(endpoint),
                limiter.under_way >= limiter.limit,
                limiter.outstanding,
            )

        return min(self._endpoints, key=badness)


class _Slot:
    """A slot at a server; a class, because a generator's context would double its cost."""

    __slots__ = ("_endpoint", "_endpoints", "_is_probe", "_tried")

    def __init__(self, endpoints: Endpoints, tried: list[Endpoint]) -> None:
        self._endpoints = endpoints
        self._tried = tried
        self._endpoint: Endpoint | None = None
        self._is_probe = False

    async def __aenter__(self) -> Endpoint:
        endpoint = self._endpoint = await self._endpoints.take(self._tried)
        self._is_probe = endpoint.is_sick  # which gets one call at a time
        endpoint.probes += self._is_probe
        return endpoint

    async def __aexit__(self, *_: object) -> None:
        assert self._endpoint is not None
        self._endpoint.probes -= self._is_probe
        self._endpoint.limiter.release()
