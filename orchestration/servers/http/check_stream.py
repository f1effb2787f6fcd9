"""`POST /v1/check/stream`: a text is judged sentence by sentence, as server-sent events.

A text that is still being written arrives line by line, and events are sent between its lines. Each
sentence takes its own turn among the checks, so that a slow client does not delay other clients.
"""

import json
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, nullcontext
from typing import Any

from anyio import Event, fail_after
from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute
from pydantic import ValidationError
from starlette.datastructures import Headers
from starlette.routing import Match
from starlette.types import Message, Receive, Scope, Send

from spanjury.judges.core import DataError
from spanjury.orchestration.servers.http import checks
from spanjury.orchestration.servers.http.answers import ReportEvent, SentenceEvent
from spanjury.orchestration.servers.http.asked import StreamRequest
from spanjury.orchestration.servers.http.bodies import CLOSE, STREAM, discard, has_lines, sound_json
from spanjury.orchestration.servers.http.limits import ServiceLimits
from spanjury.orchestration.servers.http.problems import ProblemError, fields_at_fault
from spanjury.orchestration.servers.http.service import OpenPanel, Service, end_arrival, tenant_of
from spanjury.orchestration.services.judging import check as checking
from spanjury.orchestration.services.judging.stream import (
    JudgedSentence,
    StreamEnd,
    Tokens,
    stream_requested,
)
from spanjury.orchestration.services.judging.text_report import TextReport

_LINES: dict[str, Any] = {
    "requestBody": {
        "content": {
            "application/x-ndjson": {
                "schema": {
                    "type": "string",
                    "description": "A text that is still being written: a line with the other"
                    " members of a `StreamRequest`, and then a line for each piece of the text, as"
                    " a JSON string.",
                },
                "example": '{"source": "It was opened in 1932."}\n"It opened"\n" in 1935."\n',
            }
        }
    }
}


class GrowingBody:
    """The lines of a body, while another task calls `receive` for its messages.

    `ProblemError` is raised where a line is read, except for a body that is too large.
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
        """Receive a message of the client, and store its part of the body."""
        message = await self._receive()
        piece: bytes = message.get("body", b"")
        self._received += len(piece)
        has_more = bool(message.get("more_body", False))
        if self._received > self._limits.max_body:
            if has_more:
                await discard(self._receive)
            detail = f"{self._limits.max_body} bytes may be sent"
            raise ProblemError("body-too-large", detail, headers=CLOSE)
        if piece:
            self._pieces.append(piece)
        self._has_ended = self._has_ended or not has_more
        self._news.set()
        return message

    async def request(self) -> StreamRequest:
        """Return the request in the first line; its `output` may begin the text."""
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
            return StreamRequest.model_validate({"output": "", **_object(sound_json(line))})
        except (DataError, ValueError) as error:
            if not self._has_ended:
                await discard(self._receive)
            raise _problem_of_line_1(error) from error

    async def texts(self, begun: str) -> AsyncIterator[str]:
        """Yield `begun` and then the text of each later line as it arrives."""
        length, number = len(begun), 1
        yield begun
        async for line in self._lines():
            number += 1
            try:
                text = json.loads(sound_json(line))
            except (DataError, ValueError, RecursionError):
                text = None
            if not isinstance(text, str):
                detail = f"line {number} is no text in quotation marks, as JSON writes it"
                raise ProblemError("body-invalid", detail)
            length += len(text)
            if length > self._limits.max_output:
                detail = (
                    f"the output is longer than the {self._limits.max_output} characters allowed"
                )
                raise ProblemError("text-too-long", detail)
            yield text

    async def _lines(self) -> AsyncIterator[bytes]:
        parts: list[bytes] = []  # of an incomplete line
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
        """Wait for the next piece; return None after the last one."""
        while not self._pieces and not self._has_ended:
            self._news = Event()
            await self._news.wait()
        return self._pieces.popleft() if self._pieces else None


def _problem_of_line_1(error: Exception) -> ProblemError:
    if isinstance(error, ValidationError):
        fields = fields_at_fault(error.errors())
        return ProblemError("body-invalid", "line 1", more={"fields": fields}, headers=CLOSE)
    reason = "not JSON" if isinstance(error, json.JSONDecodeError) else str(error)
    return ProblemError("body-invalid", f"line 1: {reason}", headers=CLOSE)


def _object(line: str) -> dict[str, object]:
    try:
        value = json.loads(line)
    except RecursionError as error:
        raise DataError("nested too deeply to be read") from error
    if isinstance(value, dict):
        return value
    raise DataError("expected a JSON object")


class EventStream(Response):
    """A response whose body is written by `write`, through a function that sends an event.

    It starts with the first event. A `ProblemError` before it becomes the answer, and one after it
    becomes the last event, ``error``.
    """

    media_type = "text/event-stream"

    def __init__(self, write: Callable[["SendEvent"], Awaitable[None]]) -> None:
        super().__init__()
        self._write = write

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response."""
        del scope, receive
        has_begun = False

        async def send_event(name: str, data: object) -> None:
            nonlocal has_begun
            if not has_begun:
                has_begun = True
                headers = [pair for pair in self.raw_headers if pair[0] != b"content-length"]
                await send({"type": "http.response.start", "status": 200, "headers": headers})
            event = f"event: {name}\ndata: {checks.encoded(data)}\n\n".encode()
            await send({"type": "http.response.body", "body": event, "more_body": True})

        try:
            await self._write(send_event)
        except ProblemError as problem:
            if not has_begun:
                raise
            if problem.kind != "client-closed":
                await send_event("error", problem.body)
        await send({"type": "http.response.body", "body": b""})


