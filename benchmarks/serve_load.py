"""HTTP clients for the service benchmarks, and a bare service; both use persistent connections."""

import multiprocessing
import socket
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import cycle, islice
from multiprocessing.connection import Connection

import anyio
import anyio.abc
import uvicorn
from starlette.types import Receive, Scope, Send

__all__ = [
    "Load",
    "Offered",
    "answers",
    "ask",
    "bare_service",
    "offer",
    "received_answer",
    "request_of",
]

_END_OF_HEAD = b"\r\n\r\n"
_LENGTH = b"content-length:"
_PIECE = 2**16


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Durations of many requests in seconds, and the total time."""

    seconds: Sequence[float]
    wall: float

    @property
    def rate(self) -> float:
        """Requests per second."""
        return len(self.seconds) / self.wall

    def quantile(self, share: float) -> float:
        """Return the time within which this share of the requests was answered, in milliseconds."""
        ordered = sorted(self.seconds)
        return 1e3 * ordered[min(int(share * len(ordered)), len(ordered) - 1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """Answers to requests that were sent at a fixed rate, without waiting for earlier ones."""

    taken: Load
    """Requests that were judged."""
    refused: Load
    """Requests that were refused with status 429."""


def request_of(body: bytes, *, headers: str = "") -> bytes:
    """Return the raw HTTP request of a check; each of `headers` must end in CRLF."""
    head = (
        "POST /v1/check HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"{headers}Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def ask(port: int, bodies: Sequence[bytes], *, clients: int, requests: int) -> Load:
    """Send `requests` requests with `bodies` in turn, from `clients` concurrent connections.

    Raises `RuntimeError` if the status of any answer is not 200.
    """
    load, _ = anyio.run(_ask, port, list(islice(cycle(bodies), requests)), clients)
    return load


def offer(
    port: int, bodies: Sequence[bytes], *, rate: float, seconds: float, clients: int
) -> Offered:
    """Send `bodies` in turn at a fixed rate, each over an idle one of `clients` connections.

    While all connections wait for an answer, requests are skipped.
    """
    sending = partial(_offer, port, bodies, rate=rate, seconds=seconds, clients=clients)
    return anyio.run(sending)


async def _offer(
    port: int, bodies: Sequence[bytes], *, rate: float, seconds: float, clients: int
) -> Offered:
    free = deque([await anyio.connect_tcp("127.0.0.1", port) for _ in range(clients)])
    taken, refused, todo = list[float](), list[float](), cycle(bodies)

    async def send(stream: anyio.abc.SocketStream, body: bytes) -> None:
        began = time.perf_counter()
        await stream.send(request_of(body))
        answer = await received_answer(stream)
        is_taken = answer.startswith(b"HTTP/1.1 200 ")
        (taken if is_taken else refused).append(time.perf_counter() - began)
        free.append(stream)

    began, due = time.perf_counter(), 0
    async with anyio.create_task_group() as group:
        while (now := time.perf_counter() - began) < seconds:
            while due < now * rate:
                due += 1
                if free:
                    group.start_soon(send, free.popleft(), next(todo))
            await anyio.sleep(0.001)
    wall = time.perf_counter() - began
    for stream in free:
        await stream.aclose()
    return Offered(taken=Load(seconds=taken, wall=wall), refused=Load(seconds=refused, wall=wall))


async def received_answer(stream: anyio.abc.SocketStream) -> bytes:
    """Return the next complete answer on a connection."""
    received = b""
    while len(received) < _size(received):
        received += await stream.receive(_PIECE)
    return received


def answers(port: int, bodies: Sequence[bytes]) -> Mapping[bytes, bytes]:
    """Return the answer to each of `bodies`."""
    _, answered = anyio.run(_ask, port, list(bodies), 1)
    return dict(zip(bodies, answered, strict=True))


async def _ask(port: int, bodies: list[bytes], clients: int) -> tuple[Load, list[bytes]]:
    todo, seconds, answered = iter(bodies), [], []

    async def work() -> None:
        async with await anyio.connect_tcp("127.0.0.1", port) as stream:
            for body in todo:
                began = time.perf_counter()
                await stream.send(request_of(body))
                received = await received_answer(stream)
                seconds.append(time.perf_counter() - began)
                if not received.startswith(b"HTTP/1.1 200 "):
                    raise RuntimeError(received.decode())
                answered.append(received[received.index(_END_OF_HEAD) + len(_END_OF_HEAD) :])

    began = time.perf_counter()
    async with anyio.create_task_group() as group:
        for _ in range(clients):
            group.start_soon(work)
    return Load(seconds=seconds, wall=time.perf_counter() - began), answered


def _size(received: bytes) -> int:
    """Return the size of the answer in bytes; one more than received until its head is whole."""
    head = received.find(_END_OF_HEAD)
    if head < 0:
        return len(received) + 1
    lines = received[:head].lower().split(b"\r\n")
    (length,) = (line for line in lines if line.startswith(_LENGTH))
    return head + len(_END_OF_HEAD) + int(length.removeprefix(_LENGTH))


@contextmanager
def bare_service(replies: Mapping[bytes, bytes]) -> Iterator[tuple[int, int]]:
    """Run a service with a fixed answer for each body; yield its port and its process id."""
    spawn = multiprocessing.get_context("spawn")
    receiver, sender = spawn.Pipe(duplex=False)
    server = spawn.Process(target=_serve, args=(dict(replies), sender), daemon=True)
    server.start()
    try:
        yield receiver.recv(), server.pid or 0
    finally:
        server.terminate()
        server.join()


def _serve(replies: Mapping[bytes, bytes], sender: Connection) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http"
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        answer = replies[body]
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
