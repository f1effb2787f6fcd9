"""`spanjury mcp`: serve a panel to agents over the Model Context Protocol."""

import logging as libraries
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from spanjury.judges.core import ConfigError
from spanjury.judges.core.lazy import lazily, require
from spanjury.orchestration.cli.command import Flag, Flags
from spanjury.orchestration.cli.exits import BY_SIGNAL, say
from spanjury.orchestration.cli.flags.data import AspectsFiles
from spanjury.orchestration.cli.flags.panel import PanelFlags
from spanjury.orchestration.cli.flags.run import LogFile

with lazily():
    import anyio

    from spanjury.orchestration.cli import logging
    from spanjury.orchestration.engine import stopping
    from spanjury.orchestration.servers import listening
    from spanjury.orchestration.servers.mcp import http as over_http
    from spanjury.orchestration.servers.mcp import server, stdio
    from spanjury.orchestration.services.judging import panels
    from spanjury.orchestration.wiring import config as configs

Serve = Callable[["server.Server", "anyio.Event"], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeFlags(Flags, title="Server"):
    """The flags that say how clients reach the server."""

    http: Annotated[
        bool,
        Flag(
            "Serve over HTTP at /mcp, instead of over standard input and output.",
            env="SPANJURY_MCP_HTTP",
        ),
    ] = False
    host: Annotated[
        str,
        Flag(
            "Address for HTTP; any but a loopback address needs a token, in SPANJURY_SERVE_TOKEN"
            " or --token-file.",
            "ADDRESS",
            env="SPANJURY_MCP_HOST",
        ),
    ] = "127.0.0.1"
    port: Annotated[
        int, Flag("Port for HTTP; 0 for any free port.", min=0, env="SPANJURY_MCP_PORT")
    ] = 8766
    token_file: Annotated[
        Path | None, Flag("File of TENANT:TOKEN lines, for HTTP.", env="SPANJURY_SERVE_TOKEN_FILE")
    ] = None
    aspects_file: AspectsFiles = ()
    log_file: LogFile = None


def mcp(*, judges: PanelFlags, serving: ServeFlags) -> None:
    """Serve a panel to agents over the Model Context Protocol.

    A client starts this command and talks to it over standard input and output, or connects over
    HTTP. The command ends with its client, or at Ctrl-C.
    """
    logging.log_to(serving.log_file)
    # Otherwise the SDK would make every library log to standard error.
    libraries.basicConfig(level=libraries.ERROR, format="%(levelname)s: %(message)s")
    panel = judges.config()
    require(server)
    if serving.http:
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
    held = listening.access_to(serving.host, serving.token_file)
    if held.quotas:
        raise ConfigError("quotas apply to `spanjury serve` only: leave them out for mcp")
    with listening.listening(serving.host, serving.port) as listener:
        url = f"{listening.url_of(serving.host, listener.getsockname()[1])}{over_http.PATH}"

        async def serve(served: "server.Server", stop: "anyio.Event") -> None:
            await over_http.serve_http(
                served,
                listener,
                host=serving.host,
                tokens=held,
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
        if sys.platform == "win32":  # on Windows, Ctrl-C stays a KeyboardInterrupt
            return
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as received:
            async for number in received:
                signals.append(number)
                stop.set()
                break  # a second signal has its default effect

    anyio.run(stopping.run_watched, work, watch)
    return BY_SIGNAL + signals[0] if signals else 0
