"""The gateway: it limits, times and retries all calls to a model.

The docstring of `endpoints` shows how its parts nest.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from secrets import SystemRandom
from typing import NoReturn

import anyio
import tenacity

from spanjury.adapters.models.circuit import NO_REPLY, Circuit, failure_of
from spanjury.adapters.models.endpoints import Endpoint, Endpoints, RateLimit
from spanjury.adapters.models.event_loop import Lease
from spanjury.adapters.models.model_errors import asked_wait
from spanjury.judges.core import (
    BoundedModel,
    CallAccount,
    ChatModel,
    ChatRequest,
    EventLog,
    Form,
    FormedModel,
    ModelError,
    ModelOptions,
    ModelTimeoutError,
    PricedModel,
    Reply,
    TemplateTokens,
    TokenizedModel,
    TokenPrice,
    TransientModelError,
    UnusableModelError,
    Usage,
    kind_of,
)

LONGEST_WAIT = 60.0
"""The longest wait in seconds that a server may ask for; if it asks for more, the call fails."""

_TIMEOUTS = 2  # timeouts after which a call fails; a silent server costs the most time
_BACKOFF = tenacity.wait_exponential(multiplier=0.5, max=30.0)  # seconds between attempts
_SPREAD = 1.0  # seconds over which retries of simultaneous failures are spread
_CHANCE = SystemRandom()
_PROBES, _RETRIES = "probes", "retries"
_FIRST_REFUSAL = 300  # the first status by which a server says that it made no reply

log = EventLog()


class Gateway:
    """A model whose calls are limited in number, rate and time, and retried.

    It is a `ChatModel` itself; all users of the same model should share one gateway. A call that
    fails with `TransientModelError` is retried after 0.5, 1, 2, … seconds, or the time that the
    server asks for if that is longer, plus up to a second. A timeout is retried once, or at each
    server once if there are more than two. The number of concurrent calls adapts to
    the server, between ``options.min_connections`` and ``options.max_connections``.

    Raises `ConfigError` if a replica's signature differs from the model's.

    Parameters
    ----------
    options
        Also the limits per minute, the seconds of an attempt, and the number of attempts.
    replicas
        The same model at further servers; the limits of concurrent calls apply to each.
    lease
        The lifetime and event loop in which the model may be used; None if unrestricted.
    account
        Records every attempt before it is sent, and may refuse it; None to keep no account.
    clock, sleep
        Functions that return the time in seconds, and wait.
    """

    def __init__(
        self,
        model: ChatModel,
        *,
        options: ModelOptions,
        replicas: tuple[ChatModel, ...] = (),
        lease: Lease | None = None,
        account: CallAccount | None = None,
        clock: Callable[[], float] = anyio.current_time,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        models = (model, *replicas)
        self.model = model
        self.replicas = replicas
        self.options = options
        self.lease = lease
        self.account = account
        self.circuit: Circuit | None = None
        self._sleep = sleep
        self._endpoints = Endpoints(models, options=options, clock=clock)
        self._rates = RateLimit(
            requests_per_minute=options.requests_per_minute,
            tokens_per_minute=options.tokens_per_minute,
            clock=clock,
            sleep=sleep,
        )
        self._is_bounded = all(
            isinstance(model, BoundedModel) and model.longest_call <= options.timeout
            for model in models
        )

    @property
    def signature(self) -> str:
        """The model's own, because retries do not change replies."""
        return self.model.signature

    @property
    def price(self) -> TokenPrice | None:
        """The model's own; None if it has none."""
        return self.model.price if isinstance(self.model, PricedModel) else None

    @property
    def forms(self) -> frozenset[Form]:
        """The model's own; empty if it has none."""
        return self.model.forms if isinstance(self.model, FormedModel) else frozenset()

    @property
    def limit(self) -> int:
        """Maximum number of concurrent calls at present, over all servers."""
        return self._endpoints.limit

    @property
    def under_way(self) -> int:
        """Number of calls that hold a slot, including those waiting for the limits per minute."""
        return self._endpoints.under_way

    def waiting(self, now: float) -> str:
        """Return for what, and how long at monotonic time `now`, calls wait; "" if none do."""
        return "" if self.circuit is None else self.circuit.waiting(now)

    def guard(self, circuit: Circuit) -> None:
        """Put the gateway behind `circuit`.

        Its calls then wait while the circuit is open, and fail only if the model answers others.
        """
        self.circuit = circuit
        circuit.attach(self.probe)

    async def template_tokens(self) -> TemplateTokens | None:
        """Return the special tokens reported by the first server that answers, or None.

        It retries transient failures as `complete` does. Raises `ModelError` if no server answers.
        """
        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception_type(TransientModelError),
            stop=_Stop(attempts=self.options.attempts, servers=1),
            wait=_pause,
            sleep=self._sleep,
            reraise=True,
        )
        return await retrying(self._tokens_of_any)

    async def _tokens_of_any(self) -> TemplateTokens | None:
        """Query each server once until one answers; raise the last one's error if none does."""
        *others, last = (self.model, *self.replicas)
        for model in others:
            with suppress(ModelError):
                return await _tokens_of(model)
        return await _tokens_of(last)

    async def complete(self, request: ChatRequest) -> Reply:
        """Return the model's reply.

        Raises the model's errors. A `TransientModelError` is that of the last attempt, or says that
        the server asks for a wait of more than `LONGEST_WAIT` seconds. Raises `RunStoppedError` if
        a limit of the run does not allow the call. Raises `RunFailedError` if the gateway is
        guarded and the model cannot be used or does not answer. Raises `ClosedModelError` if the
        lease does not allow the call.
        """
        if self.circuit is not None:
            await self.circuit.follow()
        while True:
            try:
                return await self._tried(request)
            except NO_REPLY as error:
                if self.circuit is None or await self.circuit.is_own(error):
                    raise

    async def _tried(self, request: ChatRequest) -> Reply:
        """Make the call, and retry it as often as the options allow.

        Most calls succeed at the first attempt, where tenacity would cost 0.02 ms per call. So it
        is only used after the first attempt has failed.
        """
        tried: list[Endpoint] = []
        try:
            return await self._attempt(request, tried, maker="")
        except NO_REPLY as error:
            failures = [error]

        async def attempt() -> Reply:
            if failures:
                raise failures.pop()
            return await self._attempt(request, tried, maker=_RETRIES)

        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception_type(NO_REPLY),
            stop=_Stop(attempts=self.options.attempts, servers=1 + len(self.replicas)),
            wait=_wait,
            before_sleep=self._before_sleep,
            sleep=self._sleep,
            retry_error_callback=_give_up,
        )
        return await retrying(attempt)

    async def _before_sleep(self, state: tenacity.RetryCallState) -> None:
        """Log a failure, and let the circuit take over its part of the wait."""
        error = failure_of(state)
        if isinstance(error, UnusableModelError):
            return
        seconds = state.upcoming_sleep
        log.warning(
            "model.call_retried",
            model=self.signature,
            attempt=state.attempt_number,
            seconds=seconds,
            error=kind_of(error),
        )
        if self.circuit is not None:
            state.upcoming_sleep = await self.circuit.pause(seconds, error)

    async def ready(self) -> None:
        """Wait until the lease and the circuit allow an attempt.

        Raises as `complete` does if they never will.
        """
        if self.lease is not None:
            self.lease.require(self.signature)
        if self.circuit is not None and not self.circuit.is_closed:
            await self.circuit.ready()

    async def probe(self, request: ChatRequest) -> Reply:
        """Return the reply of the first server that answers; each is called once.

        Raises the last server's `ModelError` if none does.
        """
        tried: list[Endpoint] = []
        for _ in self.replicas:
            try:
                return await self._ask(request, tried)
            except ModelError:
                continue
        return await self._ask(request, tried)

    async def _attempt(self, request: ChatRequest, tried: list[Endpoint], *, maker: str) -> Reply:
        """Make one attempt once the circuit is closed; it may open while this waits for a slot."""
        while True:
            await self.ready()
            async with self._endpoints.slot(tried=tried) as endpoint:
                if self.circuit is None or self.circuit.is_closed:
                    return await self._ask_at(endpoint, request, maker=maker)

    async def _ask(self, request: ChatRequest, tried: list[Endpoint]) -> Reply:
        """Make one attempt, whether or not the circuit is open."""
        async with self._endpoints.slot(tried=tried) as endpoint:
            return await self._ask_at(endpoint, request, maker=_PROBES)

    async def _ask_at(self, endpoint: Endpoint, request: ChatRequest, *, maker: str) -> Reply:
        reckoned = await self._rates.admit(request)
        reservation = await self.account.reserve(request, maker=maker) if self.account else None
        began = endpoint.limiter.begin()
        spent = None  # unknown: a cancelled or broken call may have cost something
        try:
            reply = await self._in_time(endpoint.model, request)
            if reply.usage.prompt + reply.usage.completion > 0:  # the server reports it
                spent = reply.usage
        except ModelError as error:
            spent = _of_failure(error)
            self._learn(endpoint, error, request, began=began)
            raise
        finally:
            if reservation is not None:
                await reservation.settle(spent)
        self._learn(endpoint, None, request, began=began)
        self._rates.settle(reply.usage, reckoned=reckoned)
        return reply

    def _learn(
        self, endpoint: Endpoint, error: ModelError | None, request: ChatRequest, *, began: int
    ) -> None:
        endpoint.ended(error, began=began)
        if self.circuit is not None:
            self.circuit.ended(error, request)

    async def _in_time(self, model: ChatModel, request: ChatRequest) -> Reply:
        if self._is_bounded:
            return await model.complete(request)
        timeout = self.options.timeout
        with suppress(TimeoutError), anyio.CancelScope(deadline=anyio.current_time() + timeout):
            return await model.complete(request)
        raise ModelTimeoutError(f"{self.signature}: no complete reply within {timeout:g} s")


