"""The transports: over standard input and output, and over HTTP.

The first is for a program that starts the server. Standard output carries only the protocol: while
the streams are held, all other output of the process and its children goes to standard error.
Waiting for input can be cancelled, so that a signal ends the server even if its client is silent.

HTTP is for clients that did not start the server. Pages in browsers cannot use it: if the server
listens only on this machine, the host and origin of requests are checked; otherwise a token is
required.
"""

import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import TextIOWrapper
from socket import socket
from typing import Self

import uvicorn
from anyio import AsyncFile, Event, create_task_group, wait_readable, wrap_file
from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import (
    DEFAULT_MAX_REQUEST_BODY_SIZE,
    RequestBodyLimitMiddleware,
    TransportSecuritySettings,
)
from mcp.shared._context_streams import ContextReceiveStream, ContextSendStream
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError
from pydantic_core import ErrorDetails
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from spanjury.judges.core import DataError, first_error_alone
from spanjury.judges.core.json_text import require_unique_keys, without_lone_escapes
from spanjury.orchestration.servers.listening import is_loopback
from spanjury.orchestration.servers.tokens import Tokens

LONGEST_MESSAGE = 16 * 1024 * 1024
"""Most bytes of one message: an endless line must not fill the memory."""

_CHUNK = 64 * 1024
PATH = "/mcp"
MOST_CONNECTIONS = 1_000
"""Most connections; a further one is answered with 503."""
GRACE = 3
"""Seconds for answers under way to finish when the server ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """The streams that carry the protocol."""

    source: AsyncFile[str]
    sink: AsyncFile[str]


class _Lines(AsyncFile[str]):
    """The lines of a file; waiting for a line can be cancelled, unlike a reading thread.

    Lone surrogates are replaced: the parser of the protocol refuses a line with one, and its error
    has no id, so that the call would wait for ever.
    """

    def __init__(self, file: TextIOWrapper) -> None:
        super().__init__(file)
        self._descriptor = file.fileno()
        self._waits = sys.platform != "win32"  # Windows can only wait for sockets
        self._rest = b""

    async def readline(self) -> str:
        """Return the next line; empty at the end."""
        if not self._waits:
            return without_lone_escapes(await super().readline())
        parts = [self._rest]
        size = len(self._rest)
        while b"\n" not in parts[-1] and (chunk := await self._chunk()):
            size += len(chunk)
            if size > LONGEST_MESSAGE:
                raise DataError(f"a message has more than {LONGEST_MESSAGE} bytes")
            parts.append(chunk)
        line, end, self._rest = b"".join(parts).partition(b"\n")
        return without_lone_escapes((line + end).decode(errors="replace"))

    async def _chunk(self) -> bytes:
        with suppress(PermissionError):  # a regular file is always ready
            await wait_readable(self._descriptor)
        return os.read(self._descriptor, _CHUNK)


@contextmanager
def held_streams() -> Iterator[Wire]:
    """Reserve standard input and output for the protocol; restore both at the end."""
    sys.stdout.flush()
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    try:
        with (
            os.fdopen(source, encoding="utf-8", closefd=False) as lines,
            os.fdopen(sink, "w", encoding="utf-8", closefd=False) as out,
        ):
            yield Wire(source=_Lines(lines), sink=wrap_file(out))
    finally:
        sys.stdout.flush()
        os.dup2(source, 0)
        os.dup2(sink, 1)
        os.close(source)
        os.close(sink)


class _Frames(ContextReceiveStream[SessionMessage | Exception]):
    """The messages of a client; invalid ones are answered with a JSON-RPC error."""

    def __init__(
        self,
        frames: ContextReceiveStream[SessionMessage | Exception],
        answers: ContextSendStream[SessionMessage],
    ) -> None:
        super().__init__(frames._inner)  # noqa: SLF001  the library has no other way to wrap it
        self._answers = answers

    async def __aenter__(self) -> Self:
        return self

    async def receive(self) -> SessionMessage | Exception:
        while isinstance(frame := await super().receive(), Exception):
            await self._answers.send(SessionMessage(_error_of(frame)))
        return frame


def _error_of(problem: Exception) -> JSONRPCError:
    """Return the answer to a line that is not JSON, or no message of the protocol."""
    errors = problem.errors(include_url=False) if isinstance(problem, ValidationError) else []
    if not errors or any(error["type"] == "json_invalid" for error in errors):
        error = ErrorData(code=PARSE_ERROR, message="the line is not JSON")
        return JSONRPCError(jsonrpc="2.0", id=None, error=error)
    error = ErrorData(code=INVALID_REQUEST, message="the line is not a message of JSON-RPC 2.0")
    return JSONRPCError(jsonrpc="2.0", id=_id_in(errors), error=error)


def _id_in(errors: list[ErrorDetails]) -> int | str | None:
    """Return the id in a line, if it has a valid one."""
    for error in errors:
        named = error["input"].get("id") if isinstance(error["input"], dict) else None
        if isinstance(named, int | str) and not isinstance(named, bool):
            return named
    return None


async def serve_stdio(server: MCPServer, wire: Wire, *, stop: Event) -> None:
    """Serve one client until it disconnects, or `stop` is set, which cancels its calls."""
    with first_error_alone():
        async with create_task_group() as group:

            async def end() -> None:
                await stop.wait()
                group.cancel_scope.cancel()

            group.start_soon(end)
            async with stdio_server(wire.source, wire.sink) as (received, sent):
                low = server._lowlevel_server  # noqa: SLF001  `run_stdio_async` accepts no streams
                frames = _Frames(received, sent)
                await low.run(frames, sent, low.create_initialization_options())
            group.cancel_scope.cancel()


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
        yield

    async def startup(self, sockets: list[socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._say_started()


def _guarded(app: ASGIApp, tokens: Tokens) -> ASGIApp:
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
            problem = ErrorData(code=INVALID_REQUEST, message=str(error))
            body = JSONRPCError(jsonrpc="2.0", id=None, error=problem).model_dump_json()
            refusal = Response(body, status_code=400, media_type="application/json")
            await refusal(scope, receive, send)
            return

        async def replayed() -> Message:
            return messages.pop() if messages else await receive()

        await app(scope, replayed, send)

    return checked


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
