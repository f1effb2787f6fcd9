"""A meter: the calls of a run's models are counted as they happen, and stopped at a limit."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from spanjury.judges.core import ChatModel, ChatRequest, ConfigError, Reply, TokenPrice, Usage


class LimitedModel(ChatModel, Protocol):
    """A model that allows so many calls at once, and says how many are under way."""

    @property
    def limit(self) -> int:
        """Return the number of calls that may be under way now."""
        ...

    @property
    def under_way(self) -> int:
        """Return the number of calls under way now."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of a run each time it is run; None for none.

    Raises `ConfigError` if a limit is not positive.

    Parameters
    ----------
    max_cost
        Dollars.
    max_tokens
        Tokens of prompts and replies together.
    max_seconds
        Seconds of wall-clock time.
    """

    max_cost: float | None = None
    max_tokens: int | None = None
    max_seconds: float | None = None

    def __post_init__(self) -> None:
        given = (self.max_cost, self.max_tokens, self.max_seconds)
        if any(limit is not None and limit <= 0 for limit in given):
            raise ConfigError(f"limits must be positive, got {self!r}")


class Meter:
    """Count the calls of all models of a panel, and stop the run where a limit is reached.

    What is remembered costs nothing and is not counted. Calls that are under way when a
    limit is reached go on, so it is exceeded by what they cost.

    Parameters
    ----------
    limits
        `max_cost` and `max_tokens` are kept here.
    stop
        Called with the reason at every call by which a limit is reached or exceeded.
    """

    def __init__(
        self, *, limits: Limits = Limits(), stop: Callable[[str], None] = lambda _: None
    ) -> None:
        self.usage = Usage()
        self.cost = 0.0
        self.unpriced: tuple[str, ...] = ()
        self._limits = limits
        self._stop = stop
        self._models: list[LimitedModel] = []

    @property
    def tokens(self) -> int:
        """Tokens read and written."""
        return self.usage.prompt + self.usage.completion

    @property
    def limit(self) -> int:
        """Return the number of calls that may be under way now, at all models together."""
        return sum(model.limit for model in self._models)

    @property
    def under_way(self) -> int:
        """Return the number of calls under way now."""
        return sum(model.under_way for model in self._models)

    def on(self, model: LimitedModel, *, name: str, price: TokenPrice | None) -> ChatModel:
        """Return `model` with its calls counted.

        Raise `ConfigError` if the cost is limited and no price is known.
        """
        if price is None:
            if self._limits.max_cost is not None:
                raise ConfigError(
                    f"no price is known for model {name!r}, so its cost cannot be limited: give"
                    " its price in a panel file, or limit tokens"
                )
            self.unpriced = (*self.unpriced, name)
        self._models.append(model)
        return _Metered(model=model, meter=self, price=price)

    def count(self, usage: Usage, *, price: TokenPrice | None) -> None:
        """Add the usage of one call."""
        self.usage += usage
        self.cost += 0.0 if price is None else price.cost(usage)
        limits = self._limits
        if limits.max_cost is not None and self.cost >= limits.max_cost:
            self._stop(f"${self.cost:.4g} are spent, and ${limits.max_cost:g} is the limit")
        if limits.max_tokens is not None and self.tokens >= limits.max_tokens:
            self._stop(f"{self.tokens} tokens are spent, and {limits.max_tokens} is the limit")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Metered:
    """A model whose calls are counted."""

    model: ChatModel
    meter: Meter
    price: TokenPrice | None

    @property
    def signature(self) -> str:
        return self.model.signature

    async def complete(self, request: ChatRequest) -> Reply:
        reply = await self.model.complete(request)
        self.meter.count(reply.usage, price=self.price)
        return reply
