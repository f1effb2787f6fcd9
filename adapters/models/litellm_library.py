"""LiteLLM as we use it: configured before import, with bounded answers, and closed at the end.

Import `litellm` only from this module. The import takes seconds, so only the modules that talk to
models import this one, and they are loaded when a model is first named.

LiteLLM makes HTTP clients in a dozen functions. Several of them follow redirects, and no setting
prevents that, or limits the size of answers. But all send through ``httpx.Client.send`` or
``httpx.AsyncClient.send``, so these are wrapped here; a request outside of `guarded` passes
unchanged. LiteLLM also caches its clients per event loop, and closes them some time after the
loop has gone. Here they are closed with the last model that was opened in their loop.
"""

import asyncio  # noqa: TID251 - LiteLLM's clients belong to an asyncio event loop
import logging
import os
import sys
import warnings
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, NoReturn

import anyio
import httpx

# Unless these are set, the import downloads a price list and reads a ``.env`` file.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
os.environ.setdefault("LITELLM_MODE", "PRODUCTION")

import litellm
from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler
from litellm.llms.ollama.common_utils import OllamaModelInfo

from spanjury.adapters.models.event_loop import asyncio_loop
from spanjury.adapters.models.reply_bytes import IDENTITY, ReplyBytes
from spanjury.adapters.models.server_address import refuse_redirect
from spanjury.judges.core import Decoding, EventLog, ModelError, kind_of

__all__ = ["Exchange", "client_connections", "guarded", "litellm"]

_CLOSING_SECONDS = 5.0
_models_open: Counter[asyncio.AbstractEventLoop] = Counter()

log = EventLog()


@asynccontextmanager
async def client_connections() -> AsyncIterator[None]:
    """Keep LiteLLM's connections open until the last model of this event loop is closed.

    Raises `ConfigError` if the event loop is not asyncio's.
    """
    loop = asyncio_loop("models are called through LiteLLM")
    _models_open[loop] += 1
    try:
        yield
    finally:
        _models_open[loop] -= 1
        if not _models_open[loop]:
            del _models_open[loop]
            with anyio.move_on_after(_CLOSING_SECONDS, shield=True):
                await _close_clients()


async def _close_clients() -> None:
    """Close the clients of this event loop; their cache keys end with the loop's id."""
    cache = litellm.in_memory_llm_clients_cache
    of_this_loop = cache.update_cache_key_with_event_loop("")  # LiteLLM's
    for key in [key for key in cache.cache_dict if key.endswith(of_this_loop)]:
        client = cache.cache_dict.pop(key)
        cache.ttl_dict.pop(key, None)
        close = getattr(client, "close", None) or getattr(client, "aclose", None)
        if close is None:
            continue
        try:
            await close()
        except Exception as error:  # noqa: BLE001 - a foreign connection may fail in any way
            log.debug("client.close_failed", error=kind_of(error))


@dataclass(slots=True, kw_only=True)
class Exchange:
    """One call, and why its answer was refused.

    `decoding` limits the answer's size. Messages may contain `source`, but not `key`. A `refusal`
    is kept here, because LiteLLM turns it into an error of its own that says less. If the call
    `is_unsent`, its `body` is kept and nothing is sent. If it `is_last`, its connection is closed,
    since its client is not reused.
    """

    decoding: Decoding
    source: str
    key: str = field(default="", repr=False)
    refusal: ModelError | None = None
    is_unsent: bool = False
    body: bytes = b""
    is_last: bool = False

    def send(self, request: httpx.Request) -> None:
        """Prepare a request; for an unsent one, keep its body and raise `UnsentError`."""
        if self.is_unsent:
            self.body = request.content
            raise UnsentError
        request.headers.update(IDENTITY)
        if self.is_last:
            request.headers["Connection"] = "close"

    def receive(self, response: httpx.Response) -> None:
        """Limit the body of `response`, which has not been read.

        Raises `ModelError` if it is a redirect, or compressed in a way that was not requested.
        """
        with self._refusing():
            refuse_redirect(
                response.status_code,
                response.headers,
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
        response.headers.pop("Content-Encoding", None)  # our stream decompresses it
        response.stream = _BoundedStream(response.stream, exchange=self, body=body)

    def piece(self, body: ReplyBytes, chunk: bytes) -> bytes:
        """Return the bytes that `chunk` adds to the body; record the reason if it is refused."""
        with self._refusing():
            return body.receive(chunk)

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        try:
            yield
        except ModelError as error:
            self.refusal = error
            raise


class UnsentError(Exception):
    """Raised in place of sending a request whose body is to be kept."""


_EXCHANGE: ContextVar[Exchange | None] = ContextVar("exchange", default=None)


class _WithinACall:
    """Matches pydantic's warnings within `guarded` only: they quote replies of unexpected types.

    `warnings.catch_warnings` would change the filters of all tasks and threads. This pattern checks
    its context at each warning, and leaves a host's own warnings alone.
    """

    def match(self, message: str) -> bool:
        return _EXCHANGE.get() is not None and message.startswith("Pydantic serializer warnings")


_QUIET = ("ignore", _WithinACall(), UserWarning, None, 0)


def _keep_quiet() -> None:
    """Put our filter first again, in case the host or its tests have since added others."""
    filters: list[Any] = warnings.filters  # type: ignore[assignment]  # it is a list
    if filters[:1] != [_QUIET]:
        filters[:] = [_QUIET, *(existing for existing in filters if existing is not _QUIET)]


@contextmanager
def guarded(exchange: Exchange) -> Iterator[None]:
    """Apply the limits of `exchange` to all requests and responses in the context."""
    _keep_quiet()
    token = _EXCHANGE.set(exchange)
    try:
        yield
    finally:
        _EXCHANGE.reset(token)


class _BoundedStream(httpx.AsyncByteStream, httpx.SyncByteStream):
    """The body of a response, decompressed and limited, for both kinds of client."""

    # Only httpx knows which of the two kinds `stream` is.
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


def _guarded_async(send: Any) -> Any:  # noqa: ANN401  httpx's own, with its many parameters
    @wraps(send)
    async def guarded_send(
        self: httpx.AsyncClient, request: httpx.Request, *, stream: bool = False, **options: object
    ) -> httpx.Response:
        exchange = _EXCHANGE.get()
        if exchange is None:
            whole: httpx.Response = await send(self, request, stream=stream, **options)
            return whole
        exchange.send(request)
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
        exchange.send(request)
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


async def _raise_what_broke(*_: object, **__: object) -> NoReturn:
    """Raise the error instead of LiteLLM's second request after a broken connection.

    The first request may have arrived and been charged, so it is for the gateway to decide on a
    retry. No option of LiteLLM's turns its own off.
    """
    error = sys.exception()  # the error that LiteLLM handles while calling this
    assert error is not None
    raise error


def _known_without_asking(*_: object, **__: object) -> None:
    """Replace LiteLLM's query of Ollama, which ignores the given address.

    The result None makes LiteLLM use its own list, as for every other provider.
    """


# By default it prints advice to standard output after each failure, and logs servers' messages.
litellm.suppress_debug_info = True
for _name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)
for _name in ("single_connection_post_request", "single_connection_request"):  # up to 1.109; since
    setattr(AsyncHTTPHandler, _name, _raise_what_broke)
OllamaModelInfo.get_model_info = _known_without_asking  # type: ignore[method-assign]  # no hook
httpx.AsyncClient.send = _guarded_async(httpx.AsyncClient.send)  # type: ignore[method-assign]  # no hook
httpx.Client.send = _guarded_sync(httpx.Client.send)  # type: ignore[method-assign]  # no hook
