"""Run a service from start to end: it listens, judges, and drains when it should end.

Several processes of a service accept connections from one socket. The first process alone has the
parts that exist once, such as batches. The others answer checks, and hand over each connection with
another request to the first, with the bytes that they received.
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
from spanjury.orchestration.servers.http import connections, processes
from spanjury.orchestration.servers.http.app import create_app, create_health_app
from spanjury.orchestration.servers.http.gate import Gate
from spanjury.orchestration.servers.http.metrics import FOLDER
from spanjury.orchestration.servers.http.service import Service
from spanjury.orchestration.servers.http.settings import ServiceSettings
from spanjury.orchestration.servers.listening import BACKLOG, listening, require_access, url_of
from spanjury.orchestration.services.serving.batches.records import BatchStore

if sys.platform != "win32":
    import resource

_KEEP_ALIVE = 65
"""Seconds that a connection may be idle: longer than the usual 60 seconds of proxies."""
_WATCHERS = 64
"""Most connections for health checks."""
_OTHER_FILES = 256
"""Open files besides connections: memories, results, calls to models."""


def serve(
    settings: ServiceSettings, *, say: Callable[[str], None], begin: Callable[[], None]
) -> int:
    """Serve until a signal; return 0, or the number of a second signal.

    `say` is called with lines for the operator: the address, readiness, and the end; `begin` in
    each further process before anything else: it is pickled.

    Raise `ConfigError` if an address other than loopback has no token, a panel cannot be opened, or
    quotas, which a single process counts, are combined with several processes; `ServiceError` if
    the address is in use; `StoreError` if another service uses the folder of the batches.
    """
    require_access(settings.host, settings.tokens)
    if settings.processes > 1 and settings.tokens.quotas:
        raise ConfigError("one process counts the quotas of tenants: leave out --workers")
    if settings.processes > 1 and not hasattr(socket, "send_fds"):
        raise ConfigError("--workers of a service needs Unix: run several services")
    with ExitStack() as stack:
        listener = stack.enter_context(listening(settings.host, settings.port))
        health = None
        if settings.health_port is not None:
            health = stack.enter_context(listening(settings.host, settings.health_port))
        operator = _Operator(settings, say)
        with BatchStore(settings.state) as store:
            say(f"spanjury listens on {url_of(*listener.getsockname()[:2])}")
            if health is not None:
                say(f"health is answered on {url_of(*health.getsockname()[:2])}")
            if settings.processes == 1:
                server = _DrainingServer(Service(settings), ending=operator.ending)
                sockets = _Sockets(listener=listener, health=health)
                _run(server, sockets, store, opened=operator.opened)
                return server.forced_by
        # The first process opens the folder again: opening it here only makes errors appear early.
        return _serve_by_several(settings, operator, listener, health=health, begin=begin)


@dataclass(frozen=True, slots=True)
class _Operator:
    """Prints lines for the operator of a service."""

    settings: ServiceSettings
    say: Callable[[str], None]

    def opened(self) -> None:
        self.say(f"ready; panels: {', '.join(sorted(self.settings.batches.panels))}")

    def ending(self, sig: int) -> None:
        seconds = self.settings.limits.drain_seconds
        name = signal.Signals(sig).name
        self.say(f"{name}: running work has {seconds:g} s to finish; again to drop it")


def _serve_by_several(
    settings: ServiceSettings,
    operator: _Operator,
    listener: socket.socket,
    *,
    health: socket.socket | None,
    begin: Callable[[], None],
) -> int:
    """Serve with several processes until a signal; return the same value as `serve`."""
    with _summed_figures() as folder, _pair() as (given, taken):
        member = _Member(
            settings,
            first=_Sockets(listener=listener, health=health, taken=taken),
            other=_Sockets(listener=listener, given=given),
            begin=begin,
        )

        def replaced(process: int) -> None:
            operator.say(f"process {process} has died; another one takes its place")
            multiprocess.mark_process_dead(process, folder)  # type: ignore[no-untyped-call]  # as below

        return processes.supervise(
            member,
            count=settings.processes,
            opened=operator.opened,
            replaced=replaced,
            ending=operator.ending,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sockets:
    """The sockets of one process.

    `taken` receives connections that others hand over, and `given` sends them.
    """

    listener: socket.socket
    health: socket.socket | None = None
    taken: socket.socket | None = None
    given: socket.socket | None = None

    def hand_over(self, connection: int, piece: bytes) -> bool:
        """Send a connection to the first process; return False if it cannot accept it now."""
        assert self.given is not None
        try:
            socket.send_fds(self.given, [piece], [connection])
        except OSError:  # the first process is being replaced or busy
            return False
        return True


@contextmanager
def _pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Yield the sockets that send and receive handed-over connections."""
    given, taken = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with given, taken:
        for end in (given, taken):
            end.settimeout(0.0)
            # A piece is sent as one datagram.
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * connections.PIECE)
            end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2 * connections.PIECE)
        yield given, taken


