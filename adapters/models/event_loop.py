"""The asyncio event loop that some libraries need, or a clear error without one."""

import asyncio  # noqa: TID251 - this is where asyncio is told from trio

from spanjury.judges.core import ConfigError

__all__ = ["asyncio_loop"]


def asyncio_loop(caller: str) -> asyncio.AbstractEventLoop:
    """Return the running loop, which `caller`, the start of a message, cannot do without.

    Raises
    ------
    ConfigError
        If the event loop is not asyncio's.
    """
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        raise ConfigError(
            f"{caller}, which needs asyncio: run the panel with anyio's asyncio backend, not"
            " with trio"
        ) from None
