"""The gate: who may ask, from where, and what is counted and logged of it.

A log line has the route, the status and the time: no address as it was sent, no text, no token.
"""

import time
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from spanjury.judges.core import EventLog, kind_of
from spanjury.orchestration.servers.http.problems import ProblemError
from spanjury.orchestration.servers.http.service import Service
from spanjury.orchestration.servers.listening import LOOPBACK
from spanjury.orchestration.servers.tokens import LOCAL

log = EventLog()

_OPEN = frozenset({"/healthz", "/readyz"})
"""Whether the service is up is no secret, and what asks has no token."""
_OTHER = "other"
"""The route of what is nowhere."""


class Gate:
    """Middleware that admits requests, and answers whatever is raised behind it.

    The tenant of an admitted request is in its state, as ``tenant``.
    """

    def __init__(self, app: ASGIApp, *, service: Service) -> None:
        self._app = app
        self._service = service
        self._tokens = service.settings.tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        answer = _Answer(send, closes=self._service.is_draining)
        self._service.requests += 1
        try:
            scope.setdefault("state", {})["tenant"] = self._admitted(scope)
            await self._app(scope, receive, answer.send)
        except ProblemError as problem:
            if not answer.status:
                await problem.response()(scope, receive, answer.send)
        except Exception as error:
            log.exception("request.failed", error=kind_of(error))
            if not answer.status:
                await ProblemError("internal-error").response()(scope, receive, answer.send)
        finally:
            self._service.requests -= 1
            self._note(scope, answer.status or 499, time.perf_counter() - began)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", _OTHER)
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
        """Return the tenant, or raise `ProblemError`."""
        scope.setdefault("state", {})
        if self._tokens.is_in_address(scope["raw_path"], scope["query_string"]):
            raise ProblemError(
                "token-in-url",
                "send it as 'Authorization: Bearer …'; addresses are logged by what they pass,"
                " so replace a token that was sent in one",
            )
        headers = Headers(scope=scope)
        if not self._tokens:
            _require_local(headers)
            return LOCAL
        return "" if scope["path"] in _OPEN else self._tenant(headers.getlist("authorization"))

    def _tenant(self, given: list[str]) -> str:
        if not given:
            raise ProblemError("token-missing", headers={"WWW-Authenticate": "Bearer"})
        tenant = self._tokens.bearer(given)
        if tenant is None:
            refusal = 'Bearer error="invalid_token"'
            raise ProblemError("token-wrong", headers={"WWW-Authenticate": refusal})
        return tenant


class _Answer:
    """An answer under way, and its status; 0 before it begins."""

    def __init__(self, send: Send, *, closes: bool) -> None:
        self._send = send
        self._closes = closes
        self.status = 0

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers.setdefault("Cache-Control", "no-store")
            if self._closes:
                headers["Connection"] = "close"
            headers["X-Content-Type-Options"] = "nosniff"
        await self._send(message)


def _require_local(headers: Headers) -> None:
    """Refuse what pages in a browser may send to this machine: by a name of theirs, or from afar.

    A name that is made to point here (DNS rebinding) is in ``Host``; the site of a page is in
    ``Origin``.
    """
    if not _are_local(headers.getlist("host"), least=1):
        raise ProblemError("address-not-allowed")
    origins = (origin.partition("://")[2] for origin in headers.getlist("origin"))
    is_foreign = headers.get("sec-fetch-site", "none") == "cross-site"
    if is_foreign or not _are_local(origins, least=0):
        raise ProblemError("origin-not-allowed")


def _are_local(authorities: Iterable[str], *, least: int) -> bool:
    names = [_name(authority) for authority in authorities]
    return len(names) >= least and all(name in LOOPBACK for name in names)


def _name(authority: str) -> str:
    """Return the name or address of a host, without its port."""
    if authority.startswith("["):
        return authority[1:].partition("]")[0]
    return authority.partition(":")[0].lower()
