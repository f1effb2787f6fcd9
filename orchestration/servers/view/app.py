"""The web application of a view: the page, its JSON interface, and its server.

It uses aiohttp, which every installation has, so that viewing a run needs no extra; the service for
other programs is a separate, larger application.
"""

import re
import secrets
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from html import unescape
from typing import TypeVar

import anyio
from aiohttp import web
from anyio import to_thread

from spanjury.orchestration.servers.listening import listening, url_of
from spanjury.orchestration.servers.view.answers import (
    Refused,
    answer,
    checked_number,
    number_of_query,
    text_of_query,
)
from spanjury.orchestration.servers.view.guard import guarded
from spanjury.orchestration.services.viewing.view import MOST_DETAILS, View

T = TypeVar("T")
Create = Callable[[str], web.Application]
"""Makes the application for a given token."""

_HOST = "127.0.0.1"
_CLOSING_SECONDS = 1.0
"""Seconds for answers under way to finish at the end."""
_TOKEN_BYTES = 24
_LARGEST_BODY = 2**20
_WAITING = 1.0
"""Seconds that an answer waits for more rows, so that the page does not poll in a tight loop."""
_POLICY = re.compile(r'http-equiv="Content-Security-Policy" content="([^"]*)"')


def create_app(page: str, routes: Iterable[web.RouteDef], *, token: str) -> web.Application:
    """Return the application of a page and its routes below ``/api/``, protected by `token`."""
    app = web.Application(middlewares=[guarded(token)], client_max_size=_LARGEST_BODY)
    app.add_routes([web.get("/", showing(page)), web.get("/favicon.ico", _no_icon), *routes])
    return app


def view_routes(view: View) -> list[web.RouteDef]:
    """Return the routes of the rows of a view."""
    asked = (
        ("head", _head),
        ("columns", _columns),
        ("rows", _rows),
        ("search", _search),
        ("asked", _asked),
        ("comparison", _comparison),
    )
    return [web.get(f"/api/{name}", partial(handler, view)) for name, handler in asked]


def showing(page: str) -> Callable[[web.Request], Awaitable[web.Response]]:
    """Return a handler that sends the page with its own security policy, and outside of frames."""
    match = _POLICY.search(page)
    policy = f"{unescape(match[1])}; frame-ancestors 'none'" if match else ""
    headers = {"Content-Security-Policy": policy} if policy else {}

    async def show(request: web.Request) -> web.Response:
        del request
        return web.Response(text=page, content_type="text/html", headers=headers)

    return show


async def _no_icon(request: web.Request) -> web.Response:
    """Answer browsers' automatic requests for an icon, which carry no token."""
    del request
    return web.Response(status=204)


async def _head(view: View, request: web.Request) -> web.Response:
    del request
    return answer(await _in_thread(view.head))


async def _columns(view: View, request: web.Request) -> web.Response:
    start = number_of_query(request, "from", 0)
    is_blind = _is_blind(request)

    def columns() -> dict[str, object]:
        view.wait(beyond=start, seconds=_WAITING)
        return view.columns(start, is_blind=is_blind)

    return answer(await _in_thread(columns))


async def _rows(view: View, request: web.Request) -> web.Response:
    named = text_of_query(request, "numbers").split(",")
    if len(named) > MOST_DETAILS:
        raise Refused(400, f"got {len(named)} numbers, expected {MOST_DETAILS} at most")
    numbers = [checked_number(number, name="numbers") for number in named]
    blind = text_of_query(request, "blind", "")
    return answer(await _in_thread(partial(view.details, numbers, blind=blind)))


async def _search(view: View, request: web.Request) -> web.Response:
    text = text_of_query(request, "text")
    matches = await _in_thread(partial(view.search, text, is_blind=_is_blind(request)))
    return answer({"numbers": matches})


async def _asked(view: View, request: web.Request) -> web.Response:
    number, run = number_of_query(request, "number"), number_of_query(request, "run", 0)
    return answer(await _in_thread(partial(view.asked, number, run=run)))


async def _comparison(view: View, request: web.Request) -> web.Response:
    first, second = (text_of_query(request, name) for name in ("first", "second"))
    return answer(await _in_thread(partial(view.comparison, first, second)))


def _is_blind(request: web.Request) -> bool:
    return text_of_query(request, "blind", "") not in {"", "0"}


async def _in_thread(work: Callable[[], T]) -> T:
    """Run `work` in a thread, so that other requests are answered; abandon it on disconnect."""
    return await to_thread.run_sync(work, abandon_on_cancel=True)


def serve_page(create: Create, *, port: int, opened: Callable[[str], None]) -> None:
    """Serve a page to this machine until Ctrl-C or SIGTERM.

    `opened` is called with the URL, which has the token after ``#``, once the server answers.

    Raise `ServiceError` if the port is in use.
    """
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    app = create(token)
    with listening(_HOST, port) as listener:
        url = f"{url_of(*listener.getsockname()[:2])}/#{token}"
        anyio.run(_serve, app, listener, lambda: opened(url))


async def _serve(app: web.Application, listener: socket.socket, opened: Callable[[], None]) -> None:
    # Requests are not worth logging, and their URLs may contain search texts.
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=_CLOSING_SECONDS)
    await runner.setup()
    try:
        await web.SockSite(runner, listener).start()
        if sys.platform == "win32":  # on Windows, Ctrl-C stays a KeyboardInterrupt
            opened()
            await anyio.sleep_forever()
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            opened()
            async for _ in signals:
                break
    finally:
        with anyio.CancelScope(shield=True):
            await runner.cleanup()
