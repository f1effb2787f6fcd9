"""See, and forbid, every use of the network by this process."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

# Binding is not among them: it sends nothing, and urllib3 does it to see whether there is IPv6.
_EVENTS = frozenset({
    "socket.connect",
    "socket.getaddrinfo",
    "socket.gethostbyaddr",
    "socket.gethostbyname",
    "socket.getnameinfo",
    "socket.sendmsg",
    "socket.sendto",
})  # fmt: skip


@dataclass(slots=True)
class NetworkWatch:
    """The attempts to reach the network while that was forbidden."""

    attempts: list[str] = field(default_factory=list)
    active: bool = True


@contextmanager
def forbid_network() -> Iterator[NetworkWatch]:
    """Refuse every attempt to resolve a name, connect or send, and keep a list of them.

    The interpreter's audit hooks (PEP 578) see the attempt whatever library makes it, as
    long as it goes through Python's sockets. A hook cannot be taken out again; after the
    context it lets everything pass.
    """
    watch = NetworkWatch()

    def hook(event: str, args: tuple[object, ...]) -> None:
        if watch.active and event in _EVENTS:
            # The first argument is the socket, where there is one.
            watch.attempts.append(f"{event} {args[-1] if args else ''}")
            raise ConnectionRefusedError(f"the network is forbidden: {watch.attempts[-1]}")

    sys.addaudithook(hook)
    try:
        yield watch
    finally:
        watch.active = False
