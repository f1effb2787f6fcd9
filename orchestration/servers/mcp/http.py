"""The transport over HTTP, for clients that did not start the server.

Pages in browsers cannot use it: if the server listens only on this machine, the host and origin of
requests are checked; otherwise a token is required.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from socket import socket

import uvicorn
from anyio import Event, create_task_group
from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import (
    DEFAULT_MAX_REQUEST_BODY_SIZE,
    RequestBodyLimitMiddleware,
    TransportSecuritySettings,
)
from mcp_types import INVALID_REQUEST, ErrorData, JSONRPCError
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from spanjury.judges.core import DataError
from spanjury.judges.core.unique_keys import require_unique_keys
from spanjury.orchestration.servers.listening import is_loopback
from spanjury.orchestration.servers.tokens import Tokens

PATH = "/mcp"
MOST_CONNECTIONS = 1_000
"""Most connections; a further one is answered with 503."""
GRACE = 3
"""Seconds for answers under way to finish when the server ends."""


async def serve_http(
    server: MCPServer,
    listener: socket,
    *,
    host: str,
    tokens: Tokens,
    stop: Event,
    started: Callable[[], None],
) -> None:
    """Serve until `stop` is set; call `started` when requests are answered.

    If there are `tokens`, a request without one of them is answered with 401. `host` is the address
    of `listener`.
    """
    app: ASGIApp = server.streamable_http_app(
        streamable_http_path=PATH, transport_security=_security(host, listener)
    )
    app = RequestBodyLimitMiddleware(_with_unique_keys(app), DEFAULT_MAX_REQUEST_BODY_SIZE)
    config = uvicorn.Config(
        _guarded(app, tokens) if tokens else app,
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
            # Answers cut off now are cut off on purpose, and should not be logged as errors.
            logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
            web.should_exit = True

        group.start_soon(end)
        await web.serve(sockets=[listener])
        group.cancel_scope.cancel()


class _Web(uvicorn.Server):
    """A server that leaves signals to its caller, and reports when it has started."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._say_started = started

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the caller."""
        yield

    async def startup(self, sockets: list[socket] | None = None) -> None:
        """Start, and report it."""
        await super().startup(sockets)
        if self.started:
            self._say_started()


def _guarded(app: ASGIApp, tokens: Tokens) -> ASGIApp:
    """Wrap the application so that requests need a token."""

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope) if scope["type"] == "http" else None
        if headers is None or tokens.bearer(headers.getlist("authorization")) is not None:
            await app(scope, receive, send)
            return
        refusal = PlainTextResponse(
            "a bearer token is needed\n", 401, headers={"WWW-Authenticate": "Bearer"}
        )
        await refusal(scope, receive, send)

    return guarded


def _with_unique_keys(app: ASGIApp) -> ASGIApp:
    """Wrap the application so that duplicate JSON keys are rejected; a body comes in one piece."""

    async def checked(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        messages = [await receive()]
        try:
            require_unique_keys(messages[0].get("body", b""))
        except DataError as error:
            await _refusal(str(error))(scope, receive, send)
            return

        async def replayed() -> Message:
            return messages.pop() if messages else await receive()

        await app(scope, replayed, send)

    return checked


def _refusal(problem: str) -> Response:
    error = ErrorData(code=INVALID_REQUEST, message=problem)
    body = JSONRPCError(jsonrpc="2.0", id=None, error=error).model_dump_json()
    return Response(body, status_code=400, media_type="application/json")


def _security(host: str, listener: socket) -> TransportSecuritySettings:
    """Return the settings of host and origin checks; beyond loopback the token replaces them."""
    if not is_loopback(host):
        return TransportSecuritySettings(enable_dns_rebinding_protection=False)
    port = listener.getsockname()[1]
    names = {"127.0.0.1", "localhost", "[::1]", f"[{host}]" if ":" in host else host}
    hosts = [f"{name}:{port}" for name in sorted(names)]
    return TransportSecuritySettings(
        allowed_hosts=hosts, allowed_origins=[f"http://{name}" for name in hosts]
    )
