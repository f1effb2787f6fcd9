"""The transport over standard input and output, for a program that starts the server itself.

Standard output carries the protocol and nothing else: while the streams are held, whatever else
the process or a child prints goes to standard error. Waiting for input can be cancelled, so that
a signal ends the server though its client says nothing.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import TextIOWrapper
from typing import Self

from anyio import AsyncFile, Event, create_task_group, wait_readable, wrap_file
from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server
from mcp.shared._context_streams import ContextReceiveStream, ContextSendStream
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

from spanjury.judges.core import DataError, first_error_alone

LONGEST_MESSAGE = 16 * 1024 * 1024
"""Bytes of one message, at most: a line without an end must not fill the memory."""

_CHUNK = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """The streams that the protocol is spoken over."""

    source: AsyncFile[str]
    sink: AsyncFile[str]


class _Lines(AsyncFile[str]):
    """The lines of a file; unlike a thread that reads, waiting for one can be cancelled."""

    def __init__(self, file: TextIOWrapper) -> None:
        super().__init__(file)
        self._descriptor = file.fileno()
        self._waits = sys.platform != "win32"  # there, only sockets can be waited for
        self._rest = b""

    async def readline(self) -> str:
        """Return the next line; empty at the end."""
        if not self._waits:
            return await super().readline()
        parts = [self._rest]
        size = len(self._rest)
        while b"\n" not in parts[-1] and (chunk := await self._chunk()):
            size += len(chunk)
            if size > LONGEST_MESSAGE:
                raise DataError(f"a message has more than {LONGEST_MESSAGE} bytes")
            parts.append(chunk)
        line, end, self._rest = b"".join(parts).partition(b"\n")
        return (line + end).decode(errors="replace")

    async def _chunk(self) -> bytes:
        with suppress(PermissionError):  # a file is never waited for
            await wait_readable(self._descriptor)
        return os.read(self._descriptor, _CHUNK)


@contextmanager
def held_streams() -> Iterator[Wire]:
    """Keep standard input and output for the protocol; give both back at the end."""
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
    """The messages of a client; what is none is answered with the error of JSON-RPC."""

    def __init__(
        self,
        frames: ContextReceiveStream[SessionMessage | Exception],
        answers: ContextSendStream[SessionMessage],
    ) -> None:
        super().__init__(frames._inner)  # noqa: SLF001  the library has no other way to stand between
        self._answers = answers

    async def __aenter__(self) -> Self:
        return self

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message."""
        while isinstance(frame := await super().receive(), Exception):
            await self._answers.send(SessionMessage(_error_of(frame)))
        return frame


def _error_of(problem: Exception) -> JSONRPCError:
    """Return the answer to a line that is no message: no JSON, or not of the protocol."""
    if not isinstance(problem, ValidationError) or _is_no_json(problem):
        error = ErrorData(code=PARSE_ERROR, message="the line is no JSON")
        return JSONRPCError(jsonrpc="2.0", id=None, error=error)
    error = ErrorData(code=INVALID_REQUEST, message="the line is no message of JSON-RPC 2.0")
    return JSONRPCError(jsonrpc="2.0", id=_id_in(problem), error=error)


def _is_no_json(problem: ValidationError) -> bool:
    return any(error["type"] == "json_invalid" for error in problem.errors(include_url=False))


def _id_in(problem: ValidationError) -> int | str | None:
    """Return the id that a line names, as far as it is one."""
    for error in problem.errors(include_url=False):
        named = error["input"].get("id") if isinstance(error["input"], dict) else None
        if isinstance(named, int | str) and not isinstance(named, bool):
            return named
    return None


async def serve_stdio(server: MCPServer, wire: Wire, *, stop: Event) -> None:
    """Serve one client until it closes its end, or `stop` is set: then calls are cancelled."""
    with first_error_alone():
        async with create_task_group() as group:

            async def end() -> None:
                await stop.wait()
                group.cancel_scope.cancel()

            group.start_soon(end)
            async with stdio_server(wire.source, wire.sink) as (received, sent):
                low = server._lowlevel_server  # noqa: SLF001  `run_stdio_async` takes no streams
                frames = _Frames(received, sent)
                await low.run(frames, sent, low.create_initialization_options())
            group.cancel_scope.cancel()
