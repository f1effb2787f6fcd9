"""The web application of many runs: their list, and the pages of runs that a reader opens.

The page of a run has its own URL, below which it sends requests as if it were served alone.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from pathlib import Path

from aiohttp import web
from anyio import Lock, to_thread

from spanjury.orchestration.report.view.page import view_page
from spanjury.orchestration.servers.view.answers import Refused, answer, number_of_query
from spanjury.orchestration.servers.view.app import create_app, showing, view_routes
from spanjury.orchestration.servers.view.guard import Handler
from spanjury.orchestration.services.viewing.runs import RunsView
from spanjury.orchestration.services.viewing.view import View

OpenRuns = Callable[[Sequence[Path]], AbstractContextManager[tuple[View, Iterable[web.RouteDef]]]]
"""Opens a view of one or two runs, with its further routes."""

MOST_OPENED = 8
"""Most views that are open at once; opening another closes the oldest."""
_WAITING = 1.0
"""Seconds that an answer waits for the figures of another run."""
_Handlers = Mapping[tuple[str, str], Handler]


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
            web.get("/api/runs", partial(_list, runs)),
            web.route("*", "/run/{first}/{rest:.*}", opened.answer),
            web.route("*", "/runs/{first}/{second}/{rest:.*}", opened.answer),
        ],
        token=token,
    )
    app.on_cleanup.append(opened.close)
    return app


async def _list(runs: RunsView, request: web.Request) -> web.Response:
    counted = number_of_query(request, "counted", 0)

    def described() -> Mapping[str, object]:
        runs.wait(beyond=counted, seconds=_WAITING)
        return runs.described()

    return answer(await to_thread.run_sync(described, abandon_on_cancel=True))


class _OpenedViews:
    """The views that readers opened, each with its handlers; opened on first request."""

    def __init__(self, runs: RunsView, open_runs: OpenRuns) -> None:
        self._runs = runs
        self._open_runs = open_runs
        self._opened: dict[tuple[str, ...], tuple[ExitStack, _Handlers]] = {}
        self._lock = Lock()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer as a server of these runs alone would."""
        match = request.match_info
        names = tuple(match[part] for part in ("first", "second") if part in match)
        if not match["rest"]:  # the empty page contains no data, so it needs no token
            page = view_page(" and ".join(names), blocks={}, is_served=True)
            return await showing(page)(request)
        async with self._lock:
            handlers = await self._handlers(names)
        handler = handlers.get((request.method, f"/{match['rest']}"))
        if handler is None:
            raise web.HTTPNotFound
        return await handler(request)

    async def _handlers(self, names: tuple[str, ...]) -> _Handlers:
        if names not in self._opened:
            folders = [self._runs.folder_of(name) for name in names]
            named = [folder for folder in folders if folder is not None]
            if len(named) < len(names):
                raise Refused(404, "there is no such run in the folder")
            stack = ExitStack()
            view, routes = await to_thread.run_sync(stack.enter_context, self._open_runs(named))
            handlers = {
                (route.method, route.path): route.handler for route in (*view_routes(view), *routes)
            }
            self._opened[names] = stack, handlers
            if len(self._opened) > MOST_OPENED:
                first, _ = self._opened.pop(next(iter(self._opened)))
                await to_thread.run_sync(first.close)
        return self._opened[names][1]

    async def close(self, app: web.Application) -> None:
        """Close all views."""
        del app
        while self._opened:
            _, (stack, _) = self._opened.popitem()
            await to_thread.run_sync(stack.close)
