"""A service from its start to its end: it listens, judges, and drains when it is asked to end.

Several processes of a service accept from one socket. The first has all that there is once, such
as batches. The others answer checks; each connection on which something else is asked they hand
over to the first, with what has come on it.
"""

import asyncio  # noqa: TID251  uvicorn's connections are its transports
import os
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing.connection import Connection
from types import FrameType

import anyio
import prometheus_client
import uvicorn
from anyio import current_time
from prometheus_client import multiprocess

from spanjury.judges.core import ConfigError, first_error_alone
from spanjury.orchestration.servers.http.app import create_app, create_health_app
from spanjury.orchestration.servers.http.connections import (
    PIECE,
    BoundedConnection,
    HandOver,
    Room,
    bounded,
)
from spanjury.orchestration.servers.http.gate import Gate
from spanjury.orchestration.servers.http.metrics import FOLDER
from spanjury.orchestration.servers.http.processes import (
    has_parent,
    report_errors,
    say_ready,
    supervise,
)
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


def serve(
    settings: ServiceSettings, *, say: Callable[[str], None], begin: Callable[[], None]
) -> int:
    """Serve until a signal comes; return 0, or the number of a second signal.

    Parameters
    ----------
    settings
        Settings of the service.
    say
        Is given lines for the operator: where it listens, that it is ready, that it ends.
    begin
        Is called in each further process before anything else; it is pickled.

    Raises
    ------
    ConfigError
        If another address than a loopback one has no token, a panel cannot be opened, or there
        are quotas, which one process counts, and several processes.
    ServiceError
        If the address is taken.
    StoreError
        If another service uses the folder of the batches.
    """
    require_access(settings.host, settings.tokens)
    if settings.processes > 1:
        _require_processes(settings)
    with ExitStack() as stack:
        listener = stack.enter_context(listening(settings.host, settings.port))
        health = None
        if settings.health_port is not None:
            health = stack.enter_context(listening(settings.host, settings.health_port))
        operator = _Operator(settings, say)
        with BatchStore(settings.state) as store:
            operator.listens(listener, health)
            if settings.processes == 1:
                server = _DrainingServer(Service(settings), ending=operator.ending)
                sockets = _Sockets(listener=listener, health=health)
                _run(server, sockets, store, opened=operator.opened)
                return server.forced_by
        # The first process opens the folder again: here it was tried, so that all fails at once.
        return _serve_by_several(settings, operator, listener, health=health, begin=begin)


@dataclass(frozen=True, slots=True)
class _Operator:
    """The lines for the operator of a service."""

    settings: ServiceSettings
    say: Callable[[str], None]

    def listens(self, listener: socket.socket, health: socket.socket | None) -> None:
        """Say where it listens."""
        self.say(f"spanjury listens on {url_of(*listener.getsockname()[:2])}")
        if health is not None:
            self.say(f"health is answered on {url_of(*health.getsockname()[:2])}")

    def opened(self) -> None:
        """Say that all panels are open."""
        self.say(f"ready; panels: {', '.join(sorted(self.settings.panels))}")

    def ending(self, sig: int) -> None:
        """Say that a signal has come."""
        seconds = self.settings.limits.drain_seconds
        name = signal.Signals(sig).name
        self.say(f"{name}: running work has {seconds:g} s to finish; again to drop it")

    def replaced(self, process: int) -> None:
        """Say that a process has died."""
        self.say(f"process {process} has died; another one takes its place")


def _serve_by_several(
    settings: ServiceSettings,
    operator: _Operator,
    listener: socket.socket,
    *,
    health: socket.socket | None,
    begin: Callable[[], None],
) -> int:
    """Serve in several processes until a signal comes; return as `serve` does."""
    with _summed_figures() as folder, _pair() as (given, taken):
        member = _Member(
            settings,
            first=_Sockets(listener=listener, health=health, taken=taken),
            other=_Sockets(listener=listener, given=given),
            begin=begin,
        )

        def replaced(process: int) -> None:
            operator.replaced(process)
            multiprocess.mark_process_dead(process, folder)  # type: ignore[no-untyped-call]  # as below

        return supervise(
            member,
            count=settings.processes,
            opened=operator.opened,
            replaced=replaced,
            ending=operator.ending,
        )


def _require_processes(settings: ServiceSettings) -> None:
    """Raise `ConfigError` unless several processes can be what was asked for."""
    if settings.tokens.quotas:
        raise ConfigError("one process counts the quotas of tenants: leave out --workers")
    if not hasattr(socket, "send_fds"):
        raise ConfigError("--workers of a service needs Unix: run several services")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sockets:
    """The sockets of one process.

    `taken` is where connections come in that others hand over, and `given` where they are sent.
    """

    listener: socket.socket
    health: socket.socket | None = None
    taken: socket.socket | None = None
    given: socket.socket | None = None

    def hand_over(self, connection: int, piece: bytes) -> bool:
        """Send a connection to the first process; return False if that cannot take it now."""
        assert self.given is not None
        try:
            socket.send_fds(self.given, [piece], [connection])
        except OSError:  # it is being replaced, or takes none for another reason
            return False
        return True


