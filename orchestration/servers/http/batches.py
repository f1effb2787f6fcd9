"""`/v1/batches`: rows are received as they are sent, judged as a run, and fetched again."""

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from starlette.responses import StreamingResponse

from spanjury.judges.core import ConfigError, StoreError, hide
from spanjury.judges.tasks import Rubric
from spanjury.orchestration.servers.http.answers import BatchAnswer, BatchList
from spanjury.orchestration.servers.http.asked import BatchQuery
from spanjury.orchestration.servers.http.batch_events import events
from spanjury.orchestration.servers.http.batch_files import read_results, receive_rows
from spanjury.orchestration.servers.http.bodies import BATCHES, CLOSE, announced
from spanjury.orchestration.servers.http.pages import problems
from spanjury.orchestration.servers.http.problems import ProblemError
from spanjury.orchestration.servers.http.service import BUSY, Service, tenant_of
from spanjury.orchestration.servers.http.settings import ServiceLimits
from spanjury.orchestration.services.serving.batches.batch import (
    BadRowsError,
    Batch,
    Submission,
)
from spanjury.orchestration.services.serving.batches.jobs import BatchJobs
from spanjury.orchestration.services.serving.batches.records import BatchFolder

_LINE = re.compile(r"line (\d+): (.*)", re.DOTALL)
_SHOWN = 20
_ROWS = "application/x-ndjson"
_SUBMITTED = problems(
    "body-invalid",
    "body-too-large",
    "body-too-slow",
    "disk-not-writable",
    "media-type-not-supported",
    "panel-not-found",
    "quota-reached",
    "quota-used-up",
    "request-not-understood",
    "rows-invalid",
    "service-closing",
    "service-starting",
    "too-busy",
    "too-many-rows",
)
_BATCH_PROBLEMS = problems("batch-not-found", "service-starting")
_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "One JSON object per line, a row as docs/data.md describes it: `output`, "
        "and `inputs`, `id`, `task`, `references`, `system`.",
        "content": {_ROWS: {"schema": {"type": "string"}}},
    }
}
_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Events `progress` with a `BatchAnswer` as JSON; the last one is `end`.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}
_RESULTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "One `ResultRow` as JSON per line, in the order of the rows.",
        "content": {_ROWS: {"schema": {"type": "string"}}},
    }
}


def batch_routes(service: Service) -> APIRouter:
    """Return the routes of batches."""
    router = APIRouter(tags=["batches"])
    _add_submission(router, service)
    _add_views(router, service)
    _add_streams(router, service)
    _add_ends(router, service)
    return router


def _add_submission(router: APIRouter, service: Service) -> None:
    @router.post(
        "/v1/batches",
        status_code=202,
        response_model=BatchAnswer,
        responses=_SUBMITTED,
        openapi_extra=_BODY,
    )
    async def submit(request: Request, query: Annotated[BatchQuery, Query()]) -> Response:
        """Submit rows to be judged.

        All rows are read before any is judged: `rows-invalid` names those at fault.
        """
        service.panel(query.panel)
        jobs, owner = service.jobs, tenant_of(request)
        service.require_room(BATCHES, owner)  # others may have come since the gate has asked
        try:
            async with jobs.receiving(owner) as folder, _disk(service, request) as limits:
                rows = await receive_rows(request.receive, folder.data, limits)
                async with service.paid(owner, rows=rows):
                    batch = await _submitted(jobs, folder, query=query, owner=owner)
        except StoreError as error:
            raise ProblemError(
                "disk-not-writable", await jobs.fault(), headers={**BUSY, **CLOSE}
            ) from error
        headers = {"Location": f"/v1/batches/{batch.record.id}"}
        return _json(batch, status=202, headers=headers)


def _add_views(router: APIRouter, service: Service) -> None:
    @router.get("/v1/batches", responses=problems("service-starting"))
    async def list_batches(request: Request) -> BatchList:
        """List your batches."""
        batches = service.jobs.of(tenant_of(request))
        return BatchList(batches=[answer(batch) for batch in batches])

    @router.get("/v1/batches/{batch_id}", response_model=BatchAnswer, responses=_BATCH_PROBLEMS)
    async def show(request: Request, batch_id: str) -> Response:
        """Show how far a batch is."""
        return _json(_batch(service, request, batch_id))


