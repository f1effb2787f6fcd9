"""A server whose answers are far longer than any reply, and that counts what it could send."""

import socket
import socketserver
from contextlib import suppress

from loopback.in_thread import InThread

_PIECE = 2**16


class EndlessServer(InThread):
    """Answer every request with `head` and then pieces of `body`, `size` bytes in all.

    A context manager; `sent` holds the bytes that went out for each answer, those included
    that lie in the buffers of both sides, some megabytes.
    """

    def __init__(self, *, size: int, status: str = "200 OK", piece: bytes = b" " * _PIECE) -> None:
        self.sent: list[int] = []
        self._head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\n".encode()
        self._size = size
        self._piece = piece
        server = _Server(("127.0.0.1", 0), _Handler)
        server.owner = self
        super().__init__(server)

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
