"""`spanjury mcp`: let agents ask a panel over the Model Context Protocol."""

import logging as libraries
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from spanjury.judges.core.lazy import lazily, require
from spanjury.orchestration.cli.command import Flag, Flags
from spanjury.orchestration.cli.exits import say
from spanjury.orchestration.cli.flags.data import AspectsFiles
from spanjury.orchestration.cli.flags.panel import PanelFlags

with lazily():
    import anyio

    from spanjury.orchestration.cli import logging
    from spanjury.orchestration.engine import stopping
    from spanjury.orchestration.servers.mcp import http as over_http
    from spanjury.orchestration.servers.mcp import listening, server, stdio
    from spanjury.orchestration.services import panels
    from spanjury.orchestration.wiring import config as configs

TOKEN = "SPANJURY_SERVE_TOKEN"  # noqa: S105  the variable's name
_BY_SIGNAL = 128

Serve = Callable[["server.Server", "anyio.Event"], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeFlags(Flags, title="Server"):
    """The flags that say how clients reach the server."""

    http: Annotated[
        bool, Flag("Serve over HTTP, at /mcp, in place of standard input and output.", env=True)
    ] = False
    listen: Annotated[
        str | None,
        Flag(
            "Address for HTTP; 127.0.0.1:8766 by default. Any that other machines reach needs"
            f" a secret in {TOKEN}.",
            "HOST:PORT",
            env=True,
        ),
    ] = None
    aspects_file: AspectsFiles = ()
    log_file: Annotated[
        Path | None, Flag("Write a log to this file, in JSON.", env=True, rare=True)
    ] = None


def mcp(*, judges: PanelFlags, serving: ServeFlags) -> None:
    """Serve a panel to agents over the Model Context Protocol.

    A client starts this command and speaks to it by its standard input and output, or reaches it
    over HTTP. It ends when the client does, or at Ctrl-C.
    """
    logging.log_to(serving.log_file)
    # The SDK would have every library write its notes to standard error.
    libraries.basicConfig(level=libraries.ERROR, format="%(levelname)s: %(message)s")
    panel = judges.config()
    require(server)
    if serving.http or serving.listen is not None:
        code = _serve_http(panel, serving)
    else:
        code = _serve_stdio(panel, serving.aspects_file)
    raise typer.Exit(code)


def _serve_stdio(panel: "configs.PanelConfig", aspects_files: Sequence[Path]) -> int:
    code = 0
    with suppress(BrokenPipeError), stdio.held_streams() as wire:

        async def serve(served: "server.Server", stop: "anyio.Event") -> None:
            await stdio.serve_stdio(served, wire, stop=stop)

        code = _run(panel, serve, aspects_files=aspects_files)
    return code


def _serve_http(panel: "configs.PanelConfig", serving: ServeFlags) -> int:
    token = os.environ.get(TOKEN, "").strip() or None
    address = listening.Address.parse(serving.listen or "")
    listening.check_access(address, token)
    with address.bound() as listener:
        url = f"http://{address.url_host}:{listener.getsockname()[1]}{over_http.PATH}"

        async def serve(served: "server.Server", stop: "anyio.Event") -> None:
            await over_http.serve_http(
                served,
                listener,
                address=address,
                token=token,
                stop=stop,
                started=partial(say, f"serving at {url}; Ctrl-C ends it"),
            )

        return _run(panel, serve, aspects_files=serving.aspects_file)


def _run(panel: "configs.PanelConfig", serve: Serve, *, aspects_files: Sequence[Path]) -> int:
    """Serve an open panel until the client or a signal ends it; return the exit code."""
    stop, signals = anyio.Event(), list[int]()

    async def work() -> None:
        async with panels.open_panel(panel) as opened:
            await serve(server.panel_server(opened, aspects_files=aspects_files), stop)

    async def watch() -> None:
        if sys.platform == "win32":  # there, Ctrl-C stays a KeyboardInterrupt
            return
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as received:
            async for number in received:
                signals.append(number)
                stop.set()
                break  # a second one has its usual effect

    anyio.run(stopping.run_watched, work, watch)
    return _BY_SIGNAL + signals[0] if signals else 0
