"""Several servers of one model: which is asked next, and which is left alone for a while.

The gateway keeps one set of endpoints, of one where there is one server, and nests them in
each attempt of a call, from the outside in::

    Gateway                tries again, and for each attempt
      Endpoints.slot       chooses a server and waits for a place there (AdaptiveLimiter)
        RateLimit.admit    waits until the minute allows it
          Endpoint.ended   learns how it ends, for the server's limit and health
            CancelScope    bounds its time, so that no wait counts against it
              ChatModel.complete

So retries and time limits stay the gateway's; `Endpoints` is no `ChatModel`, since a place
must be waited for outside the time limit and a time-out must be seen inside the place.
"""

import math
from collections.abc import Awaitable, Callable, Sequence
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
    """Places for calls at one server, in a number that follows how the calls end.

    The limit falls to a half when the server is overloaded and rises by one when a round of calls
    went well, as TCP shares a line among strangers [1]_. Overload is what the server says
    (`OverloadedModelError`) or what its silence says (`ModelTimeoutError`); a broken connection or
    an internal error is none, since fewer calls would not cure it.

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

    References
    ----------
    .. [1] Chiu, Jain (1989), Computer Networks and ISDN Systems 17(1):1-14,
       doi:10.1016/0169-7552(89)90019-6
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


_AT_ONCE = 0.1  # of a minute's allowance
_SECONDS = 60.0
_CHARACTERS_PER_TOKEN = 4  # of English prose; it is corrected when the reply is there
_ROUNDING = 1e-9  # of the capacity: a wait as long as was asked is long enough


class RateLimit:
    """Let calls through as fast as two limits a minute allow, in the order in which they came.

    A tenth of a minute's allowance may be sent at once, the other nine tenths flow in evenly over
    the minute: no minute, wherever it begins, sees more than the limit, however the server counts.
    The price is that a run which is held back reaches nine tenths of it. Tokens are estimated
    before the call and corrected after it, and a call of more than a tenth of the minute's tokens
    exceeds the limit by the surplus.

    The call at the head waits, once, until both buckets hold what it needs; the others wait behind
    it. What it needs is taken when it goes, so that one which is cancelled while it waits has
    taken nothing. Without a limit there is nothing to wait for.
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

    async def admit(self, request: ChatRequest) -> int:
        """Wait until `request` may be sent; return the tokens it is reckoned at, for `settle`."""
        if self._requests is None and self._tokens is None:
            return 0
        tokens = estimated_tokens(request)
        async with self._head:
            while (delay := self._delay(tokens)) > 0:
                await self._sleep(delay)
            if self._requests is not None:
                self._requests.take(1)
            if self._tokens is not None:
                self._tokens.take(tokens)
        return tokens

    def settle(self, usage: Usage, *, reckoned: int) -> None:
        """Put what the reply did spend in place of what `admit` reckoned with.

        A reply that reports no usage, like a call that failed, stays at the estimate.
        """
        spent = usage.prompt + usage.completion
        if self._tokens is not None and spent > 0:
            self._tokens.give_back(reckoned - spent, now=self._clock())

    def _delay(self, tokens: int) -> float:
        now = self._clock()
        requests = self._requests.delay(1, now=now) if self._requests is not None else 0.0
        return max(requests, self._tokens.delay(tokens, now=now) if self._tokens else 0.0)


class Bucket:
    """An allowance that fills evenly up to its capacity; what is sent is taken out.

    What is taken in any ``t`` seconds is at most ``capacity + rate * t``, as long as no
    single amount exceeds the capacity. One that does waits for a full bucket and leaves a
    debt that later ones wait for.

    Parameters
    ----------
    per_minute
        The most that any minute may see, 1 or more.

    Examples
    --------
    >>> bucket = Bucket(600)
    >>> bucket.capacity, bucket.rate
    (60.0, 9.0)
    """

    def __init__(self, per_minute: int) -> None:
        if per_minute < 1:
            raise ValueError(f"expected 1 or more a minute, got {per_minute!r}")
        self.capacity = max(1.0, per_minute * _AT_ONCE)
        self.rate = per_minute * (1.0 - _AT_ONCE) / _SECONDS
        self._level = self.capacity
        self._filled_at = -math.inf

    def delay(self, amount: float, *, now: float) -> float:
        """Return the seconds until `amount` may be taken; 0 for at once."""
        self._fill(now)
        lacking = min(amount, self.capacity) - self._level
        return lacking / self.rate if lacking > self.capacity * _ROUNDING else 0.0

    def take(self, amount: float) -> None:
        """Take `amount` out, when `delay` says that it may be."""
        self._level -= amount

    def give_back(self, amount: float, *, now: float) -> None:
        """Put back what was taken and not spent; if `amount` is negative, take the rest."""
        self._fill(now)
        self._level += amount  # what is too much runs over at the next fill

    def _fill(self, now: float) -> None:
        self._level = min(self.capacity, self._level + self.rate * (now - self._filled_at))
        self._filled_at = now


