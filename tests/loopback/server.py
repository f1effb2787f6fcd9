"""A real HTTP server on 127.0.0.1 that answers chat completions from a script.

>>> from loopback.answers import chat
>>> with LoopbackServer(chat("Good")) as server:
...     server.base_url.startswith("http://127.0.0.1:")
True

Point a model at ``server.base_url``; what came over the wire is in ``server.requests``.
"""

import json
import socket
import struct
import threading
import urllib.error
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from loopback.answers import Answer, Fault
from loopback.in_thread import InThread

_TRICKLE_SECONDS = 0.05
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """One request as it came over the wire; header names are in lower case."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, object]
    method: str = "POST"


class LoopbackServer(InThread):
    """Serve `answers` in order, one a request; the last one again and again.

    `pages` are answered by path, as JSON, to whoever gets or posts; what came for them is in
    `asked_pages`, and in none of `requests`.

    A context manager: leaving it breaks every connection and joins every thread.
    """

    def __init__(self, *answers: Answer, pages: Mapping[str, object] | None = None) -> None:
        assert answers, "a server needs at least one answer"
        self.pages = pages or {}
        self.asked_pages: list[Received] = []
        self._answers = list(answers)
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._requests: list[Received] = []
        self.stopping = threading.Event()
        self.released = threading.Event()
        super().__init__(_Server(self))

    def release(self) -> None:
        self.stopping.set()
        self.released.set()

    def hang_up(self) -> None:
        with self._lock:
            for connection in self._open:
                with suppress(OSError):  # whoever it led to has been killed
                    connection.shutdown(socket.SHUT_RDWR)

    @property
    def requests(self) -> tuple[Received, ...]:
        """The requests so far, oldest first."""
        with self._lock:
            return tuple(self._requests)

    def record(self, request: Received) -> Answer:
        """Keep `request` and return what it is answered with."""
        with self._lock:
            self._requests.append(request)
            return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]

    def drain(self) -> None:
        """Wait until all that a killed client sent has been read, and its connections are closed.

        Connections are accepted in the order in which they came, so whoever is answered now comes
        behind all of the client's.
        """
        with suppress(urllib.error.HTTPError):
            urllib.request.urlopen(self.base_url).close()
        while self._open:
            threading.Event().wait(0.01)

    def opened(self, connection: socket.socket) -> None:
        """Remember a connection, so that it can be broken."""
        with self._lock:
            self._open.add(connection)

    def closed(self, connection: socket.socket) -> None:
        """Forget a connection."""
        with self._lock:
            self._open.discard(connection)


class _Server(ThreadingHTTPServer):
    daemon_threads = False

    def __init__(self, owner: LoopbackServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.owner = owner


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.server.owner.opened(self.connection)

    def finish(self) -> None:
        self.server.owner.closed(self.connection)
        super().finish()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing: the requests are recorded."""

    def handle(self) -> None:
        try:
            super().handle()
        except (ConnectionError, ValueError):  # the client hung up, or a fault closed the file
            self.close_connection = True

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", "0"))
        body = json.loads(self.rfile.read(length) or b"{}")
        headers = {name.lower(): value for name, value in self.headers.items()}
        received = Received(path=self.path, headers=headers, body=body, method=self.command)
        if self.path in self.server.owner.pages:
            self._send_page(received)
            return
        answer = self.server.owner.record(received)
        self._send(answer, authorization=headers.get("authorization", ""))

    def do_PUT(self) -> None:
        """Answer as to a POST."""
        self.do_POST()

    def do_GET(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self._send_page(Received(path=self.path, headers=headers, body={}))

    def do_HEAD(self) -> None:
        """Answer as to a GET, without the body."""
        self.do_GET()

    def _send_page(self, received: Received) -> None:
        self.server.owner.asked_pages.append(received)
        page = self.server.owner.pages.get(self.path)
        if isinstance(page, Answer):
            self._send(page, authorization="")
        elif page is None:
            self._send(Answer(status=404, body="{}"), authorization="")
        else:
            self._send(Answer(body=json.dumps(page)), authorization="")

    def _send(self, answer: Answer, *, authorization: str) -> None:
        text = answer.body.replace("{authorization}", authorization)
        body = text.encode(errors="surrogateescape")
        if answer.fault is Fault.RESET:
            self._reset()
            return
        if answer.fault is Fault.STALL:
            self._wait_for_hang_up()
            return
        if answer.fault is Fault.HELD:
            self.server.owner.released.wait()
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self._write(body, fault=answer.fault)

    def _write(self, body: bytes, *, fault: Fault) -> None:
        if fault in {Fault.NONE, Fault.HELD}:
            self.wfile.write(body)
            return
        self.close_connection = True
        self.wfile.write(body[: len(body) // 2])
        if fault is Fault.RESET_HALF:
            self._reset()
        while fault is Fault.TRICKLE and not self.server.owner.stopping.wait(_TRICKLE_SECONDS):
            self.wfile.write(b" ")

    def _reset(self) -> None:
        """Close at once, without the shutdown that says farewell first."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        self.rfile.close()  # it holds the socket open
        self.connection.close()
        self.close_connection = True

    def _wait_for_hang_up(self) -> None:
        self.connection.recv(1)  # whoever waits for an answer sends nothing
        self.close_connection = True


def unreachable_url() -> str:
    """Return a base URL on a port of 127.0.0.1 where no server listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}/v1"
