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
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager

import anyio

from spanjury.adapters.models.concurrency import AdaptiveLimiter
from spanjury.judges.core import (
    ChatModel,
    ConfigError,
    EventLog,
    ModelError,
    ModelOptions,
    RateLimitedModelError,
    TransientModelError,
    UnusableModelError,
)

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
