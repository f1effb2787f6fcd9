"""The server of a view from its start to its end.

It is made of aiohttp, which every installation has, so that looking at a run needs no extra; the
service for other programs is another, larger application.
"""

import secrets
import signal
import socket
import sys
from collections.abc import Callable, Iterable

import anyio
from aiohttp import web

from spanjury.orchestration.servers.listening import listening, url_of
from spanjury.orchestration.servers.view.app import create_app
from spanjury.orchestration.services.viewing.view import View

_HOST = "127.0.0.1"
_CLOSING_SECONDS = 1.0
"""Time that answers under way have at the end."""
_TOKEN_BYTES = 24


def serve_view(
    view: View,
    page: str,
    *,
    port: int,
    opened: Callable[[str], None],
    routes: Iterable[web.RouteDef] = (),
) -> None:
    """Serve a view to this machine until Ctrl-C or SIGTERM.

    Raise `ServiceError` if the port is taken.

    Parameters
    ----------
    view
        The rows, open.
    page
        The page, without data.
    port
        0 for any that is free.
    opened
        Is given the address, with the token behind ``#``, once it answers.
    routes
        Further ones.
    """
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    app = create_app(view, page, token=token, routes=routes)
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
