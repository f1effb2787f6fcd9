"""Under what a memory keeps what was said, and whose turn it is to have it said."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from anyio import Lock

from spanjury.judges.core import Aspect
from spanjury.orchestration.memory_codec import written

__all__ = ["AspectTexts", "Turns", "digest"]

_LAYOUT = b"1"
"""Raised when keys or values change: what was written the old way is then not found."""

_MOST_ASPECTS = 1000
"""How many aspects a judge keeps as text, should each segment come with its own."""


class Turns:
    """One asker a key at a time."""

    def __init__(self) -> None:
        self._locks: dict[str, Lock] = {}

    @asynccontextmanager
    async def one(self, key: str) -> AsyncIterator[None]:
        """Wait for the turn at `key`, and hold it inside the context."""
        lock = self._locks.setdefault(key, Lock(fast_acquire=True))
        try:
            async with lock:
                yield
        finally:
            if not lock.locked():  # nobody waits: it was not handed on
                self._locks.pop(key, None)


class AspectTexts:
    """The aspects that were asked about, as text: the same few come with every segment."""

    def __init__(self) -> None:
        self._told: dict[int, tuple[Aspect, str]] = {}

    def told(self, aspect: Aspect) -> str:
        """Return all that `aspect` says."""
        known = self._told.get(id(aspect))  # held here, so that no other gets its id
        if known is not None:
            return known[1]
        if len(self._told) >= _MOST_ASPECTS:
            self._told.clear()
        text = written(aspect).decode()
        self._told[id(aspect)] = aspect, text
        return text


def digest(*parts: str | bytes) -> str:
    """Return 32 hexadecimal digits: `fingerprint`'s 12 are too few for 10^8 keys."""
    digest = hashlib.blake2b(_LAYOUT, digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()
