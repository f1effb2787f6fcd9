"""The gateway: the one place where calls to a model are bounded, timed and tried again.

`endpoints` shows how its parts nest.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from secrets import SystemRandom
from typing import NoReturn

import anyio
import tenacity

from spanjury.adapters.models.circuit import Circuit, failure_of
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
"""Seconds that a server may ask us to wait; if it asks for more, the call fails at once."""

_BACKOFF = tenacity.wait_exponential(multiplier=0.5, max=30.0)  # seconds, from attempt to attempt
_SPREAD = 1.0  # seconds over which calls that failed together are spread
_CHANCE = SystemRandom()
_PROBES, _RETRIES = "probes", "retries"
_RETRIED = (TransientModelError, UnusableModelError)
_FIRST_REFUSAL = 300  # the statuses by which a server says that it has made no reply

log = EventLog()


class Gateway:
    """A model whose calls are bounded in number and rate, limited in time and tried again.

    It is a `ChatModel` itself; all who ask the same model should ask one gateway. Tried again is
    what fails with `TransientModelError`, after 0.5, 1, 2, … seconds or what the server asks for,
    whichever is longer, and up to a second more. How many calls are under way at once follows what
    the server bears, from ``options.max_connections`` down to ``options.min_connections``.

    Raises `ConfigError` if a replica's signature is not the model's.

    Parameters
    ----------
    options
        They also bound the calls in a minute, the seconds of an attempt and the attempts.
    replicas
        The same model at further servers; the bounds of the calls at once hold for each.
    lease
        Says when and where the model may be asked; None for always and everywhere.
    account
        Keeps account of every attempt before it is sent; None for none.
    clock, sleep
        Tell the seconds, and wait.
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
        self._is_bounded = all(_is_bounded(model, options.timeout) for model in models)

    @property
    def signature(self) -> str:
        """The model's own: how often it had to be asked changes no reply."""
        return self.model.signature

    @property
    def price(self) -> TokenPrice | None:
        """The model's own; None where it knows none."""
        return self.model.price if isinstance(self.model, PricedModel) else None

    @property
    def forms(self) -> frozenset[Form]:
        """The model's own; none where it names none."""
        return self.model.forms if isinstance(self.model, FormedModel) else frozenset()

    @property
    def limit(self) -> int:
        """Calls that may be under way now, at all servers together."""
        return self._endpoints.limit

    @property
    def under_way(self) -> int:
        """Calls that are under way now, or wait for what the rates allow."""
        return self._endpoints.under_way

    def waiting(self, now: float) -> str:
        """Say for whom calls wait, and how long at `now`, by the monotonic clock; "" if none do."""
        return "" if self.circuit is None else self.circuit.waiting(now)

    def guard(self, circuit: Circuit) -> None:
        """Put the gateway behind `circuit`.

        Its calls wait while the circuit is open, and fail only where the model answers others.
        """
        self.circuit = circuit
        circuit.attach(self.probe)

    async def template_tokens(self) -> TemplateTokens | None:
        """Return what the tokenizer of the first server that answers says, or None.

        It is asked as often as the options allow. Raises `ModelError` if it never answers.
        """
        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception_type(ModelError),
            stop=tenacity.stop_after_attempt(self.options.attempts),
            wait=_pause,
            sleep=self._sleep,
            reraise=True,
        )
        return await retrying(self._tokens_of_any)

    async def _tokens_of_any(self) -> TemplateTokens | None:
        """Ask each server once, until one answers; raise as the last one does."""
        *others, last = (self.model, *self.replicas)
        for model in others:
            with suppress(ModelError):
                return await _tokens_of(model)
        return await _tokens_of(last)

    async def complete(self, request: ChatRequest) -> Reply:
        """Return the model's reply, or raise as the model did.

        A `TransientModelError` is the last attempt's, or says that the server asks for a wait of
        more than `LONGEST_WAIT` seconds. Raises `RunStoppedError` if a limit does not allow for the
        call, `RunFailedError` if the gateway is guarded and the
        model cannot be used or does not answer, and `ClosedModelError` if its lease does not allow
        it to be asked.
        """
        if self.circuit is not None:
            await self.circuit.follow()
        while True:
            try:
                return await self._tried(request)
            except _RETRIED as error:
                if self.circuit is None or await self.circuit.is_own(error):
                    raise

    async def _tried(self, request: ChatRequest) -> Reply:
        """Ask once, and again as often as the options allow.

        Most calls are answered at once, and tenacity would cost each 0.02 ms: it learns of the
        first attempt where that has failed.
        """
        tried: list[Endpoint] = []
        try:
            return await self._attempt(request, tried, maker="")
        except _RETRIED as error:
            failures = [error]

        async def attempt() -> Reply:
            if failures:
                raise failures.pop()
            return await self._attempt(request, tried, maker=_RETRIES)

        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception_type(_RETRIED),
            stop=_Stop(attempts=self.options.attempts, servers=1 + len(self.replicas)),
            wait=_wait,
            before_sleep=self._before_sleep,
            sleep=self._sleep,
            retry_error_callback=_give_up,
        )
        return await retrying(attempt)

    async def _before_sleep(self, state: tenacity.RetryCallState) -> None:
        """Log a failure, and have the circuit take its part of the wait."""
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
        """Return once the lease and the circuit allow an attempt.

        Raises as `complete` does where they never will.
        """
        if self.lease is not None:
            self.lease.require(self.signature)
        if self.circuit is not None and not self.circuit.is_closed:
            await self.circuit.ready()

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

    async def _attempt(self, request: ChatRequest, tried: list[Endpoint], *, maker: str) -> Reply:
        """Ask once the circuit is closed; it may open while the call waits for its place."""
        while True:
            await self.ready()
            async with self._endpoints.slot(tried=tried) as endpoint:
                if self.circuit is None or self.circuit.is_closed:
                    return await self._ask_at(endpoint, request, maker=maker)

    async def _ask(self, request: ChatRequest, tried: list[Endpoint]) -> Reply:
        """Ask once, whatever the circuit says."""
        async with self._endpoints.slot(tried=tried) as endpoint:
            return await self._ask_at(endpoint, request, maker=_PROBES)

    async def _ask_at(self, endpoint: Endpoint, request: ChatRequest, *, maker: str) -> Reply:
        reckoned = await self._rates.admit(request)
        reservation = await self.account.reserve(request, maker=maker) if self.account else None
        began = endpoint.begin()
        spent = None  # what is cancelled, or breaks off, may have been paid
        try:
            reply = await self._in_time(endpoint.model, request)
            spent = _reported(reply.usage)
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


