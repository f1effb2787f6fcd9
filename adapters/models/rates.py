"""Limits of requests and tokens a minute, as token buckets.

A tenth of a minute's allowance may be sent at once, the other nine tenths flow in evenly
over the minute. Together they are the allowance: no minute, wherever it begins, sees more
than the limit, however the server counts. The price is that a run which is held back
reaches nine tenths of it. Tokens are reckoned before the call and put right after it, and
a call of more than a tenth of the minute's tokens goes beyond the limit by the surplus.
"""

import math
from collections.abc import Awaitable, Callable

import anyio

from spanjury.judges.core import ChatRequest, Usage

_AT_ONCE = 0.1  # of a minute's allowance
_SECONDS = 60.0
_CHARACTERS_PER_TOKEN = 4  # of English prose; it is corrected when the reply is there
_ROUNDING = 1e-9  # of the capacity: a wait as long as was asked is long enough


class RateLimit:
    """Let calls through as fast as two limits allow, in the order in which they came.

    The call at the head waits, once, until both buckets hold what it needs; the others wait behind
    it. What it needs is taken when it goes, so that one which is cancelled while it waits has
    taken nothing. Without a limit there is nothing to wait for.
    """

    def __init__(
        self,
        *,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        clock: Callable[[], float] = anyio.current_time,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._requests = Bucket(requests_per_minute) if requests_per_minute else None
        self._tokens = Bucket(tokens_per_minute) if tokens_per_minute else None
        self._clock = clock
        self._sleep = sleep
        self._head = anyio.Lock()  # first come, first served

    async def admit(self, request: ChatRequest) -> int:
        """Wait until `request` may be sent; return the tokens it is reckoned at, for `settle`."""
        if self._requests is None and self._tokens is None:
            return 0
        tokens = estimated_tokens(request)
        async with self._head:
            while (delay := self._delay(tokens)) > 0:
                await self._sleep(delay)
            if self._requests is not None:
                self._requests.take(1)
            if self._tokens is not None:
                self._tokens.take(tokens)
        return tokens

    def settle(self, usage: Usage, *, reckoned: int) -> None:
        """Put what the reply did spend in place of what `admit` reckoned with.

        A reply that reports no usage, like a call that failed, stays at the estimate.
        """
        spent = usage.prompt + usage.completion
        if self._tokens is not None and spent > 0:
            self._tokens.give_back(reckoned - spent, now=self._clock())

    def _delay(self, tokens: int) -> float:
        now = self._clock()
        requests = self._requests.delay(1, now=now) if self._requests is not None else 0.0
        return max(requests, self._tokens.delay(tokens, now=now) if self._tokens else 0.0)


class Bucket:
    """An allowance that fills evenly up to its capacity; what is sent is taken out.

    What is taken in any ``t`` seconds is at most ``capacity + rate * t``, as long as no
    single amount exceeds the capacity. One that does waits for a full bucket and leaves a
    debt that later ones wait for.

    Parameters
    ----------
    per_minute
        The most that any minute may see, 1 or more.

    Examples
    --------
    >>> bucket = Bucket(600)
    >>> bucket.capacity, bucket.rate
    (60.0, 9.0)
    """

    def __init__(self, per_minute: int) -> None:
        if per_minute < 1:
            raise ValueError(f"expected 1 or more a minute, got {per_minute!r}")
        self.capacity = max(1.0, per_minute * _AT_ONCE)
        self.rate = per_minute * (1.0 - _AT_ONCE) / _SECONDS
        self._level = self.capacity
        self._filled_at = -math.inf

    def delay(self, amount: float, *, now: float) -> float:
        """Return the seconds until `amount` may be taken; 0 for at once."""
        self._fill(now)
        lacking = min(amount, self.capacity) - self._level
        return lacking / self.rate if lacking > self.capacity * _ROUNDING else 0.0

    def take(self, amount: float) -> None:
        """Take `amount` out, when `delay` says that it may be."""
        self._level -= amount

    def give_back(self, amount: float, *, now: float) -> None:
        """Put back what was taken and not spent; if `amount` is negative, take the rest."""
        self._fill(now)
        self._level += amount  # what is too much runs over at the next fill

    def _fill(self, now: float) -> None:
        self._level = min(self.capacity, self._level + self.rate * (now - self._filled_at))
        self._filled_at = now


def estimated_tokens(request: ChatRequest) -> int:
    """Reckon the tokens of a call before it is made.

    A quarter of the characters that are sent, rounded up, and the longest reply that is
    allowed. Scripts with a token a character are reckoned too low until the reply is there.

    Examples
    --------
    >>> from spanjury.judges.core import Decoding, Message
    >>> messages = (Message(role="user", content="Who wrote it?"),)
    >>> estimated_tokens(ChatRequest(messages=messages, decoding=Decoding(max_tokens=100)))
    104
    """
    characters = sum(len(message.content) for message in request.messages) + len(request.prefix)
    return math.ceil(characters / _CHARACTERS_PER_TOKEN) + request.decoding.max_tokens
