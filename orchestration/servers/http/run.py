"""A service from its start to its end: it listens, judges, and drains when it is asked to end."""

import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from types import FrameType

import anyio
import prometheus_client
import uvicorn
from anyio import current_time

from spanjury.judges.core import first_error_alone
from spanjury.orchestration.servers.http.app import create_app, create_health_app
from spanjury.orchestration.servers.http.connections import Room, bounded
from spanjury.orchestration.servers.http.gate import Gate
from spanjury.orchestration.servers.http.service import Service
from spanjury.orchestration.servers.http.settings import ServiceSettings
from spanjury.orchestration.servers.listening import BACKLOG, listening, require_access, url_of
from spanjury.orchestration.services.serving.batches.records import BatchStore

if sys.platform != "win32":
    import resource

_KEEP_ALIVE = 65
"""Seconds for which a connection may be idle: longer than proxies keep theirs, 60 by default."""
_WATCHERS = 64
"""Connections of those who ask for health alone."""
_OTHER_FILES = 256
"""Files that are open beside connections: memories, results, calls to models."""


def serve(settings: ServiceSettings, *, say: Callable[[str], None]) -> int:
    """Serve until a signal comes; return 0, or the number of a second signal.

    Parameters
    ----------
    settings
        Settings of the service.
    say
        Is given lines for the operator: where it listens, that it is ready, that it ends.

    Raises
    ------
    ConfigError
        If another address than a loopback one has no token, or a panel cannot be opened.
    ServiceError
        If the address is taken.
    StoreError
        If another service uses the folder of the batches.
    """
    require_access(settings.host, settings.tokens)
    # Else a time of creation stands beside every figure.
    prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]  # it has no types
    with ExitStack() as stack:
        listener = stack.enter_context(listening(settings.host, settings.port))
        health = None
        if settings.health_port is not None:
            health = stack.enter_context(listening(settings.host, settings.health_port))
        store = stack.enter_context(BatchStore(settings.state))
        server = _DrainingServer(Service(settings), say=say)
        anyio.run(partial(_serve, server, store, listener=listener, health=health))
    return server.forced_by


async def _serve(
    server: "_DrainingServer",
    store: BatchStore,
    *,
    listener: socket.socket,
    health: socket.socket | None,
) -> None:
    service = server.service
    server.say(f"spanjury listens on {url_of(*listener.getsockname()[:2])}")

    async def hold() -> None:
        panels = ", ".join(sorted(service.settings.panels))
        await service.hold(store, opened=lambda: server.say(f"ready; panels: {panels}"))

    with first_error_alone():
        async with anyio.create_task_group() as group:
            group.start_soon(hold)
            watched = _HealthServer(service)
            if health is not None:
                server.say(f"health is answered on {url_of(*health.getsockname()[:2])}")
                group.start_soon(watched.serve, [health])
            await server.serve([listener])
            watched.should_exit = True
            service.close()
            if server.forced_by:
                group.cancel_scope.cancel()


class _DrainingServer(uvicorn.Server):
    """A server that answers on while it drains, so that whoever watches sees that it is to end.

    At the first signal nothing new is taken on, and the listener is closed once no request is
    under way or the time for that is over. A second signal ends it at once.
    """

    def __init__(self, service: Service, *, say: Callable[[str], None]) -> None:
        super().__init__(
            _configured(create_app(service), service, most=service.settings.limits.connections)
        )
        self.say = say
        self.forced_by = 0
        self.service = service
        self._signals: list[int] = []
        self._end = 0.0

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Note a signal; between two steps of the loop, nothing more is safe."""
        del frame
        if self._signals:
            self.forced_by = sig
            self.should_exit = self.force_exit = True
        self._signals.append(sig)

    async def on_tick(self, counter: int) -> bool:
        """Drain once a signal has come; say whether to end."""
        service = self.service
        if self._signals and not service.is_draining:
            seconds = service.settings.limits.drain_seconds
            name = signal.Signals(self._signals[0]).name
            self.say(f"{name}: running work has {seconds:g} s to finish; again to drop it")
            service.drain()
            self._end = current_time() + seconds
        elif service.is_draining and (not service.requests or current_time() >= self._end):
            self.should_exit = True
        return await super().on_tick(counter)


class _HealthServer(uvicorn.Server):
    """A server that answers for the health of a service, until it is asked to exit."""

    def __init__(self, service: Service) -> None:
        super().__init__(_configured(create_health_app(service), service, most=_WATCHERS))

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the other server."""
        yield


def _configured(app: Gate, service: Service, *, most: int) -> uvicorn.Config:
    settings = service.settings
    most, backlog = _room(most)
    return uvicorn.Config(
        app,
        http=bounded(
            Room(most=most, is_shared=settings.tokens.are_shared),
            seconds=settings.limits.head_seconds,
            refusal=app.refusal,
        ),
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=backlog,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=1,  # a check has had its time by then
    )


def _room(wanted: int) -> tuple[int, int]:
    """Return how many connections may be open, and how many may wait to be taken on at once.

    The system is asked for as many files as are needed; those that are refused are files, too.
    """
    if sys.platform == "win32":
        return wanted, BACKLOG
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + BACKLOG + _OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        if soft < needed:
            return min(wanted, soft // 2), max(soft // 4, 1)
    return wanted, BACKLOG
