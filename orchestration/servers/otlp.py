"""A server that receives traces by the OpenTelemetry Protocol over HTTP [1]_.

It answers 200 once the spans are on disk. If too many traces wait or the disk is full, it asks
clients to retry later (429 with ``Retry-After``, or 503), as senders expect.

References
----------
.. [1] https://opentelemetry.io/docs/specs/otlp, version 1, "OTLP/HTTP"
"""

import logging
import zlib
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
"""Most bytes of a request after decompression."""
_GZIP = 31
"""The `wbits` value by which zlib expects gzip with its header."""
_RETRY_SECONDS = "5"
_INVALID, _UNAVAILABLE, _UNAUTHENTICATED = 3, 14, 16
"""gRPC status codes, which JSON answers contain in addition to their message."""


@asynccontextmanager
async def serving_traces(
    watch: Watch, *, host: str, port: int, tokens: Tokens
) -> AsyncIterator[str]:
    """Accept traces for a watch while the context is open; yield the URL.

    Raise `ServiceError` if the port is in use.
    """
    app = web.Application(client_max_size=_LARGEST)
    routes = _Routes(watch, host=host, tokens=tokens)
    app.router.add_post(PATH, routes.take)
    app.router.add_get("/healthz", routes.health)
    with listening(host, port) as listener:
        silent = logging.getLogger(f"{__name__}.http")
        silent.disabled = True  # invalid HTTP by clients is not worth logging
        runner = web.AppRunner(  # gzip is decompressed here, within a limit
            app, access_log=None, logger=silent, shutdown_timeout=1.0, auto_decompress=False
        )
        await runner.setup()
        try:
            await web.SockSite(runner, listener).start()
            yield url_of(*listener.getsockname()[:2]) + PATH
        finally:
            await runner.cleanup()


class _Routes:
    """Answers exports of spans, and requests for the watch's status."""

    def __init__(self, watch: Watch, *, host: str, tokens: Tokens) -> None:
        self._watch = watch
        self._is_local = is_loopback(host)
        self._tokens = tokens

    async def take(self, request: web.Request) -> web.Response:
        """Accept the valid spans of a request; the answer counts the others."""
        kind = request.content_type
        return self._refusal(request, kind) or await self._answer(request, kind)

    async def health(self, request: web.Request) -> web.Response:
        """Answer with the counts of the watch, without any text."""
        if _is_foreign(request, is_local=self._is_local):
            return _failure(403, _UNAUTHENTICATED, "this server answers to loopback names only")
        return web.json_response(self._watch.status())

    async def _answer(self, request: web.Request, kind: str) -> web.Response:
        encoding = request.headers.get("Content-Encoding", "identity").lower()
        try:
            read = await self._watch.accept(_unpacked(await request.read(), encoding), kind)
        except web.HTTPRequestEntityTooLarge:
            return _failure(413, _INVALID, f"a request has at most {_LARGEST} bytes, unpacked")
        except DataError as error:
            return _failure(400, _INVALID, hide(str(error)))
        except StoreError as error:
            log.exception("traffic.store_failed")
            return _failure(503, _UNAVAILABLE, hide(str(error)), later=True)
        if read.rejected:
            log.warning("traffic.spans_rejected", count=read.rejected, error=hide(read.problem))
        answer = read._replace(problem=hide(read.problem)).answer(kind)
        return web.Response(body=answer, content_type=kind)

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


def _unpacked(body: bytes, encoding: str) -> bytes:
    """Return a decompressed body.

    Raise `DataError` if its encoding is not gzip, and aiohttp's error if it is too long.
    """
    if encoding == "identity":
        return body
    if encoding != "gzip":
        raise DataError(f"expected Content-Encoding gzip or none, got {encoding[:20]!r}")
    unpacker = zlib.decompressobj(wbits=_GZIP)
    try:
        data = unpacker.decompress(body, _LARGEST + 1)
    except zlib.error as error:
        raise DataError(f"the body is not gzip: {error}") from error
    if len(data) > _LARGEST:
        raise web.HTTPRequestEntityTooLarge(max_size=_LARGEST, actual_size=len(data))
    if not unpacker.eof:
        raise DataError("the body is not gzip: it ends too early")
    return data


def _is_foreign(request: web.Request, *, is_local: bool) -> bool:
    """Return whether a page in a browser may have sent the request, by DNS rebinding."""
    return is_local and not is_loopback(request.url.host or "")


def _failure(status: int, code: int, message: str, *, later: bool = False) -> web.Response:
    headers = {"Retry-After": _RETRY_SECONDS} if later else {}
    return web.json_response({"code": code, "message": message}, status=status, headers=headers)