@contextmanager
def _summed_figures() -> Iterator[str]:
    """Have processes that start in this context share figures in a folder; yield the folder."""
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
    """The work of each of several processes; the process with number 0 is the first."""

    settings: ServiceSettings
    first: _Sockets
    other: _Sockets
    begin: Callable[[], None]

    def __call__(self, number: int, news: Connection) -> None:
        count = self.settings.processes
        settings = replace(self.settings, limits=self.settings.limits.of_one(count))
        sockets = self.other if number else self.first
        with processes.report_errors(news), ExitStack() as stack:
            self.begin()
            store = None if number else stack.enter_context(BatchStore(settings.state))
            server = _MemberServer(Service(settings, processes=count), sockets)
            _run(server, sockets, store, opened=partial(processes.say_ready, news))


def _run(
    server: "_DrainingServer",
    sockets: _Sockets,
    store: BatchStore | None,
    *,
    opened: Callable[[], None],
) -> None:
    """Serve in this process until a signal; call `opened` when all panels are open."""
    # Otherwise every figure would come with its time of creation.
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
            if store is None:  # the first process reports meanwhile that the service is starting
                await are_open.wait()
            await server.serve([sockets.listener])
            watched.should_exit = True
            service.close()
            if server.forced_by:
                group.cancel_scope.cancel()


class _DrainingServer(uvicorn.Server):
    """A server that keeps answering while it drains, so that observers see that it will end.

    After the first signal no new work is accepted, and the listener is closed once no request is
    under way or the time limit is over. A second signal ends it at once.
    """

    def __init__(
        self,
        service: Service,
        *,
        ending: Callable[[int], None],
        hand_over: connections.HandOver | None = None,
    ) -> None:
        most = service.settings.limits.max_http_connections
        super().__init__(_configured(create_app(service), service, most=most, hand_over=hand_over))
        self.forced_by = 0
        self._ending = ending
        self.service = service
        self._signals: list[int] = []
        self._end = 0.0

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Record a signal; anything more would be unsafe in a signal handler."""
        del frame
        if self._signals:
            self.forced_by = sig
            self.should_exit = self.force_exit = True
        self._signals.append(sig)

    async def on_tick(self, counter: int) -> bool:
        """Drain once a signal has arrived; return whether to end."""
        service = self.service
        if self._signals and not service.is_draining:
            self._ending(self._signals[0])
            service.drain()
            self._end = current_time() + service.settings.limits.drain_seconds
        elif service.is_draining and (not service.requests or current_time() >= self._end):
            self.should_exit = True
        return await super().on_tick(counter)


class _MemberServer(_DrainingServer):
    """One of several servers with a shared socket; it drains if its supervisor says so or dies."""

    def __init__(self, service: Service, sockets: _Sockets) -> None:
        hand_over = None if sockets.given is None else sockets.hand_over
        super().__init__(service, ending=lambda _: None, hand_over=hand_over)
        self._taken = sockets.taken
        self._backlog = self.config.backlog
        self.config.backlog = 1  # accept one connection a round, and leave others to idle processes
        self._taking = set[asyncio.Task[object]]()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Record the supervisor's signal; others, as from a terminal, are for the supervisor."""
        if sig == signal.SIGTERM and not self._signals:
            super().handle_exit(sig, frame)

    async def on_tick(self, counter: int) -> bool:
        """Drain if the supervisor is gone; return whether to end."""
        if not processes.has_parent():
            self.handle_exit(signal.SIGTERM, None)
        return await super().on_tick(counter)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(self._backlog)  # asyncio accepts as many at once as its backlog allows
        if self._taken is not None:
            asyncio.get_running_loop().add_reader(self._taken, self._take, self._taken)

    def _take(self, taken: socket.socket) -> None:
        """Accept a connection that another process has handed over."""
        try:
            piece, descriptors, _, _ = socket.recv_fds(taken, connections.PIECE, 1)
        except BlockingIOError:  # woken without a connection
            return

        def create() -> asyncio.Protocol:
            connection = self.config.http_protocol_class(  # type: ignore[call-arg]  # as uvicorn
                config=self.config,
                server_state=self.server_state,
                app_state=self.lifespan.state,
            )
            assert isinstance(connection, connections.BoundedConnection)  # as `_configured` says
            connection.handed = piece
            return connection

        opened = socket.socket(fileno=descriptors[0])
        opened.settimeout(0.0)  # asyncio needs a non-blocking socket
        loop = asyncio.get_running_loop()
        task = loop.create_task(loop.connect_accepted_socket(create, opened))
        self._taking.add(task)  # the loop itself holds only weak references to tasks
        task.add_done_callback(self._taking.discard)


class _HealthServer(uvicorn.Server):
    def __init__(self, service: Service) -> None:
        super().__init__(_configured(create_health_app(service), service, most=_WATCHERS))

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _configured(
    app: Gate, service: Service, *, most: int, hand_over: connections.HandOver | None = None
) -> uvicorn.Config:
    settings = service.settings
    most, backlog = _room(most)
    return uvicorn.Config(
        app,
        http=connections.bounded(
            connections.Room(most=most, is_shared=settings.tokens.are_shared),
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
        timeout_graceful_shutdown=1,  # checks have finished or timed out by then
    )


def _room(wanted: int) -> tuple[int, int]:
    """Return the numbers of connections that may be open, and that may wait to be accepted.

    The limit of open files is raised as far as needed; refused connections also need files.
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
