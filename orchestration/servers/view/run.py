"""The server of a view from its start to its end.

It is made of aiohttp, which every installation has, so that looking at a run needs no extra; the
service for other programs is another, larger application.
"""

import secrets
import signal
import socket
import sys
from collections.abc import Callable

import anyio
from aiohttp import web

from spanjury.orchestration.servers.listening import listening, url_of

Create = Callable[[str], web.Application]
"""Makes the application whose clients hold a token."""

_HOST = "127.0.0.1"
_CLOSING_SECONDS = 1.0
"""Time that answers under way have at the end."""
_TOKEN_BYTES = 24


def serve_page(create: Create, *, port: int, opened: Callable[[str], None]) -> None:
    """Serve a page to this machine until Ctrl-C or SIGTERM.

    `opened` is given the address, with the token behind ``#``, once the server answers.

    Raise `ServiceError` if the port is taken.
    """
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    app = create(token)
    with listening(_HOST, port) as listener:
        url = f"{url_of(*listener.getsockname()[:2])}/#{token}"
        anyio.run(_serve, app, listener, lambda: opened(url))


async def _serve(app: web.Application, listener: socket.socket, opened: Callable[[], None]) -> None:
    # Requests are no news, and their addresses may hold what was searched.
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=_CLOSING_SECONDS)
    await runner.setup()
    try:
        await web.SockSite(runner, listener).start()
        if sys.platform == "win32":  # there, Ctrl-C stays a KeyboardInterrupt
            opened()
            await anyio.sleep_forever()
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            opened()
            async for _ in signals:
                break
    finally:
        with anyio.CancelScope(shield=True):
            await runner.cleanup()
