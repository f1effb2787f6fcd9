"""A server whose answers are far longer than any reply, and that counts what it could send."""

import socket
import socketserver
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self

_PIECE = 2**16


class EndlessServer:
    """Answer every request with `head` and then pieces of `body`, `size` bytes in all.

    A context manager; `sent` holds the bytes that went out for each answer, those included
    that lie in the buffers of both sides, some megabytes.
    """

    def __init__(self, *, size: int, status: str = "200 OK", piece: bytes = b" " * _PIECE) -> None:
        self.sent: list[int] = []
        self._head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\n".encode()
        self._size = size
        self._piece = piece
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.owner = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def base_url(self) -> str:
        """The address to give to a model."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def answer(self, connection: socket.socket) -> None:
        """Read one request, and send until all is sent or the client hangs up."""
        received = b""
        while not received.endswith(b"}"):
            received += connection.recv(_PIECE)
        number = len(self.sent)
        self.sent.append(0)
        with suppress(ConnectionError):
            connection.sendall(self._head + f"Content-Length: {self._size}\r\n\r\n".encode())
            while self.sent[number] < self._size:
                self.sent[number] += connection.send(self._piece)


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = False
    owner: EndlessServer


class _Handler(socketserver.BaseRequestHandler):
    server: _Server

    def handle(self) -> None:
        self.server.owner.answer(self.request)
