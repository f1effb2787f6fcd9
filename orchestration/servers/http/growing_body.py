"""A body that grows while it is answered: JSON lines, of which the first says what is asked."""

import json
from collections import deque
from collections.abc import AsyncIterator

from anyio import Event, fail_after
from pydantic import ValidationError
from starlette.types import Message, Receive

from spanjury.judges.core import DataError
from spanjury.judges.core.unique_keys import require_unique_keys
from spanjury.orchestration.servers.http.asked import StreamRequest
from spanjury.orchestration.servers.http.bodies import CLOSE
from spanjury.orchestration.servers.http.problems import ProblemError
from spanjury.orchestration.servers.http.settings import ServiceLimits


class GrowingBody:
    """The lines of a body, while someone calls `receive` for what its client sends.

    Every `ProblemError` is raised where the line is read, but for a body that is too large.
    """

    def __init__(self, receive: Receive, limits: ServiceLimits) -> None:
        self._receive = receive
        self._limits = limits
        self._received = 0
        self._pieces = deque[bytes]()
        self._has_ended = False
        self._news = Event()
        self._rest = b""

    async def receive(self) -> Message:
        """Take a message of the client's, and keep what it holds of the body."""
        message = await self._receive()
        piece: bytes = message.get("body", b"")
        self._received += len(piece)
        if self._received > self._limits.body:
            detail = f"{self._limits.body} bytes may be sent"
            raise ProblemError("body-too-large", detail, headers=CLOSE)
        if piece:
            self._pieces.append(piece)
        self._has_ended = self._has_ended or not message.get("more_body", False)
        self._news.set()
        return message

    async def request(self) -> StreamRequest:
        """Return what the first line asks, whose text may begin with its `output`."""
        try:
            with fail_after(self._limits.body_seconds):
                while b"\n" not in self._rest and not self._has_ended:
                    if (await self.receive())["type"] == "http.disconnect":
                        raise ProblemError("client-closed")
                    self._rest += b"".join(self._pieces)
                    self._pieces.clear()
        except TimeoutError:
            raise ProblemError("body-too-slow", headers=CLOSE) from None
        line, _, self._rest = self._rest.partition(b"\n")
        try:
            require_unique_keys(line)
            return StreamRequest.model_validate({"output": "", **_object(line)})
        except (DataError, ValidationError, ValueError) as error:
            raise ProblemError("body-invalid", f"line 1: {error}", headers=CLOSE) from error

    async def texts(self, begun: str) -> AsyncIterator[str]:
        """Yield `begun` and the text of each line behind the first, as it arrives."""
        length, number = len(begun), 1
        yield begun
        async for line in self._lines():
            number += 1
            try:
                text = json.loads(line)
            except ValueError:
                text = None
            if not isinstance(text, str):
                detail = f"line {number} is no text in quotation marks, as JSON writes it"
                raise ProblemError("body-invalid", detail)
            length += len(text)
            if length > self._limits.output:
                detail = f"the output is longer than the {self._limits.output} characters allowed"
                raise ProblemError("text-too-long", detail)
            yield text

    async def _lines(self) -> AsyncIterator[bytes]:
        parts: list[bytes] = []  # of a line whose end has not come
        piece: bytes | None = self._rest
        while piece is not None:
            *ends, rest = piece.split(b"\n")
            for end in ends:
                line = b"".join((*parts, end))
                parts.clear()
                if line.strip():
                    yield line
            parts.append(rest)
            piece = await self._next()
        if any(map(bytes.strip, parts)):
            yield b"".join(parts)

    async def _next(self) -> bytes | None:
        """Wait for the next piece; None behind the last one."""
        while not self._pieces and not self._has_ended:
            self._news = Event()
            await self._news.wait()
        return self._pieces.popleft() if self._pieces else None


def _object(line: bytes) -> dict[str, object]:
    value = json.loads(line)
    if isinstance(value, dict):
        return value
    raise DataError(f"expected an object, got {line[:40]!r}")
