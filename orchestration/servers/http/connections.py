"""Connections of uvicorn: slow ones are closed, and newcomers find room.

The number of connections is limited. A new one replaces one without a request under way: first one
that has sent no request yet, then one of the tenant with the most. If there is none, the new one is
refused.
"""

import asyncio  # noqa: TID251  uvicorn's connections are its protocols
import socket
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import ClassVar, NamedTuple, cast

from starlette.responses import Response
from starlette.types import Scope
from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from spanjury.orchestration.servers.http.bodies import CHECK
from spanjury.orchestration.services.serving.turns import has_share

Refusal = Callable[[Scope], Response | None]
"""Returns the answer to a request that is refused by its head; None if it is admitted."""
HandOver = Callable[[int, bytes], bool]
"""Passes a connection's descriptor and first bytes to another process; returns whether it could."""
PIECE = 2**18
"""Most bytes received at once."""
UNKNOWN = ""
"""The tenant of a connection on which no token was sent yet."""
_HEAD = 2**16
"""Most bytes of a head."""
_HEAD_END = b"\r\n\r\n"
_CHECK = f"POST {CHECK}".encode()
"""The beginning of a check, and of a streamed check."""
_TOO_BUSY = 429
_REMEMBERED = 256
"""Most refused heads that are remembered, each of at most `_SHORT` bytes."""
_SHORT = 2**12
_REFUSED = b"HTTP/1.1 %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
_FULL = _REFUSED % b"503 Service Unavailable\r\nRetry-After: 1"
_TOO_LONG = _REFUSED % b"431 Request Header Fields Too Large"
_TOO_SLOW = _REFUSED % b"408 Request Timeout"


class Room:
    """The open connections, `most` at once, and those among them that may be replaced."""

    def __init__(self, *, most: int, is_shared: bool) -> None:
        self.most = most
        self._is_shared = is_shared
        self._tenants: dict[BoundedConnection, str] = {}
        self._idle: dict[str, dict[BoundedConnection, None]] = {}
        """Connections without a request under way, by tenant; the longest idle first."""

    def enter(self, connection: "BoundedConnection") -> bool:
        """Admit a connection; return False if there is no room and none can be made."""
        if len(self._tenants) >= self.most and not self._make_room():
            return False
        self._tenants[connection] = UNKNOWN
        self.rest(connection)
        return True

    def leave(self, connection: "BoundedConnection") -> None:
        """Forget a connection, if it is known."""
        self.wake(connection)
        self._tenants.pop(connection, None)

    def rest(self, connection: "BoundedConnection") -> None:
        """Mark a connection as replaceable: no request is under way on it."""
        if (tenant := self._tenants.get(connection)) is not None:
            self._idle.setdefault(tenant, {})[connection] = None

    def wake(self, connection: "BoundedConnection") -> None:
        """Mark a connection as not replaceable."""
        self._idle.get(self._tenants.get(connection, UNKNOWN), {}).pop(connection, None)

    def give(self, connection: "BoundedConnection", tenant: str) -> bool:
        """Count a connection as a tenant's; return False if the tenant has too many."""
        if not self._is_shared or self._tenants.get(connection) in {tenant, None}:
            return True
        held = Counter(self._tenants.values())
        del held[UNKNOWN]
        if not has_share(held, tenant, most=self.most, is_shared=True):
            return False
        self.wake(connection)  # it would stay among the idle ones of its former tenant
        self._tenants[connection] = tenant
        return True

    def _make_room(self) -> bool:
        idle = {tenant: connections for tenant, connections in self._idle.items() if connections}
        if not idle:
            return False
        held = Counter({} if UNKNOWN in idle else self._tenants.values())
        tenant = UNKNOWN if UNKNOWN in idle else max(idle, key=held.__getitem__)
        connection = next(iter(idle[tenant]))
        self.leave(connection)
        connection.give_way()
        return True


class _Refused(NamedTuple):
    """A request that was refused because the service was busy, without its body."""

    scope: Scope
    body: int
    """Size of its body in bytes."""


