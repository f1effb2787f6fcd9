"""The gateway: the one place where calls to a model are bounded, timed and tried again.

`endpoints` shows how its parts nest.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field, replace
from secrets import SystemRandom

import anyio

from spanjury.adapters.models.circuit import Circuit
from spanjury.adapters.models.endpoints import Endpoint, Endpoints
from spanjury.adapters.models.event_loop import Lease
from spanjury.adapters.models.rates import RateLimit
from spanjury.judges.core import (
    ChatModel,
    ChatRequest,
    EventLog,
    ModelError,
    ModelOptions,
    ModelTimeoutError,
    PricedModel,
    Reply,
    TokenPrice,
    TransientModelError,
    UnusableModelError,
    Usage,
    kind_of,
)

LONGEST_WAIT = 60.0
"""Seconds that a server may ask us to wait; if it asks for more, the call fails at once."""

_FIRST_BACKOFF = 0.5  # seconds, twice as long each time
_LONGEST_BACKOFF = 30.0
_SPREAD = 1.0  # seconds over which calls that failed together are spread
_CHANCE = SystemRandom()

log = EventLog()


@dataclass(frozen=True, slots=True)
class Gateway:
    """A model whose calls are bounded in number and rate, limited in time and tried again.

    It is a `ChatModel` itself; all who ask the same model should ask one gateway. Tried again is
    what fails with `TransientModelError`, after 0.5, 1, 2, … seconds or what the server asks for,
    whichever is longer, and up to a second more. How many calls are under way at once follows what
    the server bears, from ``options.max_connections`` down to ``options.min_connections``.

    `options` also bound the calls in a minute, the seconds of an attempt and the attempts.
    `replicas` are the same model at further servers; the bounds of the calls at once hold for
    each. `lease` says when and where the model may be asked; None for always and everywhere.

    Raises `ConfigError` if a replica's signature is not the model's.
    """

    model: ChatModel
    _: KW_ONLY
    options: ModelOptions
    replicas: tuple[ChatModel, ...] = ()
    lease: Lease | None = None
    clock: Callable[[], float] = anyio.current_time
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep
    _circuit: Circuit | None = field(default=None, init=False, repr=False)
    _endpoints: Endpoints = field(init=False, repr=False)
    _rates: RateLimit = field(init=False, repr=False)

    def __post_init__(self) -> None:
        models = (self.model, *self.replicas)
        endpoints = Endpoints(models, options=self.options, clock=self.clock)
        rates = RateLimit(
            requests_per_minute=self.options.requests_per_minute,
            tokens_per_minute=self.options.tokens_per_minute,
            clock=self.clock,
            sleep=self.sleep,
        )
        object.__setattr__(self, "_endpoints", endpoints)  # the dataclass is frozen
        object.__setattr__(self, "_rates", rates)

    @property
    def signature(self) -> str:
        """The model's own: how often it had to be asked changes no reply."""
        return self.model.signature

    @property
    def price(self) -> TokenPrice | None:
        """The model's own; None where it knows none."""
        return self.model.price if isinstance(self.model, PricedModel) else None

    @property
    def limit(self) -> int:
        """Calls that may be under way now, at all servers together."""
        return self._endpoints.limit

    @property
    def under_way(self) -> int:
        """Calls that are under way now, or wait for what the rates allow."""
        return self._endpoints.under_way

    def guarded(self, circuit: Circuit, *, spent: Callable[[Usage], None]) -> "Gateway":
        """Return the same gateway behind `circuit`, whose probes are counted by `spent`.

        Its calls wait while the circuit is open, and fail only where the model answers others.
        """
        gateway = replace(self)
        object.__setattr__(gateway, "_circuit", circuit)  # the dataclass is frozen
        circuit.attach(gateway.probe, spent=spent)
        return gateway

    async def complete(self, request: ChatRequest) -> Reply:
        """Return the model's reply, or raise as the model did.

        A `TransientModelError` is the last attempt's, or says that the server asks for a wait of
        more than `LONGEST_WAIT` seconds. Raises `RunFailedError` if the gateway is guarded and the
        model cannot be used or does not answer, and `ClosedModelError` if its lease does not allow
        it to be asked.
        """
        if self._circuit is not None:
            await self._circuit.follow()
        while True:
            try:
                return await self._tried(request)
            except (TransientModelError, UnusableModelError) as error:
                if self._circuit is None or await self._circuit.is_own(error):
                    raise

    async def _tried(self, request: ChatRequest) -> Reply:
        """Ask as often as the options allow."""
        tried: list[Endpoint] = []
        attempt = 1
        while True:
            await self._ready()
            try:
                if (reply := await self._attempt(request, tried)) is not None:
                    return reply
                continue
            except UnusableModelError:
                if attempt > len(self.replicas):
                    raise
                # Another server may know the model.
            except TransientModelError as error:
                if not _may_be_cured(error):
                    raise _with_wait(error) from error
                if attempt >= self.options.attempts:
                    raise
                pause = _pause(attempt, asked=error.retry_after)
                log.warning(
                    "model.call_retried",
                    model=self.signature,
                    attempt=attempt,
                    seconds=pause,
                    error=kind_of(error),
                )
                await self._pause(pause, error)
            attempt += 1

    async def _pause(self, seconds: float, error: TransientModelError) -> None:
        if self._circuit is None:
            await self.sleep(seconds)
        else:
            await self._circuit.pause(seconds, error)

    async def _ready(self) -> None:
        """Return once the lease and the circuit allow an attempt."""
        if self.lease is not None:
            self.lease.require(self.signature)
        if self._circuit is not None and not self._circuit.is_closed:
            await self._circuit.ready()

    async def probe(self, request: ChatRequest) -> Reply:
        """Return the reply of the first server that gives one; each is asked once.

        Raises `ModelError` as the last server raised it.
        """
        tried: list[Endpoint] = []
        for _ in self.replicas:
            try:
                return await self._ask(request, tried)
            except ModelError:
                continue
        return await self._ask(request, tried)

    async def _attempt(self, request: ChatRequest, tried: list[Endpoint]) -> Reply | None:
        """Ask once; return None if the circuit has opened while the call waited for its place."""
        async with self._endpoints.place(tried=tried) as endpoint:
            if self._circuit is not None and not self._circuit.is_closed:
                return None
            return await self._ask_at(endpoint, request)

    async def _ask(self, request: ChatRequest, tried: list[Endpoint]) -> Reply:
        """Ask once, whatever the circuit says."""
        async with self._endpoints.place(tried=tried) as endpoint:
            return await self._ask_at(endpoint, request)

    async def _ask_at(self, endpoint: Endpoint, request: ChatRequest) -> Reply:
        reckoned = await self._rates.admit(request)
        began = endpoint.begin()
        try:
            reply = await self._in_time(endpoint.model, request)
        except ModelError as error:
            self._learn(endpoint, error, began=began)
            raise
        self._learn(endpoint, None, began=began)
        self._rates.settle(reply.usage, reckoned=reckoned)
        return reply

    def _learn(self, endpoint: Endpoint, error: ModelError | None, *, began: int) -> None:
        endpoint.ended(error, began=began)
        if self._circuit is not None:
            self._circuit.ended(error)

    async def _in_time(self, model: ChatModel, request: ChatRequest) -> Reply:
        timeout = self.options.timeout
        with suppress(TimeoutError), anyio.CancelScope(deadline=anyio.current_time() + timeout):
            return await model.complete(request)
        raise ModelTimeoutError(f"{self.signature}: no complete reply within {timeout:g} s")


def _may_be_cured(error: TransientModelError) -> bool:
    """Whether another attempt is worth its wait."""
    return (error.retry_after or 0.0) <= LONGEST_WAIT


def _with_wait(error: TransientModelError) -> TransientModelError:
    return TransientModelError(
        f"{error} (it asks to wait {error.retry_after:g} s; {LONGEST_WAIT:g} s is the longest"
        " that is waited)",
        retry_after=error.retry_after,
    )


def _pause(attempt: int, *, asked: float | None) -> float:
    """Return the seconds from one attempt to the next, where the server `asked` for some."""
    spread = _CHANCE.uniform(0.0, _SPREAD)
    doubled = _FIRST_BACKOFF * 2.0 ** min(attempt - 1, 10)  # longer than the longest by then
    backoff = min(doubled + spread, _LONGEST_BACKOFF)
    return backoff if asked is None else max(backoff, asked + spread)
