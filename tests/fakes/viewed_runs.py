"""Runs to look at: real ones of offline judges over small files, and a server of their views."""

import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from aiohttp import web
from anyio.from_thread import start_blocking_portal
from fakes.command import call
from fakes.rows import summary

from spanjury.orchestration.servers.view.app import create_app, view_routes
from spanjury.orchestration.services.viewing.sources import find_runs
from spanjury.orchestration.services.viewing.view import View

TOKEN = "token-of-a-test-0123456789"
ARTICLE = "The bridge was opened in 1932 by the premier. It rained all day, and few people came."
OTHER = "The harbour froze in March. Two ships were held in the ice for a week."


def _row(name: str, system: str, article: str, output: str) -> dict[str, object]:
    return summary(
        name,
        output,
        article=article,
        system=system,
        references=["It opened in 1932."],
        human={"consistency": {"anna": 2}},
    )


ROWS: Sequence[Mapping[str, object]] = (
    _row("bridge-bart", "bart", ARTICLE, "The bridge was opened in 1935 by the premier."),
    _row("bridge-t5", "t5", ARTICLE, "The bridge was opened in 1932."),
    _row("harbour-bart", "bart", OTHER, "The harbour froze in March, and the the ships sank"),
    _row("harbour-t5", "t5", OTHER, "The harbour froze in March."),
)


def write_rows(path: Path, rows: Sequence[Mapping[str, object]] = ROWS) -> Path:
    """Write data as JSON Lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def judge(folder: Path, *flags: str, run: str = "run", data: str = "rows.jsonl") -> Path:
    """Judge a file by rules in a new run, and return its folder."""
    judges = ("--judge", "grounding", "--judge", "form")
    aspects = ("--aspect", "consistency", "--aspect", "fluency")
    quietly = ("--run-dir", run, "--no-progress", "--show", "none")
    call(folder, "evaluate", data, *judges, *aspects, *quietly, *flags)
    return folder / run


def results(run: Path) -> list[dict[str, object]]:
    """Return the rows of a run."""
    return [json.loads(line) for line in (run / "results.jsonl").read_text("utf-8").splitlines()]


@contextmanager
def open_run(*named: Path, data: Path | None = None, columns: Sequence[str] = ()) -> Iterator[View]:
    """Open a view, all of whose rows are read."""
    with View(find_runs(named, data=data, columns=columns)) as view:
        view.wait()
        yield view


@contextmanager
def served(
    view: View, *, page: str = "<html></html>", routes: Sequence[web.RouteDef] = ()
) -> Iterator[str]:
    """Serve a view in a thread, and give its address."""
    every = [*view_routes(view), *routes]
    with served_app(lambda: create_app(page, every, token=TOKEN)) as url:
        yield url


@contextmanager
def served_app(create: Callable[[], web.Application]) -> Iterator[str]:
    """Serve an application in a thread, and give its address."""

    @asynccontextmanager
    async def serving() -> AsyncIterator[str]:
        runner = web.AppRunner(create())
        await runner.setup()
        try:
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            host, port = runner.addresses[0][:2]
            yield f"http://{host}:{port}"
        finally:
            await runner.cleanup()

    with start_blocking_portal() as portal, portal.wrap_async_context_manager(serving()) as url:
        yield url