def estimated_tokens(request: ChatRequest) -> int:
    """Reckon the tokens of a call before it is made.

    A quarter of the characters that are sent, rounded up, and the longest reply that is
    allowed. Scripts with a token a character are reckoned too low until the reply is there.

    Examples
    --------
    >>> from spanjury.judges.core import Decoding, Message
    >>> messages = (Message(role="user", content="Who wrote it?"),)
    >>> estimated_tokens(ChatRequest(messages=messages, decoding=Decoding(max_tokens=100)))
    104
    """
    characters = sum(len(message.content) for message in request.messages) + len(request.prefix)
    return math.ceil(characters / _CHARACTERS_PER_TOKEN) + request.decoding.max_tokens


PATIENCE = 3
"""Failures in a row after which a server is left alone."""

FIRST_REST = 1.0
"""Seconds for which it is left alone at first; twice as long each time that it fails again."""

LONGEST_REST = 60.0
"""The longest that it is left alone, in seconds."""

log = EventLog()


class Endpoint:
    """One server of a model: how many calls it bears, and whether it is well.

    `number` counts the model's servers from 1; it is for the log, which names no address. After
    `patience` failures in a row the server rests; a server without a stand-in has infinite
    patience.
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
        self._probes = 0

    @property
    def is_sick(self) -> bool:
        """True if it has failed too often in a row."""
        return self.failures >= self._patience

    @property
    def is_ejected(self) -> bool:
        """True if it is left alone: it rests, or one call tries whether it is well again."""
        return self.is_sick and (self._clock() < self._rests_until or self._probes > 0)

    def enter(self) -> bool:
        """Go there with a call; to a sick server one goes at a time. Return what `leave` needs."""
        is_probe = self.is_sick
        self._probes += is_probe
        return is_probe

    def leave(self, *, is_probe: bool) -> None:
        """Come back with it."""
        self._probes -= is_probe

    def begin(self) -> int:
        """Begin a call to it; return what `ended` is to be given."""
        return self.limiter.begin()

    def ended(self, error: ModelError | None, *, began: int) -> None:
        """Learn from how a call to it ended: in `error`, or well.

        Transient failures count against it, among them time-outs and 5xx, and that it does
        not serve the model or refuses the key. Whatever else it says shows that it is there,
        even that it is asked too often.
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
            return  # calls that were under way when it was ejected do not prolong its rest
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

    Asked is the server that has a place free, then the one with the fewest calls outstanding, then
    the first; an attempt that follows a failure goes elsewhere before it goes back. A server that
    fails `PATIENCE` times in a row rests, and then has to answer one call before it gets more. If
    all of them rest, the one that failed least is asked.

    `models` are the same model at one server each; `options` bound the calls at once for each of
    them. Raises `ConfigError` if there is none, or if their signatures tell them to be different
    models.
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
        """Calls that may be under way now, at all servers together."""
        return sum(endpoint.limiter.limit for endpoint in self._endpoints)

    @property
    def under_way(self) -> int:
        """Calls that have a place now."""
        return sum(endpoint.limiter.under_way for endpoint in self._endpoints)

    def slot(self, *, tried: list[Endpoint]) -> AbstractAsyncContextManager[Endpoint]:
        """Return a place at a server, held for one attempt; it is added to those `tried`."""
        return _Slot(self, tried)

    async def take(self, tried: list[Endpoint]) -> Endpoint:
        """Wait for a place at the best server, and take it."""
        while True:
            endpoint = self._best(tried)
            await endpoint.limiter.acquire()
            # It may have been ejected while this call waited for its place.
            if not endpoint.is_ejected or self._all_ejected:
                tried.append(endpoint)
                return endpoint
            endpoint.limiter.release()

    @property
    def _all_ejected(self) -> bool:
        return all(endpoint.is_ejected for endpoint in self._endpoints)

    def _best(self, tried: Sequence[Endpoint]) -> Endpoint:
        """Return the server to ask; of equals the first."""
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
    """A place at a server; a class, since a generator's context takes as long as all it does."""

    __slots__ = ("_endpoint", "_endpoints", "_is_probe", "_tried")

    def __init__(self, endpoints: Endpoints, tried: list[Endpoint]) -> None:
        self._endpoints = endpoints
        self._tried = tried
        self._endpoint: Endpoint | None = None
        self._is_probe = False

    async def __aenter__(self) -> Endpoint:
        endpoint = self._endpoint = await self._endpoints.take(self._tried)
        self._is_probe = endpoint.enter()
        return endpoint

    async def __aexit__(self, *_: object) -> None:
        assert self._endpoint is not None
        self._endpoint.leave(is_probe=self._is_probe)
        self._endpoint.limiter.release()
