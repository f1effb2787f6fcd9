"""The connections that LiteLLM keeps behind our back, closed when we are done.

It caches HTTP clients per event loop and closes them some time after the loop has gone.
Here they close with the last model that was opened in their loop.
"""

import asyncio  # noqa: TID251 - LiteLLM's clients belong to an asyncio event loop
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio

from spanjury.adapters.models.event_loop import asyncio_loop
from spanjury.adapters.models.litellm_library import litellm
from spanjury.judges.core import EventLog, kind_of

__all__ = ["client_connections"]

_CLOSING_SECONDS = 5.0
_models_open: Counter[asyncio.AbstractEventLoop] = Counter()

log = EventLog()


@asynccontextmanager
async def client_connections() -> AsyncIterator[None]:
    """Share the ownership of LiteLLM's connections with every other model of this event loop.

    Raises
    ------
    ConfigError
        If the event loop is not asyncio's.
    """
    loop = asyncio_loop("models are called through LiteLLM")
    _models_open[loop] += 1
    try:
        yield
    finally:
        _models_open[loop] -= 1
        if not _models_open[loop]:
            del _models_open[loop]
            with anyio.move_on_after(_CLOSING_SECONDS, shield=True):
                await _close_clients()


async def _close_clients() -> None:
    """Close the clients of this event loop; LiteLLM's cache tells them by the end of their key."""
    cache: Any = litellm.in_memory_llm_clients_cache  # typed only in newer releases
    of_this_loop = cache.update_cache_key_with_event_loop("")
    for key in [key for key in cache.cache_dict if key.endswith(of_this_loop)]:
        client = cache.cache_dict.pop(key)
        cache.ttl_dict.pop(key, None)
        close = getattr(client, "close", None) or getattr(client, "aclose", None)
        if close is None:
            continue
        try:
            await close()
        except Exception as error:  # noqa: BLE001 - what is left of a foreign connection
            log.debug("client.close_failed", error=kind_of(error))
