"""Connections, as uvicorn serves them: no more than may be open, and none that dawdles."""

import asyncio  # noqa: TID251  uvicorn's connections are its protocols
from functools import partial

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_HEAD = 2**16
"""Bytes of a head after which no more of it is read."""
_REFUSED = b"HTTP/1.1 %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
_FULL = _REFUSED % b"503 Service Unavailable\r\nRetry-After: 1"
_TOO_LONG = _REFUSED % b"431 Request Header Fields Too Large"
_TOO_SLOW = _REFUSED % b"408 Request Timeout"


class BoundedConnection(HttpToolsProtocol):
    """A connection whose heads arrive in time, and are not too long.

    uvicorn would wait for the first head for ever, and take one of any length.

    Parameters
    ----------
    most
        Connections at once; another is refused.
    head_seconds
        Longest time for a head to arrive.
    """

    most = 1_000
    head_seconds = 10.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        """Take a connection on, or refuse it if there are too many."""
        super().connection_made(transport)
        self._head = 0
        self._timer: asyncio.TimerHandle | None = None
        if len(self.connections) > self.most:
            self._refuse(_FULL)
        else:
            self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._end_head()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take a part of a head or a body."""
        if self.transport.is_closing():
            return
        is_idle = getattr(self.cycle, "response_complete", True)
        if self._timer is None and is_idle:
            self._await_head()
        if self._timer is not None and self._head > _HEAD:
            self._refuse(_TOO_LONG)
            return
        self._head += len(data)
        super().data_received(data)

    def on_headers_complete(self) -> None:
        """Begin to answer."""
        self._end_head()
        super().on_headers_complete()

    def _await_head(self) -> None:
        self._head = 0
        self._timer = self.loop.call_later(self.head_seconds, partial(self._refuse, _TOO_SLOW))

    def _end_head(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, answer: bytes) -> None:
        self._end_head()
        self.transport.write(answer)
        self.transport.close()


def bounded(*, most: int, head_seconds: float) -> type[BoundedConnection]:
    """Return a class of connections with these bounds, for uvicorn."""

    class Bounded(BoundedConnection):
        pass

    Bounded.most, Bounded.head_seconds = most, head_seconds
    return Bounded
