"""Options by which a model is reached, the same for every backend."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """Options by which a model is reached.

    Parameters
    ----------
    base_url
        Where the server answers; None for the provider's own address.
    max_connections
        How many calls may be under way at once, at each server.
    min_connections
        How many may be under way at least, however overloaded the server says it is.
    timeout
        Seconds that one attempt may take, from request to last byte.
    attempts
        How often a call is tried in all when it fails transiently.
    requests_per_minute, tokens_per_minute
        How many requests, and tokens of prompt and reply together, may be sent in a
        minute to all servers of the model; None for as many as there are.

    Raises
    ------
    ValueError
        If a number is not positive, or there are a larger minimum than maximum.
    """

    base_url: str | None = None
    max_connections: int = 8
    min_connections: int = 1
    timeout: float = 120.0
    attempts: int = 4
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None

    def __post_init__(self) -> None:
        counts = (self.max_connections, self.min_connections, self.attempts)
        rates = (self.requests_per_minute, self.tokens_per_minute)
        if self.timeout <= 0 or any(n is not None and n < 1 for n in (*counts, *rates)):
            raise ValueError(
                "max_connections, timeout, attempts and what a minute allows must be positive:"
                f" {self!r}"
            )
        if self.min_connections > self.max_connections:
            raise ValueError(f"min_connections must not exceed max_connections: {self!r}")