async def _tokens_of(model: ChatModel) -> TemplateTokens | None:
    return await model.template_tokens() if isinstance(model, TokenizedModel) else None


def _of_failure(error: ModelError) -> Usage | None:
    """Return the usage of a failed call; None if a reply may have been made and charged."""
    refused = (error.status or 0) >= _FIRST_REFUSAL and not isinstance(error, ModelTimeoutError)
    if refused or not error.was_sent or isinstance(error, UnusableModelError):
        return Usage(calls=1)
    return None


@dataclass(slots=True, kw_only=True)
class _Stop:
    """Ends a call after `attempts`, or when each server has refused it.

    It also ends if a server asks for too long a wait, and after too many timeouts.
    """

    attempts: int
    servers: int
    timeouts: int = 0

    def __call__(self, state: tenacity.RetryCallState) -> bool:
        """Return whether there is to be no further attempt."""
        error = failure_of(state)
        if isinstance(error, UnusableModelError):  # another server may know the model
            return state.attempt_number >= self.servers
        self.timeouts += isinstance(error, ModelTimeoutError)
        if self.timeouts >= max(_TIMEOUTS, self.servers):
            return True
        return state.attempt_number >= self.attempts or asked_wait(error) > LONGEST_WAIT


def _wait(state: tenacity.RetryCallState) -> float:
    """Return the seconds until the next attempt; 0 after a refusal, to try the next server."""
    error = failure_of(state)
    if isinstance(error, UnusableModelError):
        return 0.0
    return _pause(state, asked=asked_wait(error))


def _give_up(state: tenacity.RetryCallState) -> NoReturn:
    """Raise the last error; if the requested wait was too long, say so."""
    error = failure_of(state)
    if (asked := asked_wait(error)) <= LONGEST_WAIT:
        raise error
    raise TransientModelError(
        f"{error} (it asks to wait {asked:g} s; {LONGEST_WAIT:g} s is the longest that is waited)",
        retry_after=asked,
    ) from error


def _pause(state: tenacity.RetryCallState, *, asked: float = 0.0) -> float:
    """Return the seconds until the next attempt, at least those the server `asked` for."""
    spread = _CHANCE.uniform(0.0, _SPREAD)
    return max(min(_BACKOFF(state) + spread, _BACKOFF.max), asked + spread)
