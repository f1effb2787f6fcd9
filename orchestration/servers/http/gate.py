"""The gate: authentication, origin checks and capacity; counts and logs every request.

A log line has the route, the status and the time, but no address as sent, no text and no token.
"""

import time
from collections.abc import Callable, Iterable
from functools import lru_cache

from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from spanjury.judges.core import EventLog, kind_of
from spanjury.orchestration.servers.http.bodies import BATCHES, CHECK, STREAM
from spanjury.orchestration.servers.http.problems import ProblemError
from spanjury.orchestration.servers.http.service import Service
from spanjury.orchestration.servers.listening import LOOPBACK
from spanjury.orchestration.servers.tokens import LOCAL

log = EventLog()

_OPEN = frozenset({"/healthz", "/readyz"})
"""Paths of health checks, which need no token."""
_BUSY = frozenset({CHECK, STREAM, BATCHES})
"""Paths whose requests may be refused before routing."""
_OTHER = "other"
"""The label for unknown routes."""


class Gate:
    """Middleware that admits requests, and turns exceptions behind it into answers.

    The tenant of an admitted request is in its state, as ``tenant``.
    """

    def __init__(self, app: ASGIApp, *, service: Service) -> None:
        self._app = app
        self._service = service
        self._tokens = service.settings.tokens

    def refusal(self, scope: Scope) -> Response | None:
        """Return the answer to a refused request; None if it is admitted.

        The head alone decides: a server may send this answer before it reads the body or calls the
        application.
        """
        began = time.perf_counter()
        state = scope.setdefault("state", {})
        try:
            if "asks" not in state:  # a repeated head was checked before
                state["asks"] = self._admitted(scope)
            tenant = state["asks"]
            state["arrived"] = self._require_room(scope, tenant)
        except ProblemError as problem:
            self._note(scope, problem.status, time.perf_counter() - began)
            closes = self._service.is_draining
            return _refused(
                problem.kind,
                problem.detail,
                more=tuple(problem.more.items()),
                headers=tuple(problem.headers.items()),
                closes=closes,
            )
        state["tenant"] = tenant
        return None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if "tenant" not in scope.get("state", {}):  # the server has not called `refusal`
            refusal = self.refusal(scope)
            if refusal is not None:
                await refusal(scope, receive, send)
                return
        began, status = time.perf_counter(), 0

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                _complete(MutableHeaders(scope=message), closes=self._service.is_draining)
            await send(message)

        self._service.requests += 1
        try:
            await self._app(scope, receive, answer)
        except ProblemError as problem:
            if not status:
                await problem.response()(scope, receive, answer)
        except Exception as error:
            log.exception("request.failed", error=kind_of(error))
            if not status:
                await ProblemError("internal-error").response()(scope, receive, answer)
        finally:
            self._service.requests -= 1
            scope["state"]["arrived"]()
            self._note(scope, status or 499, time.perf_counter() - began)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        path = scope["path"] if scope["path"] in _BUSY else _OTHER
        route = str(getattr(scope.get("route"), "path", path))
        method = scope["method"] if route != _OTHER else ""
        self._service.metrics.answered(method, route, status=status, seconds=seconds)
        log.info(
            "request.answered",
            method=method,
            route=route,
            status=status,
            seconds=round(seconds, 4),
            tenant=scope["state"].get("tenant", ""),
        )

    def _admitted(self, scope: Scope) -> str:
        path, query = scope["path"], scope["query_string"]
        if (query or path not in _BUSY) and self._tokens.is_in_address(scope["raw_path"], query):
            raise ProblemError(
                "token-in-url",
                "send it as 'Authorization: Bearer …'; proxies log addresses, so replace a token "
                "that was sent in one",
            )
        if not self._tokens:
            _require_local(scope)
            return LOCAL
        return "" if path in _OPEN else self._tenant(_given(scope, b"authorization"))

    def _require_room(self, scope: Scope, tenant: str) -> Callable[[], None]:
        """Raise `ProblemError` if there is no room; return a function that ends the arrival."""
        connection = scope["state"].get("connection")
        if connection is not None and not connection.belongs_to(tenant):
            raise ProblemError(
                "too-busy",
                "you already hold your share of the connections",
                headers={"Retry-After": "1", "Connection": "close"},
            )
        path = scope["path"] if scope["method"] == "POST" else ""
        return self._service.require_room(path, tenant)

    def _tenant(self, given: list[str]) -> str:
        if not given:
            raise ProblemError("token-missing", headers={"WWW-Authenticate": "Bearer"})
        tenant = self._tokens.bearer(given)
        if tenant is None:
            refusal = 'Bearer error="invalid_token"'
            raise ProblemError("token-wrong", headers={"WWW-Authenticate": refusal})
        return tenant


@lru_cache(maxsize=256)
def _refused(
    kind: str,
    detail: str,
    *,
    more: tuple[tuple[str, object], ...],
    headers: tuple[tuple[str, str], ...],
    closes: bool,
) -> Response:
    """Return the answer to a refused request, cached because crowds get the same one."""
    answer = ProblemError(kind, detail, more=dict(more), headers=dict(headers)).response()
    _complete(answer.headers, closes=closes)
    return answer


def _complete(headers: MutableHeaders, *, closes: bool) -> None:
    headers.setdefault("Cache-Control", "no-store")
    if closes:
        headers["Connection"] = "close"
    headers["X-Content-Type-Options"] = "nosniff"


def _given(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for header, value in scope["headers"] if header == name]


def _require_local(scope: Scope) -> None:
    """Refuse requests of foreign pages in a browser: their host name or origin is foreign.

    A foreign name that resolves to this machine (DNS rebinding) is in ``Host``; the site of a page
    is in ``Origin``.
    """
    hosts = _given(scope, b"host")
    if not hosts or not _are_local(hosts):
        raise ProblemError("address-not-allowed")
    origins = (origin.partition("://")[2] for origin in _given(scope, b"origin"))
    is_foreign = "cross-site" in _given(scope, b"sec-fetch-site")
    if is_foreign or not _are_local(origins):
        raise ProblemError("origin-not-allowed")


def _are_local(authorities: Iterable[str]) -> bool:
    return all(_name(authority) in LOOPBACK for authority in authorities)


def _name(authority: str) -> str:
    """Return the name or address of a host, without its port."""
    if authority.startswith("["):
        return authority[1:].partition("]")[0]
    return authority.partition(":")[0].lower()
