"""Clients of a service, and a bare one beside it: they ask over connections that stay open."""

import multiprocessing
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle, islice
from multiprocessing.connection import Connection

import anyio
import uvicorn
from starlette.types import Receive, Scope, Send

__all__ = ["Load", "answers", "ask", "bare_service", "request_of"]

_END_OF_HEAD = b"\r\n\r\n"
_LENGTH = b"content-length:"
_PIECE = 2**16


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """The times of many requests, in seconds, and of all of them together."""

    seconds: Sequence[float]
    wall: float

    @property
    def rate(self) -> float:
        """Requests a second."""
        return len(self.seconds) / self.wall

    def quantile(self, share: float) -> float:
        """Return the time in which this share of the requests was answered, in milliseconds."""
        ordered = sorted(self.seconds)
        return 1e3 * ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def request_of(body: bytes) -> bytes:
    """Return a check as it goes over the wire."""
    head = (
        "POST /v1/check HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def ask(port: int, bodies: Sequence[bytes], *, clients: int, requests: int) -> Load:
    """Send `bodies` in turn until there were so many requests, from so many clients at once.

    Raises `RuntimeError` if one is not answered by 200.
    """
    load, _ = anyio.run(_ask, port, list(islice(cycle(bodies), requests)), clients)
    return load


def answers(port: int, bodies: Sequence[bytes]) -> Mapping[bytes, bytes]:
    """Return what each of `bodies` is answered with."""
    _, answered = anyio.run(_ask, port, list(bodies), 1)
    return dict(zip(bodies, answered, strict=True))


async def _ask(port: int, bodies: list[bytes], clients: int) -> tuple[Load, list[bytes]]:
    todo, seconds, answered = iter(bodies), [], []

    async def work() -> None:
        async with await anyio.connect_tcp("127.0.0.1", port) as stream:
            for body in todo:
                began = time.perf_counter()
                await stream.send(request_of(body))
                received = b""
                while len(received) < (size := _size(received)):
                    received += await stream.receive(_PIECE)
                seconds.append(time.perf_counter() - began)
                if not received.startswith(b"HTTP/1.1 200 "):
                    raise RuntimeError(received[:size].decode())
                answered.append(received[received.index(_END_OF_HEAD) + len(_END_OF_HEAD) :])

    began = time.perf_counter()
    async with anyio.create_task_group() as group:
        for _ in range(clients):
            group.start_soon(work)
    return Load(seconds=seconds, wall=time.perf_counter() - began), answered


def _size(received: bytes) -> int:
    """Return the bytes of the whole answer; one more than there are while its head is not whole."""
    head = received.find(_END_OF_HEAD)
    if head < 0:
        return len(received) + 1
    lines = received[:head].lower().split(b"\r\n")
    (length,) = (line for line in lines if line.startswith(_LENGTH))
    return head + len(_END_OF_HEAD) + int(length.removeprefix(_LENGTH))


@contextmanager
def bare_service(known: Mapping[bytes, bytes]) -> Iterator[tuple[int, int]]:
    """Run a service that answers each body with known bytes; yield its port and its process."""
    spawn = multiprocessing.get_context("spawn")
    receiver, sender = spawn.Pipe(duplex=False)
    server = spawn.Process(target=_serve, args=(dict(known), sender), daemon=True)
    server.start()
    try:
        yield receiver.recv(), server.pid or 0
    finally:
        server.terminate()
        server.join()


def _serve(known: Mapping[bytes, bytes], sender: Connection) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http"
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        answer = known[body]
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(answer)).encode()),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": answer})

    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen(2_048)
    config = uvicorn.Config(
        app, http="httptools", ws="none", lifespan="off", log_config=None, access_log=False
    )
    sender.send(listener.getsockname()[1])
    uvicorn.Server(config).run([listener])