@contextmanager
def _pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Yield where connections are handed over, and where they are taken."""
    given, taken = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with given, taken:
        for end in (given, taken):
            end.settimeout(0.0)
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * PIECE)
            end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2 * PIECE)
        yield given, taken


@contextmanager
def _summed_figures() -> Iterator[str]:
    """Have the processes that begin in this context keep their figures in one folder; yield it."""
    before = os.environ.get(FOLDER)
    with tempfile.TemporaryDirectory(prefix="spanjury-figures-") as folder:
        os.environ[FOLDER] = folder
        try:
            yield folder
        finally:
            del os.environ[FOLDER]
            if before is not None:
                os.environ[FOLDER] = before


@dataclass(frozen=True, slots=True)
class _Member:
    """The work of each of several processes; the one with number 0 is the first."""

    settings: ServiceSettings
    first: _Sockets
    other: _Sockets
    begin: Callable[[], None]

    def __call__(self, number: int, news: Connection) -> None:
        """Serve until the supervisor ends it."""
        processes = self.settings.processes
        settings = replace(self.settings, limits=self.settings.limits.of_one(processes))
        sockets = self.other if number else self.first
        with report_errors(news), ExitStack() as stack:
            self.begin()
            store = None if number else stack.enter_context(BatchStore(settings.state))
            server = _MemberServer(Service(settings, processes=processes), sockets)
            _run(server, sockets, store, opened=partial(say_ready, news))


def _run(
    server: "_DrainingServer",
    sockets: _Sockets,
    store: BatchStore | None,
    *,
    opened: Callable[[], None],
) -> None:
    """Serve in this process until a signal comes; call `opened` when all panels are open."""
    # Else a time of creation stands beside every figure.
    prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]  # it has no types
    anyio.run(partial(_serve, server, sockets, store, opened=opened))


async def _serve(
    server: "_DrainingServer",
    sockets: _Sockets,
    store: BatchStore | None,
    *,
    opened: Callable[[], None],
) -> None:
    service, are_open = server.service, anyio.Event()

    def note() -> None:
        are_open.set()
        opened()

    with first_error_alone():
        async with anyio.create_task_group() as group:
            group.start_soon(partial(service.hold, store, opened=note))
            watched = _HealthServer(service)
            if sockets.health is not None:
                group.start_soon(watched.serve, [sockets.health])
            if store is None:  # the first process says meanwhile that the service begins
                await are_open.wait()
            await server.serve([sockets.listener])
            watched.should_exit = True
            service.close()
            if server.forced_by:
                group.cancel_scope.cancel()


class _DrainingServer(uvicorn.Server):
    """A server that answers on while it drains, so that whoever watches sees that it is to end.

    At the first signal nothing new is taken on, and the listener is closed once no request is
    under way or the time for that is over. A second signal ends it at once.
    """

    def __init__(
        self,
        service: Service,
        *,
        ending: Callable[[int], None],
        hand_over: HandOver | None = None,
    ) -> None:
        most = service.settings.limits.connections
        super().__init__(_configured(create_app(service), service, most=most, hand_over=hand_over))
        self.forced_by = 0
        self._ending = ending
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
            self._ending(self._signals[0])
            service.drain()
            self._end = current_time() + service.settings.limits.drain_seconds
        elif service.is_draining and (not service.requests or current_time() >= self._end):
            self.should_exit = True
        return await super().on_tick(counter)


class _MemberServer(_DrainingServer):
    """One of several servers at one socket, which drains if its supervisor says so or is gone."""

    def __init__(self, service: Service, sockets: _Sockets) -> None:
        hand_over = None if sockets.given is None else sockets.hand_over
        super().__init__(service, ending=lambda _: None, hand_over=hand_over)
        self._taken = sockets.taken
        self._backlog = self.config.backlog
        self.config.backlog = 1  # take one connection a round, and leave others to the idle
        self._taking = set[asyncio.Task[object]]()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Note the supervisor's signal; a terminal's and a second one are for the supervisor."""
        if sig == signal.SIGTERM and not self._signals:
            super().handle_exit(sig, frame)

    async def on_tick(self, counter: int) -> bool:
        """Drain if the supervisor is gone; say whether to end."""
        if not has_parent():
            self.handle_exit(signal.SIGTERM, None)
        return await super().on_tick(counter)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to take connections."""
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(self._backlog)  # asyncio takes as many at once as may wait
        if self._taken is not None:
            asyncio.get_running_loop().add_reader(self._taken, self._take, self._taken)

    def _take(self, taken: socket.socket) -> None:
        """Take a connection that another process has handed over."""
        try:
            piece, descriptors, _, _ = socket.recv_fds(taken, PIECE, 1)
        except BlockingIOError:
            return

        def create() -> asyncio.Protocol:
            connection = self.config.http_protocol_class(  # type: ignore[call-arg]  # as uvicorn
                config=self.config,
                server_state=self.server_state,
                app_state=self.lifespan.state,
            )
            assert isinstance(connection, BoundedConnection)  # as `_configured` says
            connection.handed = piece
            return connection

        opened = socket.socket(fileno=descriptors[0])
        opened.settimeout(0.0)
        loop = asyncio.get_running_loop()
        task = loop.create_task(loop.connect_accepted_socket(create, opened))
        self._taking.add(task)
        task.add_done_callback(self._taking.discard)


class _HealthServer(uvicorn.Server):
    """A server that answers for the health of a service, until it is asked to exit."""

    def __init__(self, service: Service) -> None:
        super().__init__(_configured(create_health_app(service), service, most=_WATCHERS))

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the other server."""
        yield


def _configured(
    app: Gate, service: Service, *, most: int, hand_over: HandOver | None = None
) -> uvicorn.Config:
    settings = service.settings
    most, backlog = _room(most)
    return uvicorn.Config(
        app,
        http=bounded(
            Room(most=most, is_shared=settings.tokens.are_shared),
            seconds=settings.limits.head_seconds,
            refusal=app.refusal,
            hand_over=hand_over,
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
