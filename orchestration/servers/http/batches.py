"""`/v1/batches`: rows are received, judged as a run, and their results downloaded."""

import os
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import anyio
from anyio import Event, create_task_group, move_on_after, sleep
from fastapi import APIRouter, Query, Request, Response
from starlette.responses import StreamingResponse
from starlette.types import Receive

from spanjury.judges.core import ConfigError, StoreError, hide
from spanjury.judges.tasks import Rubric
from spanjury.orchestration.servers.http import bodies
from spanjury.orchestration.servers.http.answers import BatchAnswer, BatchList
from spanjury.orchestration.servers.http.asked import BatchQuery
from spanjury.orchestration.servers.http.limits import ServiceLimits
from spanjury.orchestration.servers.http.pages import JUDGING, problems, texts
from spanjury.orchestration.servers.http.problems import ProblemError, quota_problems
from spanjury.orchestration.servers.http.service import BUSY, Service, tenant_of
from spanjury.orchestration.services.serving.batches.batch import BadRowsError, Batch, Submission
from spanjury.orchestration.services.serving.batches.jobs import BatchJobs
from spanjury.orchestration.services.serving.batches.records import BatchFolder

_LINE = re.compile(r"line (\d+): (.*)", re.DOTALL)
_SHOWN = 20
_ROWS = "application/x-ndjson"
_SUBMITTED = problems(*JUDGING, "disk-not-writable", "rows-invalid", "too-many-rows")
_BATCH_PROBLEMS = problems("batch-not-found", "service-starting")
_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "One JSON object per line, a row as docs/data.md describes it: `output`, "
        "and `inputs`, `question`, `id`, `task`, `references`, `system`.",
        "content": {_ROWS: {"schema": {"type": "string"}}},
    }
}
_STREAM = texts(
    "Events `progress` with a `BatchAnswer` as JSON; the last one is `end`.", "text/event-stream"
)
_RESULTS = texts("One `ResultRow` as JSON per line, in the order of the rows.", _ROWS)
KEEP_ALIVE = 15.0
"""Seconds of silence after which a comment is sent, so that no proxy closes the stream."""
_PAUSE = 0.25
"""Least seconds between two events."""
_BODY_SECONDS = 600.0
"""Seconds for the rows of a batch to arrive."""
_GZIP = b"\x1f\x8b"
_PIECE = 2**16


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
        service.require_room(bodies.BATCHES, owner)  # others may have come since the gate checked
        try:
            async with jobs.receiving(owner) as folder, _disk(service, request) as limits:
                rows = await receive_rows(request.receive, folder.data, limits)
                async with service.paid(owner, rows=rows):
                    batch = await _submitted(jobs, folder, query=query, owner=owner)
        except StoreError as error:
            raise ProblemError(
                "disk-not-writable", await jobs.fault(), headers={**BUSY, **bodies.CLOSE}
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
        return StreamingResponse(read_results(batch.folder), media_type=_ROWS, headers=headers)


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
    """Return a batch as its owner sees it."""
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
    """Reserve disk space for an arriving batch; yield the limits of its body."""
    owner, limits = tenant_of(request), service.settings.limits
    ledger = service.ledgers.get(owner)
    if ledger is None or ledger.quotas.disk is None:
        yield limits
        return
    used, free_again = await service.jobs.disk(owner)
    size = bodies.announced(request.headers) or min(limits.max_batch_body, ledger.left(used))
    with quota_problems(), ledger.arriving(size, used=used, free_again=free_again):
        yield replace(limits, max_batch_body=size)


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
    match = _LINE.fullmatch(problem)
    if match is None:
        return {"line": None, "detail": problem}
    return {"line": int(match[1]), "detail": match[2]}


def _batch(service: Service, request: Request, batch_id: str) -> Batch:
    """Return a batch; raises the same error for another tenant's batch as for a missing one."""
    batch = service.jobs.find(batch_id, owner=tenant_of(request))
    if batch is None:
        raise ProblemError("batch-not-found")
    return batch


def _json(batch: Batch, *, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    body = answer(batch).model_dump_json()
    return Response(body, status_code=status, headers=headers, media_type="application/json")


async def events(
    batch: Batch, body: Callable[[], str], *, after: str, draining: Event
) -> AsyncIterator[bytes]:
    """Yield events until the batch or the service ends.

    `body` returns the data of an event. `after` is the id of the last event that the client
    received; empty if there is none.
    """
    sent = after
    while True:
        state = batch.record.state
        now = f"{state.value}-{batch.done}"
        if now != sent or state.is_end:
            name = "end" if state.is_end else "progress"
            yield f"id: {now}\nevent: {name}\ndata: {body()}\n\n".encode()
            sent = now
        else:
            yield b": still there\n\n"
        if state.is_end or draining.is_set():
            return
        await sleep(_PAUSE)
        if f"{batch.record.state.value}-{batch.done}" == sent:
            await _either(batch.changed, draining, seconds=KEEP_ALIVE)


async def _either(first: Event, second: Event, *, seconds: float) -> None:
    """Wait for one of two events, for at most `seconds`."""
    with move_on_after(seconds):
        async with create_task_group() as group:

            async def wait(event: Event) -> None:
                await event.wait()
                group.cancel_scope.cancel()

            group.start_soon(wait, first)
            group.start_soon(wait, second)


async def receive_rows(receive: Receive, path: Path, limits: ServiceLimits) -> int:
    """Write the rows of a request to a file, and return the number of lines.

    Raises `ProblemError` if they are too many, too long, too slow or compressed, and `StoreError`
    if the file cannot be written.
    """
    bounds = _Bounds(limits)
    pieces = bodies.stream_body(receive, most=limits.max_batch_body, seconds=_BODY_SECONDS)
    try:
        async with await anyio.open_file(path, "wb") as file:
            async for piece in pieces:
                if problem := bounds.problem(piece):
                    await bodies.read_on(pieces)
                    raise problem
                await file.write(piece)
    except OSError as error:
        await bodies.read_on(pieces)
        raise StoreError(f"{path}: cannot be written: {error.strerror}") from error
    return bounds.rows


class _Bounds:
    """Counts the rows of a body, and the bytes of the current row."""

    def __init__(self, limits: ServiceLimits) -> None:
        self._limits = limits
        self._rows = 0
        self._row = 0
        self._begun = b""

    @property
    def rows(self) -> int:
        return self._rows + bool(self._row)

    def problem(self, piece: bytes) -> ProblemError | None:
        """Count the next piece; return why no more is read."""
        if len(self._begun) < len(_GZIP):
            self._begun += piece[: len(_GZIP)]
            if self._begun.startswith(_GZIP):
                return ProblemError(
                    "media-type-not-supported",
                    "send rows as text, not packed",
                    headers=bodies.CLOSE,
                )
        *whole, rest = piece.split(b"\n")
        longest = max(map(len, [*whole[1:], rest]), default=0)
        first = self._row + len(whole[0] if whole else rest)
        self._row = len(rest) if whole else first
        self._rows += len(whole)
        if max(longest, first) > self._limits.max_body:
            detail = f"a row may have at most {self._limits.max_body} bytes"
            return ProblemError("body-too-large", detail, headers=bodies.CLOSE)
        if self.rows > self._limits.max_rows:
            detail = f"a batch may have at most {self._limits.max_rows} rows"
            return ProblemError("too-many-rows", detail, headers=bodies.CLOSE)
        return None


async def read_results(folder: BatchFolder) -> AsyncIterator[bytes]:
    """Yield the results that are on disk now, in whole lines."""
    path = folder.results
    if path is None:
        return
    try:
        file = await anyio.open_file(path, "rb")
    except FileNotFoundError:  # it was renamed or removed meanwhile
        path = folder.results
        if path is None:
            return
        file = await anyio.open_file(path, "rb")
    async with file:
        left = os.fstat(file.wrapped.fileno()).st_size
        rest = b""
        while left > 0 and (piece := await file.read(min(left, _PIECE))):
            left -= len(piece)
            whole, newline, rest = (rest + piece).rpartition(b"\n")
            if newline:
                yield whole + newline
