"""`spanjury serve` and `mcp`: judge for other programs, over HTTP, and for agents."""

import logging as libraries
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from platformdirs import user_state_path

from spanjury.judges.core import ConfigError
from spanjury.judges.core.lazy import lazily, require
from spanjury.orchestration.cli.command import Flag, Flags
from spanjury.orchestration.cli.exits import BY_SIGNAL, say
from spanjury.orchestration.cli.flags.data import AspectsFiles
from spanjury.orchestration.cli.flags.panel import (
    CallFlags,
    ModelBaseUrls,
    PanelFlags,
    ScoringFlags,
    Seed,
    with_workers,
)
from spanjury.orchestration.cli.flags.run import HOST, PORT, LimitFlags, LogFile
from spanjury.orchestration.servers.http.limits import ServiceLimits

with lazily():
    import anyio

    from spanjury.orchestration.cli import logging
    from spanjury.orchestration.engine import stopping
    from spanjury.orchestration.servers import listening, tokens
    from spanjury.orchestration.servers.mcp import server, transports
    from spanjury.orchestration.services.judging import panels
    from spanjury.orchestration.services.serving.batches import batch as batches
    from spanjury.orchestration.wiring import config as configs
    from spanjury.orchestration.wiring import panel_files

from spanjury.orchestration.servers.http import run, settings

_DEFAULT = "default"


class ServedPanelFlags(Flags, title="Judges"):
    """The flags that name the panels; by default, one panel has the offline judges."""

    panel: Annotated[
        tuple[str, ...],
        Flag("Panel that requests may name, and its TOML file; repeatable.", "NAME=FILE"),
    ] = ()
    judge: Annotated[
        tuple[str, ...],
        Flag("Judge of the default panel: NAME or NAME:option=value,…; repeatable.", env=True),
    ] = ()
    model: Annotated[
        tuple[str, ...],
        Flag("LiteLLM name of a model of the default panel, or 'embedded'; repeatable.", env=True),
    ] = ()
    model_base_url: ModelBaseUrls = ()
    workers: Annotated[
        str | None,
        Flag(
            "Processes behind the port: a number, or auto for one per core.",
            "N|auto",
            env=True,
            rare=True,
        ),
    ] = None
    seed: Seed = None
    aspects_file: AspectsFiles = ()
    calls: CallFlags = CallFlags()
    scoring: ScoringFlags = ScoringFlags()

    def panels(self) -> "dict[str, configs.PanelConfig]":
        """Return the panels by name; raise `ConfigError` if flags contradict each other."""
        named = dict(map(self._named, self.panel))
        if len(named) < len(self.panel):
            raise ConfigError("--panel: two panels have the same name")
        if _DEFAULT not in named:
            named[_DEFAULT] = PanelFlags(
                judge=self.judge,
                model=self.model,
                model_base_url=self.model_base_url,
                seed=self.seed,
                calls=self.calls,
                scoring=self.scoring,
            ).config()
        elif self.judge or self.model:
            raise ConfigError(
                "--panel default=… names judges and models: leave out --judge and --model"
            )
        return {name: with_workers(panel, self.workers) for name, panel in named.items()}

    def _named(self, spec: str) -> "tuple[str, configs.PanelConfig]":
        name, equals, file = spec.partition("=")
        if not equals or not name.strip() or not file:
            raise ConfigError(f"--panel {spec!r}: expected NAME=FILE")
        return name.strip(), panel_files.read_panel_file(Path(file))


