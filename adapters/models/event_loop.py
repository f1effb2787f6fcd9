"""Event loops: access to asyncio's loop, and a check that a model is used in its own loop."""

import asyncio  # noqa: TID251 - this is where asyncio and trio differ

from anyio.lowlevel import current_token

from spanjury.judges.core import ClosedModelError, ConfigError


class Lease:
    """The lifetime of an open model, in the event loop that opened it.

    Connections belong to the event loop in which they were made. Used in another one, they fail in
    ways that look like a broken server, and would be retried.
    """

    def __init__(self) -> None:
        self._loop = current_token()
        self._has_ended = False

    def end(self) -> None:
        """Mark the model as closed."""
        self._has_ended = True

    def require(self, name: str) -> None:
        """Raise `ClosedModelError` if the model `name` is closed or this is another event loop."""
        if self._has_ended:
            raise ClosedModelError(
                f"{name} is asked after its panel was closed: ask inside the panel's `async with`"
            )
        if current_token() != self._loop:
            raise ClosedModelError(
                f"{name} is asked from another event loop than its panel was opened in: open"
                " the panel in the event loop, and the thread, that asks it"
            )


def asyncio_loop(caller: str) -> asyncio.AbstractEventLoop:
    """Return the running asyncio loop; `caller` begins the error message.

    Raises `ConfigError` if the event loop is not asyncio's.
    """
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        raise ConfigError(
            f"{caller}, which needs asyncio: run the panel with anyio's asyncio backend, not"
            " with trio"
        ) from None