def _add_streams(router: APIRouter, service: Service) -> None:
    @router.get(
        "/v1/batches/{batch_id}/events",
        response_class=Response,
        responses={**_BATCH_PROBLEMS, **_STREAM},
    )
    async def watch(request: Request, batch_id: str) -> Response:
        """Stream how far a batch is, as server-sent events.

        The first event is its present state, unless `Last-Event-ID` says that it is known; the
        stream ends with the batch, or with the service.
        """
        batch = _batch(service, request, batch_id)
        stream = events(
            batch,
            lambda: answer(batch).model_dump_json(),
            after=request.headers.get("last-event-id", ""),
            draining=service.draining,
        )
        return StreamingResponse(stream, media_type="text/event-stream")

    @router.get(
        "/v1/batches/{batch_id}/results",
        response_class=Response,
        responses={**_BATCH_PROBLEMS, **_RESULTS},
    )
    async def results(request: Request, batch_id: str) -> Response:
        """Stream the results, all of them or those there are so far.

        The header `Spanjury-Batch-State` says whether more may come.
        """
        batch = _batch(service, request, batch_id)
        headers = {"Spanjury-Batch-State": batch.record.state.value}
        return _streamed(lambda: read_results(batch.folder), headers=headers)


def _add_ends(router: APIRouter, service: Service) -> None:
    @router.post(
        "/v1/batches/{batch_id}/cancel", response_model=BatchAnswer, responses=_BATCH_PROBLEMS
    )
    async def cancel(request: Request, batch_id: str) -> Response:
        """End a batch; its results so far stay. A batch that has ended stays unchanged."""
        batch = _batch(service, request, batch_id)
        await service.jobs.cancel(batch)
        return _json(batch)

    @router.delete("/v1/batches/{batch_id}", status_code=204, responses=_BATCH_PROBLEMS)
    async def remove(request: Request, batch_id: str) -> None:
        """End a batch, and remove its rows and results."""
        await service.jobs.remove(_batch(service, request, batch_id))


def answer(batch: Batch) -> BatchAnswer:
    """Return what its owner sees of a batch."""
    record, progress = batch.record, batch.progress()
    running = progress is not None and not record.state.is_end
    return BatchAnswer(
        id=record.id,
        state=record.state,
        panel=record.panel,
        created=record.created,
        ended=record.ended,
        rows=record.rows,
        skipped=record.skipped,
        done=batch.done,
        total=record.assessments,
        outcomes=dict(batch.outcomes),
        reason=hide(record.reason),
        seconds_left=progress.seconds_left if running and progress else None,
    )


@asynccontextmanager
async def _disk(service: Service, request: Request) -> AsyncIterator[ServiceLimits]:
    """Set the disk of a batch aside that is about to arrive; yield the bounds of its body."""
    owner, limits = tenant_of(request), service.settings.limits
    ledger = service.ledgers.get(owner)
    if ledger is None or ledger.quotas.disk is None:
        yield limits
        return
    used, free_again = await service.jobs.disk(owner)
    size = announced(request.headers) or min(limits.batch_body, ledger.left(used))
    with ledger.arriving(size, used=used, free_again=free_again):
        yield replace(limits, batch_body=size)


async def _submitted(
    jobs: BatchJobs, folder: BatchFolder, *, query: BatchQuery, owner: str
) -> Batch:
    try:
        submission = Submission(
            owner=owner,
            panel=query.panel,
            task=query.task,
            aspects=tuple(query.aspect),
            rubric=None if query.rubric is None else Rubric.from_json(query.rubric),
            skip_bad_rows=query.skip_bad_rows,
        )
        return await jobs.submit(folder, submission)
    except BadRowsError as error:
        rows = [_row(problem) for problem in error.rows[:_SHOWN]]
        more = {"rows": rows, "rows_in_all": len(error.rows)}
        raise ProblemError("rows-invalid", more=more) from error
    except ConfigError as error:
        raise ProblemError("request-not-understood", hide(str(error))) from error


def _row(problem: str) -> dict[str, object]:
    """Return what is wrong with a row, and its line."""
    match = _LINE.fullmatch(problem)
    if match is None:
        return {"line": None, "detail": problem}
    return {"line": int(match[1]), "detail": match[2]}


def _batch(service: Service, request: Request, batch_id: str) -> Batch:
    """Return a batch; one of another tenant is as one that is not there."""
    batch = service.jobs.find(batch_id, owner=tenant_of(request))
    if batch is None:
        raise ProblemError("batch-not-found")
    return batch


def _json(batch: Batch, *, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    body = answer(batch).model_dump_json()
    return Response(body, status_code=status, headers=headers, media_type="application/json")


def _streamed(read: Callable[[], AsyncIterator[bytes]], *, headers: dict[str, str]) -> Response:
    return StreamingResponse(read(), media_type=_ROWS, headers=headers)
