"""Bounds for what LiteLLM sends and receives: no redirect is followed, no answer is endless.

LiteLLM makes HTTP clients in a dozen places, several of which follow redirects, and has no
setting for either. All of them send through ``httpx.Client.send`` or its asynchronous twin,
so these are wrapped; a request that no call of ours has made passes through untouched.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

import httpx

from spanjury.adapters.models.redirects import is_redirect, redirect_refused
from spanjury.adapters.models.reply_bytes import IDENTITY, ReplyBytes
from spanjury.judges.core import Decoding, ModelError

__all__ = ["Exchange", "guard_httpx", "guarded"]


@dataclass(slots=True, kw_only=True)
class Exchange:
    """One call, and why its answer was refused.

    Parameters
    ----------
    decoding
        The request's, which bounds the answer.
    source, key
        Name and address of the model, and the key that must not be in a message.
    refusal
        What became of the answer; LiteLLM makes an error of its own of it, which says less.
    """

    decoding: Decoding
    source: str
    key: str = field(default="", repr=False)
    refusal: ModelError | None = None

    def receive(self, response: httpx.Response) -> None:
        """Bound the body of `response`, which has not been read.

        Raises
        ------
        ModelError
            If it is a redirect, or packed in a manner that was not asked for.
        """
        with self._refusing():
            if is_redirect(response.status_code):
                raise redirect_refused(
                    response.headers.get("Location", ""),
                    status=response.status_code,
                    asked=str(response.request.url),
                    source=self.source,
                    key=self.key,
                )
            body = ReplyBytes(
                response.headers,
                succeeded=response.is_success,
                decoding=self.decoding,
                source=self.source,
            )
        response.headers.pop("Content-Encoding", None)  # the stream unpacks it
        response.stream = _BoundedStream(response.stream, exchange=self, body=body)

    def piece(self, body: ReplyBytes, chunk: bytes) -> bytes:
        """Return what `chunk` adds to the body, and remember why if it is refused."""
        with self._refusing():
            return body.receive(chunk)

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        try:
            yield
        except ModelError as error:
            self.refusal = error
            raise


class _BoundedStream(httpx.AsyncByteStream, httpx.SyncByteStream):
    """The body of an answer, unpacked and bounded, from either kind of client."""

    # httpx knows at run time which of the two it has.
    def __init__(self, stream: Any, *, exchange: Exchange, body: ReplyBytes) -> None:  # noqa: ANN401
        self._stream = stream
        self._exchange = exchange
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            yield self._exchange.piece(self._body, chunk)
            if self._body.is_full:
                return

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._stream:
            yield self._exchange.piece(self._body, chunk)
            if self._body.is_full:
                return

    async def aclose(self) -> None:
        await self._stream.aclose()

    def close(self) -> None:
        self._stream.close()


_EXCHANGE: ContextVar[Exchange | None] = ContextVar("exchange", default=None)


@contextmanager
def guarded(exchange: Exchange) -> Iterator[None]:
    """Hold everything that is sent and received within to the bounds of `exchange`."""
    token = _EXCHANGE.set(exchange)
    try:
        yield
    finally:
        _EXCHANGE.reset(token)


def guard_httpx() -> None:
    """Wrap both kinds of client."""
    httpx.AsyncClient.send = _guarded_async(httpx.AsyncClient.send)  # type: ignore[method-assign]  # no hook
    httpx.Client.send = _guarded_sync(httpx.Client.send)  # type: ignore[method-assign]  # no hook


def _guarded_async(send: Any) -> Any:  # noqa: ANN401  httpx's own, with its many parameters
    @wraps(send)
    async def guarded_send(
        self: httpx.AsyncClient, request: httpx.Request, *, stream: bool = False, **options: object
    ) -> httpx.Response:
        exchange = _EXCHANGE.get()
        if exchange is None:
            whole: httpx.Response = await send(self, request, stream=stream, **options)
            return whole
        request.headers.update(IDENTITY)
        options["follow_redirects"] = False
        async with AsyncExitStack() as closing:
            response: httpx.Response = await send(self, request, stream=True, **options)
            closing.push_async_callback(response.aclose)
            exchange.receive(response)
            if not stream:
                await response.aread()
            closing.pop_all()
        return response

    return guarded_send


def _guarded_sync(send: Any) -> Any:  # noqa: ANN401  as above
    @wraps(send)
    def guarded_send(
        self: httpx.Client, request: httpx.Request, *, stream: bool = False, **options: object
    ) -> httpx.Response:
        exchange = _EXCHANGE.get()
        if exchange is None:
            whole: httpx.Response = send(self, request, stream=stream, **options)
            return whole
        request.headers.update(IDENTITY)
        options["follow_redirects"] = False
        with ExitStack() as closing:
            response: httpx.Response = send(self, request, stream=True, **options)
            closing.callback(response.close)
            exchange.receive(response)
            if not stream:
                response.read()
            closing.pop_all()
        return response

    return guarded_send
