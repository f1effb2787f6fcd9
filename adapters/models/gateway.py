"""The gateway: the one place where calls to a model are bounded, timed and tried again.

`endpoints` shows how its parts nest.
"""

from collections.abc import Awaitable, Callable
from dataclasses import KW_ONLY, dataclass, field
from secrets import SystemRandom

import anyio

from spanjury.adapters.models.endpoints import Endpoint, Endpoints
from spanjury.adapters.models.rates import RateLimit
from spanjury.judges.core import (
    ChatModel,
    ChatRequest,
    EventLog,
    ModelOptions,
    ModelTimeoutError,
    PricedModel,
    Reply,
    TokenPrice,
    TransientModelError,
    kind_of,
)

__all__ = ["LONGEST_WAIT", "Gateway"]

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

    It is a `ChatModel` itself; all who ask the same model should ask one gateway. Tried
    again is what fails with `TransientModelError`, after 0.5, 1, 2, … seconds or what
    the server asks for, whichever is longer, and up to a second more. How many calls are
    under way at once follows what the server bears, from ``options.max_connections`` down to
    ``options.min_connections``.

    Parameters
    ----------
    model
        The model that is asked.
    options
        How many calls at once and in a minute, how long an attempt may take, how many
        attempts.
    replicas
        The same model at further servers; the bounds of the calls at once hold for each.
    clock
        Seconds that only grow, by which servers rest and rates are kept.
    sleep
        How to wait between attempts, and for what the rates allow.

    Raises
    ------
    ConfigError
        If a replica's signature is not the model's.
    """

    model: ChatModel
    _: KW_ONLY
    options: ModelOptions
    replicas: tuple[ChatModel, ...] = ()
    clock: Callable[[], float] = anyio.current_time
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep
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
        """How many calls may be under way now, at all servers together."""
        return self._endpoints.limit

    @property
    def under_way(self) -> int:
        """How many calls are under way now, or wait for what the rates allow."""
        return self._endpoints.under_way

    async def complete(self, request: ChatRequest) -> Reply:
        """Return the model's reply.

        Raises
        ------
        ModelTimeoutError
            If the last attempt took too long.
        TransientModelError
            If the last attempt failed, or the server asks for a wait of more than
            `LONGEST_WAIT` seconds.
        PermanentModelError
            As the model raised it.
        """
        tried: list[Endpoint] = []
        for attempt in range(1, self.options.attempts):
            try:
                return await self._attempt(request, tried)
            except TransientModelError as error:
                if not _may_be_cured(error):
                    raise
                pause = _pause(attempt, asked=error.retry_after)
                log.warning(
                    "model.call_retried",
                    model=self.signature,
                    attempt=attempt,
                    seconds=pause,
                    error=kind_of(error),
                )
            await self.sleep(pause)
        return await self._attempt(request, tried)

    async def _attempt(self, request: ChatRequest, tried: list[Endpoint]) -> Reply:
        """Ask once; the place is given back before any wait for the next attempt."""
        try:
            async with self._endpoints.place(tried=tried) as endpoint:
                reckoned = await self._rates.admit(request)
                with endpoint.attempt():
                    reply = await self._in_time(endpoint.model, request)
        except TransientModelError as error:
            if _may_be_cured(error):
                raise
            raise TransientModelError(
                f"{error} (it asks to wait {error.retry_after:g} s; {LONGEST_WAIT:g} s is"
                " the longest that is waited)",
                retry_after=error.retry_after,
            ) from error
        self._rates.settle(reply.usage, reckoned=reckoned)
        return reply

    async def _in_time(self, model: ChatModel, request: ChatRequest) -> Reply:
        try:
            with anyio.fail_after(self.options.timeout):
                return await model.complete(request)
        except TimeoutError:
            raise ModelTimeoutError(
                f"{self.signature}: no complete reply within {self.options.timeout:g} s"
            ) from None


def _may_be_cured(error: TransientModelError) -> bool:
    """Whether another attempt is worth its wait."""
    return (error.retry_after or 0.0) <= LONGEST_WAIT


def _pause(attempt: int, *, asked: float | None) -> float:
    """Return the seconds from one attempt to the next, where the server `asked` for some."""
    spread = _CHANCE.uniform(0.0, _SPREAD)
    doubled = _FIRST_BACKOFF * 2.0 ** min(attempt - 1, 10)  # longer than the longest by then
    backoff = min(doubled + spread, _LONGEST_BACKOFF)
    return backoff if asked is None else max(backoff, asked + spread)
