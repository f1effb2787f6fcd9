"""What tokens cost."""

from dataclasses import dataclass

from spanjury.judges.core.chat import Usage

__all__ = ["TokenPrice"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenPrice:
    """The price of a model, in dollars a token.

    Parameters
    ----------
    prompt, completion
        For what it reads and what it writes, reasoning included.
    cached
        For the part of the prompt that the server had read before; None for the price of
        the rest.
    """

    prompt: float
    completion: float
    cached: float | None = None

    def cost(self, usage: Usage) -> float:
        """Return what `usage` costs, in dollars.

        Examples
        --------
        >>> price = TokenPrice(prompt=1e-6, completion=4e-6, cached=5e-7)
        >>> round(price.cost(Usage(prompt=1000, cached=400, completion=100)), 9)
        0.0012
        """
        cached = self.prompt if self.cached is None else self.cached
        read = self.prompt * (usage.prompt - usage.cached) + cached * usage.cached
        return read + self.completion * usage.completion
