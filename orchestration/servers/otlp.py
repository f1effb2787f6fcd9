"""The server that takes traces by the OpenTelemetry Protocol over HTTP [1]_.

It answers 200 once the spans are on disk. It asks to be tried again later (429 with
``Retry-After``, 503) if too much waits or the disk is full, as senders expect.

References
----------
.. [1] https://opentelemetry.io/docs/specs/otlp, version 1, "OTLP/HTTP"
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web

from spanjury.judges.core import DataError, EventLog, StoreError, hide
from spanjury.orchestration.servers.listening import is_loopback, listening, url_of
from spanjury.orchestration.servers.tokens import Tokens
from spanjury.orchestration.services.serving.watching.watch import Watch
from spanjury.orchestration.wiring.traffic import JSON, PROTOBUF

log = EventLog()

PATH = "/v1/traces"
_LARGEST = 2**24
"""Bytes of a request, unpacked."""
_RETRY_SECONDS = "5"
_INVALID, _UNAVAILABLE, _UNAUTHENTICATED = 3, 14, 16
"""Codes of gRPC, which answers in JSON hold beside their message."""


@asynccontextmanager
async def serving_traces(
    watch: Watch, *, host: str, port: int, tokens: Tokens
) -> AsyncIterator[str]:
    """Take traces on for a watch inside the context; give the address.

    Raise `ServiceError` if the port is taken.
    """
    app = web.Application(client_max_size=_LARGEST)
    app.router.add_post(PATH, _Traces(watch, host=host, tokens=tokens))
    app.router.add_get("/healthz", _Health(watch, host=host))
    with listening(host, port) as listener:
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        try:
            await web.SockSite(runner, listener).start()
            yield url_of(*listener.getsockname()[:2]) + PATH
        finally:
            await runner.cleanup()


class _Traces:
    """Answers exports of spans."""

    def __init__(self, watch: Watch, *, host: str, tokens: Tokens) -> None:
        self._watch = watch
        self._is_local = is_loopback(host)
        self._tokens = tokens

    async def __call__(self, request: web.Request) -> web.Response:
        kind = request.content_type
        refusal = self._refusal(request, kind) or await self._problem(request, kind)
        if refusal is not None:
            return refusal
        if kind == PROTOBUF:  # an empty message: all was taken on
            return web.Response(body=b"", content_type=PROTOBUF)
        return web.json_response({})

    async def _problem(self, request: web.Request, kind: str) -> web.Response | None:
        """Take the spans of a request on; return the answer if that fails."""
        try:
            await self._watch.accept(await request.read(), kind)
        except web.HTTPRequestEntityTooLarge:
            return _failure(413, _INVALID, f"a request has at most {_LARGEST} bytes")
        except DataError as error:
            return _failure(400, _INVALID, hide(str(error)))
        except StoreError as error:
            log.exception("traffic.store_failed")
            return _failure(503, _UNAVAILABLE, hide(str(error)), later=True)
        return None

    def _refusal(self, request: web.Request, kind: str) -> web.Response | None:
        if self._tokens:
            if self._tokens.bearer(request.headers.getall("Authorization", [])) is None:
                return _failure(401, _UNAUTHENTICATED, "expected Authorization: Bearer TOKEN")
        elif _is_foreign(request, is_local=self._is_local):
            return _failure(403, _UNAUTHENTICATED, "this server answers to loopback names only")
        if kind not in {JSON, PROTOBUF}:
            return _failure(415, _INVALID, f"expected Content-Type {PROTOBUF} or {JSON}")
        if self._watch.is_full:
            return _failure(429, _UNAVAILABLE, "too many traces wait to be judged", later=True)
        return None


class _Health:
    """Answers what the watch has done, without any text."""

    def __init__(self, watch: Watch, *, host: str) -> None:
        self._watch = watch
        self._is_local = is_loopback(host)

    async def __call__(self, request: web.Request) -> web.Response:
        if _is_foreign(request, is_local=self._is_local):
            return _failure(403, _UNAUTHENTICATED, "this server answers to loopback names only")
        return web.json_response(self._watch.status())


def _is_foreign(request: web.Request, *, is_local: bool) -> bool:
    """Say whether a page in a browser may have been led here by a name of its own."""
    return is_local and not is_loopback(request.url.host or "")


def _failure(status: int, code: int, message: str, *, later: bool = False) -> web.Response:
    headers = {"Retry-After": _RETRY_SECONDS} if later else {}
    return web.json_response({"code": code, "message": message}, status=status, headers=headers)
