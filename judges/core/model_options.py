"""How a model is reached: the same options whatever the backend."""

from dataclasses import dataclass

__all__ = ["ModelOptions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """How a model is reached.

    Parameters
    ----------
    base_url
        Where the server answers; None for the provider's own address.
    connections
        How many calls may be under way at once.
    timeout
        Seconds that one attempt may take, from request to last byte.
    attempts
        How often a call is tried in all when it fails transiently.

    Raises
    ------
    ValueError
        If a number is not positive.
    """

    base_url: str | None = None
    connections: int = 8
    timeout: float = 120.0
    attempts: int = 4

    def __post_init__(self) -> None:
        if self.connections < 1 or self.timeout <= 0 or self.attempts < 1:
            raise ValueError(f"connections, timeout and attempts must be positive: {self!r}")