class BoundedConnection(HttpToolsProtocol):
    """A connection whose heads must arrive in time, and have limited length.

    uvicorn itself would wait for the first head forever, and accept one of any length.

    A refused client usually repeats its request with the same head. Such a request is refused by
    the bytes of its head, since parsing it would take time from other clients' checks.
    """

    room: Room
    head_seconds: float
    refusal: Refusal
    hand_over: HandOver | None
    """Passes on connections with requests other than checks; None to answer them here."""
    handed: bytes = b""
    """The first piece of a connection that another process handed over."""
    refused: ClassVar[dict[bytes, _Refused]]
    """Heads of requests that were refused because the service was busy, of all connections."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        """Admit the connection, or refuse it if there is no room."""
        super().connection_made(transport)
        self._head = 0
        self._first = b""
        """The latest piece, if it began with a request that is still incomplete; else empty."""
        self._is_in_head = self._is_between = True
        self._has_answered = False
        self._timer: asyncio.TimerHandle | None = None
        if self.room.enter(self):
            self._await_head()
        else:
            self._refuse(_FULL)
        if self.handed:
            self.data_received(self.handed)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self.room.leave(self)
        self._end_head()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Process a part of a head or a body."""
        if self.transport.is_closing() or (self._is_between and self._refused_again(data)):
            return
        if self._is_between and self.hand_over is not None and not data.startswith(_CHECK):
            self._give_away(data, to=self.hand_over)
            return
        self._first = data if self._is_between else b""
        if self._is_in_head and self._head > _HEAD:
            self._refuse(_TOO_LONG)
            return
        self._head = len(data) + (self._head if self._is_in_head else 0)
        super().data_received(data)
        if self._is_in_head and self._timer is None:
            self._await_head()

    def _give_away(self, data: bytes, *, to: HandOver) -> None:
        """Hand the connection over to another process, with a piece that was not processed here.

        Refuse it while the answer to an earlier request is being sent.
        """
        opened: socket.socket = self.transport.get_extra_info("socket")
        # Otherwise the other process would write into the answer.
        is_quiet = self._is_idle and not self.transport.get_write_buffer_size()
        if is_quiet and to(opened.fileno(), data):
            self._end_head()
            self.transport.abort()  # it closes our copy of the descriptor
        else:
            self._refuse(_FULL)

    def on_message_begin(self) -> None:
        """Begin to read a request."""
        super().on_message_begin()
        self._is_in_head = True
        self._is_between = False
        self.scope["state"]["connection"] = self

    def on_message_complete(self) -> None:
        """Finish a body."""
        super().on_message_complete()
        self._is_between = True
        self._first = b""  # the rest of the piece belongs to another request

    def on_headers_complete(self) -> None:
        """Begin to answer."""
        self._end_head()
        self._is_in_head = False
        self.room.wake(self)
        super().on_headers_complete()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        """Answer a refused request at once, without a task; start a task for any other."""
        answer = self.refusal(cast("Scope", cycle.scope))  # uvicorn's own type of the same
        if answer is None:
            super()._start_asgi_task(cycle, app)
            return
        self._answer(answer)
        cycle.response_started = cycle.response_complete = True  # the rest of the body is dropped
        if not cycle.keep_alive:
            self.transport.close()
        elif answer.status_code == _TOO_BUSY and not self.expect_100_continue:
            self._remember(cast("Scope", cycle.scope))
        self.on_response_complete()

    def _answer(self, answer: Response) -> None:
        """Send an answer, and close the connection if the answer says so."""
        headers = [*self.server_state.default_headers, *answer.raw_headers]
        head = b"".join(b"%b: %b\r\n" % header for header in headers)
        self.transport.write(
            b"".join([STATUS_LINE[answer.status_code], head, b"\r\n", answer.body])
        )
        if answer.headers.get("connection") == "close":
            self.transport.close()

    def _remember(self, scope: Scope) -> None:
        """Remember the head of a refused request that came in one piece with its body's length."""
        length = dict(scope["headers"]).get(b"content-length", b"")
        end = self._first.find(_HEAD_END) + len(_HEAD_END)
        if len(_HEAD_END) <= end <= _SHORT and length.isdigit():
            if len(self.refused) >= _REMEMBERED:
                self.refused.clear()
            asks = {name: scope["state"][name] for name in scope["state"].keys() - {"connection"}}
            scope = {**scope, "state": asks}
            self.refused[self._first[:end]] = _Refused(scope=scope, body=int(length))

    def _refused_again(self, data: bytes) -> bool:
        """Refuse a complete request whose head was refused before, if there is still no room."""
        end = data.find(_HEAD_END) + len(_HEAD_END)
        request = self.refused.get(data[:end])
        if request is None or len(data) != end + request.body or not self._is_idle:
            return False
        state = {**request.scope["state"], "connection": self}
        answer = self.refusal({**request.scope, "state": state})
        if answer is None:
            state["arrived"]()  # it counts again when it is parsed
            return False
        self._end_head()
        self._unset_keepalive_if_required()
        self._answer(answer)
        self.timeout_keep_alive_task = self.loop.call_later(
            self.timeout_keep_alive, self.timeout_keep_alive_handler
        )
        self._has_answered = True
        self.room.wake(self)
        self.room.rest(self)
        return True

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._has_answered = True
        if self._is_idle:
            self.room.rest(self)

    def belongs_to(self, tenant: str) -> bool:
        """Count this connection as a tenant's; return False if the tenant has too many."""
        return self.room.give(self, tenant)

    def give_way(self) -> None:
        """Close for another connection; a client that used it before retries by itself."""
        if self._has_answered:
            self._end_head()
            self.transport.close()
        else:
            self._refuse(_FULL)

    @property
    def _is_idle(self) -> bool:
        return getattr(self.cycle, "response_complete", True)

    def _await_head(self) -> None:
        self._timer = self.loop.call_later(self.head_seconds, partial(self._refuse, _TOO_SLOW))

    def _end_head(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, answer: bytes) -> None:
        self._end_head()
        self.transport.write(answer)
        self.transport.close()


def bounded(
    room: Room, *, seconds: float, refusal: Refusal, hand_over: HandOver | None = None
) -> type[BoundedConnection]:
    """Return a connection class for uvicorn.

    Heads must arrive within `seconds`; `refusal` answers requests that are not admitted, and
    `hand_over` receives connections with requests other than checks.
    """

    class Bounded(BoundedConnection):
        pass

    Bounded.room, Bounded.head_seconds, Bounded.refused = room, seconds, {}
    Bounded.refusal = staticmethod(refusal)
    Bounded.hand_over = None if hand_over is None else staticmethod(hand_over)
    return Bounded
