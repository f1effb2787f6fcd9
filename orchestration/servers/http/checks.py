"""`POST /v1/check`: one text is judged while its client waits."""

import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Literal, TypeVar

from anyio import create_task_group, move_on_after
from fastapi import APIRouter, Request, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from spanjury.judges.core import (
    ClosedModelError,
    ConfigError,
    RunFailedError,
    first_error_alone,
    hide,
)
from spanjury.orchestration.servers.http.answers import CheckAnswer
from spanjury.orchestration.servers.http.asked import CheckRequest, TextRequest
from spanjury.orchestration.servers.http.bodies import CHECK, replaying
from spanjury.orchestration.servers.http.limits import ServiceLimits
from spanjury.orchestration.servers.http.pages import JUDGING, problems
from spanjury.orchestration.servers.http.problems import ProblemError
from spanjury.orchestration.servers.http.service import OpenPanel, Service, end_arrival, tenant_of
from spanjury.orchestration.services.judging import check as checking
from spanjury.orchestration.services.judging.text_report import TextReport

T = TypeVar("T")

PROBLEMS = problems(*JUDGING, "body-not-json", "check-timed-out", "text-too-long")


class DirectChecks:
    """Middleware that answers checks itself, which saves the 0.3 ms of a framework's route.

    Invalid bodies are left to the route, which explains the problem. The body must have been read
    before.
    """

    def __init__(self, app: ASGIApp, *, service: Service) -> None:
        self._app = app
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a check; pass any other request on."""
        if scope["type"] != "http" or scope["path"] != CHECK or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        message = await receive()
        try:
            asked = CheckRequest.model_validate(json.loads(message.get("body", b"")))
        except (ValueError, RecursionError):  # the route explains the problem
            await self._app(scope, replaying(message, receive), send)
            return
        response = await _answer(self._service, Request(scope, receive), asked=asked)
        await response(scope, receive, send)


def check_routes(service: Service) -> APIRouter:
    """Return the route of checks, for the OpenAPI page and for problems of bodies."""
    router = APIRouter(tags=["checks"])

    @router.post(CHECK, response_model=CheckAnswer, responses=PROBLEMS)
    async def check(request: Request, asked: CheckRequest) -> Response:
        """Judge one text on one or more aspects.

        A judge that fails is no problem of the request: its result has no score, and an `outcome`
        that says why. When the client goes away, the work is dropped, and no model is asked more.
        """
        return await _answer(service, request, asked=asked)

    return router


async def _answer(service: Service, request: Request, *, asked: CheckRequest) -> Response:
    panel = service.panel(asked.panel)
    require_length(asked, service.settings.limits)
    report = await _report(service, panel, asked=asked, request=request)
    service.judged(panel, (result.report.outcome for result in report.results))
    return Response(encoded(report.to_dict()), media_type="application/json")


async def _report(
    service: Service, opened: OpenPanel, *, asked: CheckRequest, request: Request
) -> TextReport:
    """Wait for the tenant's turn, then judge; raise `ProblemError` if there is no report."""

    async def judge(text: checking.Request) -> TextReport:
        tenant = tenant_of(request)
        end_arrival(request)
        async with (
            service.paid(tenant, rows=1),
            opened.checks.turn(tenant, characters=asked.characters),
        ):
            return await checking.judge(opened.panel, text)

    with translated_errors():
        text = requested(service, asked)(asked.judged)
        return await while_connected(
            request.receive,
            lambda: judge(text),
            seconds=service.settings.limits.check_seconds,
        )


def requested(
    service: Service, asked: TextRequest
) -> Callable[[checking.Output], checking.Request]:
    """Return a function that makes a request from an output and the other fields of `asked`."""
    return partial(
        checking.request_of,
        source=asked.given_source,
        question=asked.question,
        tools=asked.specifications,
        task=asked.task,
        aspects=asked.aspects,
        rubric=asked.rubric,
        references=asked.references,
        segment_id=asked.id,
        system=asked.system,
        aspects_files=service.settings.batches.aspects_files,
    )


@contextmanager
def translated_errors() -> Iterator[None]:
    """Translate errors that end a check to `ProblemError`."""
    try:
        yield
    except (ClosedModelError, RunFailedError):
        raise ProblemError("service-closing") from None
    except ConfigError as error:
        raise ProblemError("request-not-understood", hide(str(error))) from error


async def while_connected(
    receive: Receive, work: Callable[[], Awaitable[T]], *, seconds: float
) -> T:
    """Run `work` while its client is connected, for at most `seconds`.

    `receive` must have yielded the whole body. Raises `ProblemError` if the client disconnects or
    the time is over; the work is then cancelled.
    """
    done: list[T] = []
    ended_by: Literal["check-timed-out", "client-closed"] = "check-timed-out"
    with first_error_alone():
        async with create_task_group() as group:

            async def watch() -> None:
                nonlocal ended_by
                while (await receive())["type"] != "http.disconnect":
                    pass
                ended_by = "client-closed"
                group.cancel_scope.cancel()

            group.start_soon(watch)
            with move_on_after(seconds):
                done.append(await work())
            group.cancel_scope.cancel()
    if not done:
        raise ProblemError(ended_by)
    return done[0]


def require_length(asked: TextRequest, limits: ServiceLimits) -> None:
    """Raise `ProblemError` for texts with too many characters."""
    output = len(asked.output or "")
    if output > limits.max_output:
        detail = f"the output has {output} characters; at most {limits.max_output} are allowed"
        raise ProblemError("text-too-long", detail)
    length = asked.characters - output
    if length > limits.max_source:
        detail = (
            f"source, question, references and messages have {length} characters;"
            f" at most {limits.max_source} are allowed"
        )
        raise ProblemError("text-too-long", detail)


def encoded(value: object) -> str:
    """Encode a value as JSON; lone surrogates, which UTF-8 cannot encode, are escaped."""
    return json.dumps(value, allow_nan=False, separators=(",", ":"))