class ListenFlags(Flags, title="Service"):
    """The flags about the address of the service and its clients."""

    host: Annotated[str, replace(HOST, env="SPANJURY_SERVE_HOST")] = "127.0.0.1"
    port: Annotated[int, replace(PORT, env="SPANJURY_SERVE_PORT")] = 8765
    health_port: Annotated[
        int | None,
        Flag(
            "Port that serves only /healthz and /readyz; 0 for any free port.",
            min=0,
            env="SPANJURY_SERVE_HEALTH_PORT",
        ),
    ] = None
    token_file: Annotated[
        Path | None,
        Flag(
            "File of TENANT:TOKEN lines; a tenant sees only its own batches.",
            env="SPANJURY_SERVE_TOKEN_FILE",
        ),
    ] = None
    state_dir: Annotated[
        Path | None,
        Flag(
            "Folder for batches; by default in your user state folder.",
            "FOLDER",
            env="SPANJURY_SERVE_STATE",
        ),
    ] = None
    log_file: LogFile = None


class BoundFlags(Flags, ServiceLimits, title="Bounds", are_rare=True):
    """The flags that limit requests."""


def serve(
    *,
    judges: ServedPanelFlags,
    listen: ListenFlags,
    limits: LimitFlags,
    bounds: BoundFlags,
) -> None:
    """Serve panels to other programs over HTTP; docs/service.md describes the service.

    The service listens on this machine only, unless --host and a token are given. Limits on
    cost, tokens and time apply to each batch.
    """
    require(run)
    logging.log_to(listen.log_file)
    plan = batches.BatchPlan(
        panels=judges.panels(),
        aspects_files=judges.aspects_file,
        most_running=bounds.max_batches,
        most_waiting=bounds.max_waiting,
        keep_days=bounds.keep_days,
        limits=limits.limits(),
        failures=limits.failures(),
    )
    token = os.environ.get("SPANJURY_SERVE_TOKEN")
    forced_by = run.serve(
        settings.ServiceSettings(
            batches=plan,
            state=listen.state_dir or user_state_path("spanjury", appauthor=False) / "serve",
            host=listen.host,
            port=listen.port,
            health_port=listen.health_port,
            tokens=tokens.read_tokens(token, listen.token_file),
            limits=bounds,
        ),
        say=say,
        begin=partial(logging.log_to, listen.log_file),
    )
    if forced_by:
        raise typer.Exit(BY_SIGNAL + forced_by)


class McpFlags(Flags, title="Server"):
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


def mcp(*, judges: PanelFlags, serving: McpFlags) -> None:
    """Serve a panel to agents over the Model Context Protocol.

    A client starts this command and talks to it over standard input and output, or connects over
    HTTP. The server stops when its client exits, or at Ctrl-C.
    """
    logging.log_to(serving.log_file)
    # Otherwise the SDK would make every library log to standard error.
    libraries.basicConfig(level=libraries.ERROR, format="%(levelname)s: %(message)s")
    panel = judges.config()
    require(server)
    code = 0
    if serving.http:
        code = _serve_http(panel, serving)
    else:
        with suppress(BrokenPipeError), transports.held_streams() as wire:
            serve = partial(transports.serve_stdio, wire=wire)
            code = _run(panel, serve, aspects_files=serving.aspects_file)
    raise typer.Exit(code)


def _serve_http(panel: "configs.PanelConfig", serving: McpFlags) -> int:
    access = listening.access_to(serving.host, serving.token_file)
    if access.quotas:
        raise ConfigError("quotas apply to `spanjury serve` only: leave them out for mcp")
    with listening.listening(serving.host, serving.port) as listener:
        url = f"{listening.url_of(serving.host, listener.getsockname()[1])}{transports.PATH}"
        serve = partial(
            transports.serve_http,
            listener=listener,
            host=serving.host,
            tokens=access,
            started=partial(say, f"serving at {url}; Ctrl-C ends it"),
        )
        return _run(panel, serve, aspects_files=serving.aspects_file)


def _run(
    panel: "configs.PanelConfig",
    serve: Callable[..., Awaitable[None]],
    *,
    aspects_files: Sequence[Path],
) -> int:
    """Serve an open panel until the client or a signal ends it; return the exit code."""
    stop, signals = anyio.Event(), list[int]()

    async def work() -> None:
        async with panels.open_panel(panel) as opened:
            await serve(server.panel_server(opened, aspects_files=aspects_files), stop=stop)

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
