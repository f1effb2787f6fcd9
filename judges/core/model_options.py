"""Connection options of a model, the same for every backend."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """Connection options of a model.

    Parameters
    ----------
    base_url
        Address of the server; None for the provider's own.
    max_connections
        Maximum number of concurrent calls to each server.
    min_connections
        Minimum number of concurrent calls, however overloaded the server says it is.
    timeout
        Seconds that one attempt may take, from request to last byte.
    attempts
        Number of tries of a call, the first included, while it fails with transient errors.
    requests_per_minute, tokens_per_minute
        Maximum number of requests, and of prompt and reply tokens together, per minute over all
        servers of the model; None for no limit.

    Raises
    ------
    ValueError
        If a number is not positive, or the minimum exceeds the maximum.
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
