"""Spending on models: calls, tokens and dollars, and what a request will take."""

import math
from dataclasses import dataclass
from typing import Literal

from spanjury.judges.core import ChatRequest, TokenPrice, Usage

Unit = Literal["dollars", "calls", "tokens"]

MOST_PER_BYTE = 1 / 3
"""Maximum average number of tokens per byte of UTF-8, until replies show more."""
_PER_BYTE = 1 / 4
"""Tokens in a byte of a prompt, as expected."""
REPLY = 200
"""Tokens in a reply, as expected where `max_tokens` does not bound it."""
FRAME = 64
"""Tokens that a server's template adds to the prompt at most; a prompt of fewer bytes is short."""


@dataclass(frozen=True, slots=True)
class Spending:
    """Calls, tokens and dollars."""

    calls: int = 0
    tokens: int = 0
    dollars: float = 0.0

    def __add__(self, other: "Spending") -> "Spending":
        return Spending(
            self.calls + other.calls, self.tokens + other.tokens, self.dollars + other.dollars
        )

    def __sub__(self, other: "Spending") -> "Spending":
        return Spending(
            self.calls - other.calls, self.tokens - other.tokens, self.dollars - other.dollars
        )

    def of(self, unit: Unit) -> float:
        """Return the amount in `unit`."""
        if unit == "calls":
            return self.calls
        return self.tokens if unit == "tokens" else self.dollars


NOTHING = Spending()


def spending(usage: Usage, price: TokenPrice | None) -> Spending:
    """Return the spending for `usage`; dollars are 0 without a price."""
    dollars = 0.0 if price is None else price.cost(usage)
    return Spending(usage.calls, usage.prompt + usage.completion, dollars)


def in_words(amount: float, unit: Unit) -> str:
    """Return an amount with its unit.

    Examples
    --------
    >>> in_words(1, "calls"), in_words(1500, "tokens"), in_words(0.25, "dollars")
    ('1 call', '1,500 tokens', '$0.25')
    """
    if unit == "dollars":
        return f"${amount:.4g}"
    count = f"{amount:,.0f}" if amount == round(amount) else f"{amount:,.1f}"
    return f"{count} {unit[:-1] if count == '1' else unit}"


def most_of(request: ChatRequest, *, per_byte: float = MOST_PER_BYTE) -> Usage:
    """Return the maximum usage of a call, with its prompt estimated from its bytes."""
    prompt = FRAME + math.ceil(prompt_size(request) * per_byte)
    return Usage(calls=1, prompt=prompt, completion=request.decoding.max_tokens)


def expected_of(request: ChatRequest) -> Usage:
    """Return the expected usage of a call: 4 bytes a token, and a reply of `REPLY` tokens."""
    reply = min(REPLY, request.decoding.max_tokens)
    return Usage(calls=1, prompt=math.ceil(prompt_size(request) * _PER_BYTE), completion=reply)


def prompt_size(request: ChatRequest) -> int:
    """Return the number of bytes of the texts and tools to be sent; at least 1."""
    texts = [message.content for message in request.messages]
    texts += (request.prefix, request.forced, *map(str, request.tools))
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) or 1