def _reported(usage: Usage) -> Usage | None:
    """Return the usage that a server reports; None if it reports none."""
    return usage if usage.prompt + usage.completion > 0 else None


def _of_failure(error: ModelError) -> Usage | None:
    """Return the usage of a call that failed; None if a reply may have been made and paid."""
    refused = (error.status or 0) >= _FIRST_REFUSAL and not isinstance(error, ModelTimeoutError)
    if refused or not error.was_sent or isinstance(error, UnusableModelError):
        return Usage(calls=1)
    return None


def _is_bounded(model: ChatModel, timeout: float) -> bool:
    """Say whether `model` ends a call after `timeout` seconds by itself."""
    return isinstance(model, BoundedModel) and model.longest_call <= timeout


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stop:
    """Ends a call after so many attempts, or when each server has refused it.

    It ends at once where a server asks for a wait that is too long.
    """

    attempts: int
    servers: int

    def __call__(self, state: tenacity.RetryCallState) -> bool:
        """Say whether the last attempt was made."""
        error = failure_of(state)
        if isinstance(error, UnusableModelError):  # another server may know the model
            return state.attempt_number >= self.servers
        return state.attempt_number >= self.attempts or asked_wait(error) > LONGEST_WAIT


def _wait(state: tenacity.RetryCallState) -> float:
    """Return the seconds until the next attempt; a server that refuses hands over at once."""
    error = failure_of(state)
    if isinstance(error, UnusableModelError):
        return 0.0
    return _pause(state, asked=asked_wait(error))


def _give_up(state: tenacity.RetryCallState) -> NoReturn:
    """Raise the last failure, with the wait that was too long."""
    error = failure_of(state)
    if (asked := asked_wait(error)) <= LONGEST_WAIT:
        raise error
    raise TransientModelError(
        f"{error} (it asks to wait {asked:g} s; {LONGEST_WAIT:g} s is the longest that is waited)",
        retry_after=asked,
    ) from error


def _pause(state: tenacity.RetryCallState, *, asked: float = 0.0) -> float:
    """Return the seconds from one attempt to the next, where the server `asked` for some."""
    spread = _CHANCE.uniform(0.0, _SPREAD)
    return max(min(_BACKOFF(state) + spread, _BACKOFF.max), asked + spread)
