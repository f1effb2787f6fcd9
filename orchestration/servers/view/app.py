"""The web applications of a view and of many runs: pages, JSON for what they ask, the server.

The page of one run among many has its own URL, below which it sends requests as if it were served
alone.

It uses aiohttp, which every installation has, so that viewing a run needs no extra; the service for
other programs is a separate, larger application.
"""

import re
import secrets
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import partial
from html import unescape
from pathlib import Path
from typing import TypeVar

import anyio
from aiohttp import web
from anyio import Lock, to_thread

from spanjury.orchestration.report.view.page import view_page
from spanjury.orchestration.servers.listening import listening, url_of
from spanjury.orchestration.servers.view.answers import (
    Refused,
    answer,
    checked_number,
    number_of_query,
    text_of_query,
)
from spanjury.orchestration.servers.view.guard import Handler, guarded
from spanjury.orchestration.services.viewing.runs import RunsView
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
"""Seconds for which an answer waits for more rows or runs: the page need not ask in a loop."""
_POLICY = re.compile(r'http-equiv="Content-Security-Policy" content="([^"]*)"')
OpenRuns = Callable[[Sequence[Path]], AbstractContextManager[tuple[View, Iterable[web.RouteDef]]]]
"""Opens a view of one or two runs, with its further routes."""

MOST_OPENED = 8
"""Most views that are open at once; opening another closes the oldest."""
_Handlers = Mapping[tuple[str, str], Handler]


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


def create_runs_app(
    runs: RunsView, page: str, *, token: str, open_runs: OpenRuns
) -> web.Application:
    """Return the application.

    All but the pages requires `token`. `open_runs` opens the runs whose page a reader requests.
    """
    opened = _OpenedViews(runs, open_runs)
    app = create_app(
        page,
        [
            web.get("/api/runs", partial(_list_runs, runs)),
            web.route("*", "/run/{first}/{rest:.*}", opened.answer),
            web.route("*", "/runs/{first}/{second}/{rest:.*}", opened.answer),
        ],
        token=token,
    )
    app.on_cleanup.append(opened.close)
    return app


async def _list_runs(runs: RunsView, request: web.Request) -> web.Response:
    counted = number_of_query(request, "counted", 0)

    def described() -> Mapping[str, object]:
        runs.wait(beyond=counted, seconds=_WAITING)
        return runs.described()

    return answer(await to_thread.run_sync(described, abandon_on_cancel=True))


@dataclass(slots=True)
class _Opened:
    """A view of runs, and the requests that it is answering."""

    stack: ExitStack
    handlers: _Handlers
    requests: int = 0


class _OpenedViews:
    """The views that readers opened, each with its handlers; opened on first request."""

    def __init__(self, runs: RunsView, open_runs: OpenRuns) -> None:
        self._runs = runs
        self._open_runs = open_runs
        self._opened: dict[tuple[str, ...], _Opened] = {}
        self._lock = Lock()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer as a server of these runs alone would."""
        match = request.match_info
        names = tuple(match[part] for part in ("first", "second") if part in match)
        if not match["rest"]:  # the empty page contains no data, so it needs no token
            page = view_page(" and ".join(names))
            return await showing(page)(request)
        if not match["rest"].startswith("api/"):  # it needed no token, so it opens nothing
            raise web.HTTPNotFound
        async with self._lock:
            opened = await self._open(names)
            opened.requests += 1
        try:
            handler = opened.handlers.get((request.method, f"/{match['rest']}"))
            if handler is None:
                raise web.HTTPNotFound
            return await handler(request)
        finally:
            opened.requests -= 1

    async def _open(self, names: tuple[str, ...]) -> "_Opened":
        """Return the view of these runs as the one used last."""
        opened = self._opened.pop(names, None)
        if opened is None:
            folders = [self._runs.folder_of(name) for name in names]
            named = [folder for folder in folders if folder is not None]
            if len(named) < len(names):
                raise Refused(404, "there is no such run in the folder")
            stack = ExitStack()
            view, routes = await to_thread.run_sync(stack.enter_context, self._open_runs(named))
            handlers = {
                (route.method, route.path): route.handler for route in (*view_routes(view), *routes)
            }
            opened = _Opened(stack, handlers)
            idle = [key for key, each in self._opened.items() if not each.requests]
            for key in idle[: max(0, len(self._opened) + 1 - MOST_OPENED)]:
                await to_thread.run_sync(self._opened.pop(key).stack.close)
        self._opened[names] = opened
        return opened

    async def close(self, app: web.Application) -> None:
        del app
        while self._opened:
            _, opened = self._opened.popitem()
            await to_thread.run_sync(opened.stack.close)