class _LinesRoute(APIRoute):
    """A route only for bodies of JSON lines."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if scope["type"] == "http" and not has_lines(Headers(scope=scope)):
            return Match.NONE, {}
        return super().matches(scope)


SendEvent = Callable[[str, object], Awaitable[None]]
"""Sends an event, given its name and JSON-compatible data."""
_EVENTS: dict[str, Any] = {
    "model": SentenceEvent | ReportEvent,
    "content": {EventStream.media_type: {}},
    "description": "Events `sentence`, each with a `SentenceEvent` as JSON, and at the end `report`"
    " with a `ReportEvent`, or `error` with a `Problem`.",
}
"""The answer in the OpenAPI schema."""


def stream_routes(service: Service) -> APIRouter:
    """Return the route of streamed checks."""
    router = APIRouter(tags=["checks"])

    async def grow(request: Request) -> Response:
        body = GrowingBody(request.receive, service.settings.limits)
        asked = await body.request()
        end_arrival(request)
        tokens = body.texts(asked.output)
        return _answer(service, request, asked=asked, tokens=tokens, receive=body.receive)

    # Registered before the route for whole texts, which accepts all other bodies.
    router.add_api_route(
        STREAM, grow, methods=["POST"], include_in_schema=False, route_class_override=_LinesRoute
    )

    @router.post(
        STREAM,
        response_class=Response,
        responses={**checks.PROBLEMS, 200: _EVENTS},
        openapi_extra=_LINES,
    )
    async def stream(request: Request, asked: StreamRequest) -> Response:
        """Judge one text sentence by sentence, and then as a whole.

        A sentence is judged on the aspects of the kinds `grounding` and `form`. Its report is
        provisional: the last event has the report that `/v1/check` gives. When the client goes
        away, the work is dropped, and no model is asked more.

        A text that is still being written is sent as `application/x-ndjson`: a line with the other
        members of the request, and then the pieces of the text, each as a JSON string on a line of
        its own. Events come while the body is still open.
        """
        return _answer(service, request, asked=asked, tokens=asked.output, receive=request.receive)

    return router


def _answer(
    service: Service,
    request: Request,
    *,
    asked: StreamRequest,
    tokens: Tokens,
    receive: Receive,
) -> Response:
    """Return the events of a text; raise `ProblemError` if it is too long or has no panel."""
    panel = service.panel(asked.panel)
    checks.require_length(asked, service.settings.limits)

    async def write(send: SendEvent) -> None:
        with checks.translated_errors():
            await checks.while_connected(
                receive,
                lambda: _judge(service, panel, send, asked=asked, tokens=tokens, request=request),
                seconds=service.settings.limits.check_seconds,
            )

    return EventStream(write)


async def _judge(
    service: Service,
    opened: OpenPanel,
    send: SendEvent,
    *,
    asked: StreamRequest,
    tokens: Tokens,
    request: Request,
) -> None:
    tenant = tenant_of(request)

    async def judge_in_turn(text: checking.Request) -> TextReport:
        end_arrival(request)
        async with opened.checks.turn(tenant, characters=len(text.segment.output)):
            return await checking.judge(opened.panel, text)

    events = stream_requested(
        tokens,
        nullcontext(judge_in_turn),
        checks.requested(service, asked),
        stop_when=asked.stop_when,
    )
    async with service.paid(tenant, rows=1), aclosing(events):
        async for event in events:
            if isinstance(event, JudgedSentence):
                await send("sentence", event.to_dict())
            elif isinstance(event, StreamEnd):
                service.judged(opened, (item.report.outcome for item in event.report.results))
                stopped_at = event.stopped_by.end if event.stopped_by else None
                await send("report", {**event.report.to_dict(), "stopped_at": stopped_at})
