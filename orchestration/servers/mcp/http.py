"""The transport over HTTP, for clients that did not start the server.

A browser's page cannot use it: the host and the origin of a request are checked where the server
listens on this machine only, and a token is asked for where it listens to others.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from socket import socket

import uvicorn
from anyio import Event, create_task_group
from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from spanjury.orchestration.servers.mcp.listening import Address, is_bearer

PATH = "/mcp"
MOST_CONNECTIONS = 1_000
"""Connections at once; a further one is answered with 503."""
GRACE = 3
"""Seconds that answers under way may take when the server ends."""


async def serve_http(
    server: MCPServer,
    listener: socket,
    *,
    address: Address,
    token: str | None,
    stop: Event,
    started: Callable[[], None],
) -> None:
    """Serve until `stop` is set; call `started` when requests are answered.

    With a `token`, a request without it is answered with 401.
    """
    app: ASGIApp = server.streamable_http_app(
        streamable_http_path=PATH, transport_security=_security(address, listener)
    )
    config = uvicorn.Config(
        _Guarded(app, token) if token else app,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=GRACE,
        server_header=False,
        limit_concurrency=MOST_CONNECTIONS,
    )
    web = _Web(config, started)
    async with create_task_group() as group:

        async def end() -> None:
            await stop.wait()
            # Answers that are cut off now are cut off on purpose, and no error to trace.
            logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
            web.should_exit = True

        group.start_soon(end)
        await web.serve(sockets=[listener])
        group.cancel_scope.cancel()


class _Web(uvicorn.Server):
    """A server that leaves signals to its caller, and says when it has started."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._say_started = started

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield

    async def startup(self, sockets: list[socket] | None = None) -> None:
        """Start, and say so."""
        await super().startup(sockets)
        if self.started:
            self._say_started()


class _Guarded:
    """An application for those who know the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or is_bearer(
            Headers(scope=scope).get("authorization", ""), self._token
        ):
            await self._app(scope, receive, send)
            return
        refusal = PlainTextResponse(
            "a bearer token is needed\n", 401, headers={"WWW-Authenticate": "Bearer"}
        )
        await refusal(scope, receive, send)


def _security(address: Address, listener: socket) -> TransportSecuritySettings:
    """Return the check of hosts and origins; beyond this machine the token does their work."""
    if not address.is_loopback:
        return TransportSecuritySettings(enable_dns_rebinding_protection=False)
    port = listener.getsockname()[1]
    hosts = [f"{host}:{port}" for host in ("127.0.0.1", "localhost", "[::1]", address.url_host)]
    return TransportSecuritySettings(
        allowed_hosts=hosts, allowed_origins=[f"http://{host}" for host in hosts]
    )
