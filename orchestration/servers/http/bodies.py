"""Request bodies: read within limits of size and time, and only of the expected media type."""

from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from types import MappingProxyType

from anyio import current_time, fail_after, move_on_after
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from spanjury.judges.core import DataError
from spanjury.judges.core.json_text import require_unique_keys, without_lone_escapes
from spanjury.orchestration.servers.http.limits import ServiceLimits
from spanjury.orchestration.servers.http.problems import ProblemError

CHECK, STREAM, BATCHES = "/v1/check", "/v1/check/stream", "/v1/batches"
"""Paths that accept bodies."""
_JSON = frozenset({"application/json"})
_ROWS = frozenset(
    {"application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines"}
)
_KINDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {CHECK: _JSON, STREAM: _JSON | _ROWS, BATCHES: _ROWS}
)
_DISCARDED = 2**28
_DISCARD_SECONDS = 2.0
"""Most bytes and seconds to read of a rejected body, so that its sender can read the answer."""

CLOSE: Mapping[str, str] = MappingProxyType({"Connection": "close"})
"""Header of an answer to a body that was not read completely."""


class BoundedBodies:
    """Middleware that reads a body before the application starts, unless it may arrive in lines.

    A body with a duplicate key in an object is rejected. A lone surrogate becomes U+FFFD.
    """

    def __init__(self, app: ASGIApp, *, limits: ServiceLimits) -> None:
        self._app = app
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its body, or raise `ProblemError`."""
        limits, path = self._limits, scope["path"]
        if scope["type"] != "http" or scope["method"] not in {"POST", "PUT", "PATCH"}:
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        most = limits.max_batch_body if path == BATCHES else limits.max_body
        if problem := _problem_of(headers, path, most=most):
            await discard(receive)
            raise problem
        if path == BATCHES or (path == STREAM and has_lines(headers)):
            await self._app(scope, receive, send)
            return
        pieces = stream_body(receive, most=most, seconds=limits.body_seconds)
        try:
            body = sound_json(b"".join([piece async for piece in pieces])).encode()
        except UnicodeDecodeError as error:
            raise ProblemError("body-not-json", "the body is not UTF-8") from error
        except DataError as error:
            raise ProblemError("body-invalid", str(error)) from error
        message: Message = {"type": "http.request", "body": body, "more_body": False}
        await self._app(scope, replaying(message, receive), send)


async def stream_body(receive: Receive, *, most: int, seconds: float) -> AsyncIterator[bytes]:
    """Yield a body piece by piece; raise `ProblemError` if it is too large or too slow."""
    received = 0
    end = current_time() + seconds
    while True:
        try:
            with fail_after(end - current_time()):
                message = await receive()
        except TimeoutError:
            raise ProblemError("body-too-slow", headers=CLOSE) from None
        if message["type"] == "http.disconnect":
            raise ProblemError("client-closed")
        piece: bytes = message.get("body", b"")
        received += len(piece)
        has_ended = not message.get("more_body", False)
        if received > most:
            if not has_ended:
                await discard(receive)
            raise ProblemError("body-too-large", f"{most} bytes may be sent", headers=CLOSE)
        if piece:
            yield piece
        if has_ended:
            return


def has_lines(headers: Headers) -> bool:
    """Return whether a body consists of JSON lines."""
    return _kind(headers) in _ROWS


def _kind(headers: Headers) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def _problem_of(headers: Headers, path: str, *, most: int) -> ProblemError | None:
    """Return why a body is not read: it is too large, compressed, or of another media type.

    Pages of other sites can send some media types.
    """
    kind, expected = "media-type-not-supported", _KINDS.get(path)
    if expected is not None and _kind(headers) not in expected:
        wanted = " or ".join(sorted(expected))
        return ProblemError(kind, f"expected Content-Type {wanted}", headers=CLOSE)
    if headers.get("content-encoding", "identity").lower() != "identity":
        return ProblemError(kind, "send bodies uncompressed", headers=CLOSE)
    if announced(headers) > most:
        return ProblemError("body-too-large", f"{most} bytes may be sent", headers=CLOSE)
    return None


def sound_json(body: bytes) -> str:
    """Return JSON in which U+FFFD stands for each lone surrogate.

    Raises `UnicodeDecodeError` if it is not UTF-8, and `DataError` if an object has a key twice.
    """
    text = without_lone_escapes(body.decode())
    require_unique_keys(text)
    return text


def announced(headers: Headers) -> int:
    """Return the announced size of a body in bytes; 0 if there is none."""
    length = headers.get("content-length", "")
    return int(length) if length.isdecimal() else 0


async def read_on(pieces: AsyncIterator[bytes]) -> None:
    """Drop the rest of a body for a while, since many clients read no answer before all is sent."""
    with suppress(ProblemError), move_on_after(_DISCARD_SECONDS):
        async for _ in pieces:
            pass


async def discard(receive: Receive) -> None:
    """Drop the rest of a body that is not read in pieces, or no longer, for a while."""
    received = 0
    with move_on_after(_DISCARD_SECONDS):
        while received < _DISCARDED:
            message = await receive()
            received += len(message.get("body", b""))
            if not message.get("more_body", False):
                return


def replaying(message: Message, receive: Receive) -> Receive:
    """Return a receive function that first yields `message`, a whole body, then later messages."""
    left = [message]

    async def replay() -> Message:
        return left.pop() if left else await receive()

    return replay
