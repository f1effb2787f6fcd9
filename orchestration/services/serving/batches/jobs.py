"""Run batches: each is a separate run, a limited number run at once, and the others wait."""

import secrets
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from types import MappingProxyType

from anyio import TASK_STATUS_IGNORED, Event, create_task_group, sleep, to_thread
from anyio.abc import TaskStatus

from spanjury.judges.core import (
    ConfigError,
    EventLog,
    RunFailedError,
    RunStoppedError,
    StoreError,
    kind_of,
)
from spanjury.orchestration.engine.metering import Meter, paid_by
from spanjury.orchestration.engine.progress import Tracker
from spanjury.orchestration.engine.stopping import GRACE, StopToken
from spanjury.orchestration.engine.summary import Summary
from spanjury.orchestration.services.judging.evaluate import run
from spanjury.orchestration.services.judging.job import Job
from spanjury.orchestration.services.runs.run_folder import begin_run, job_of
from spanjury.orchestration.services.serving.batches.batch import (
    Batch,
    BatchPlan,
    BusyError,
    Submission,
    examined,
)
from spanjury.orchestration.services.serving.batches.records import (
    BatchFolder,
    BatchRecord,
    BatchState,
    BatchStore,
    now,
)
from spanjury.orchestration.services.serving.quotas import TenantLedger
from spanjury.orchestration.services.serving.turns import Turns, has_share

log = EventLog()

_TIDY = 3600.0
"""Seconds between two searches for expired batches."""
_CANCELLED = "its owner has cancelled it"
_SEE_LOG = "its log says why"
_BROKEN = f"the service failed at it; {_SEE_LOG}"
_CANNOT_WRITE = "the service could not write to its disk"


class BatchJobs:
    """The batches of a service: received, run in turn, cancelled, and kept for some days.

    `run` judges them until `stop`; all methods belong to its event loop. `ended` is called when the
    run of a batch is over, whether the batch has ended or continues after the next start. If
    tenants share the service (`is_shared`), no tenant may occupy all places. Turns depend on the
    tenant and on the number of expected results. Batches of tenants with a ledger pay for their
    calls from it.
    """

    def __init__(
        self,
        plan: BatchPlan,
        store: BatchStore,
        *,
        ended: Callable[[Batch], None] = lambda _: None,
        is_shared: bool = False,
        ledgers: Mapping[str, TenantLedger] = MappingProxyType({}),
    ) -> None:
        self._plan = plan
        self._store = store
        self._ended = ended
        self._batches: dict[str, Batch] = {}
        self._is_shared = is_shared
        self._ledgers = ledgers
        self._waiting = Turns[Batch]()
        self._running = Counter[str]()
        self._receiving = Counter[str]()
        self._has_work = Event()
        self._is_closing = False
        self._is_unwritable = False

    def __iter__(self) -> Iterator[Batch]:
        return iter(tuple(self._batches.values()))

    def of(self, owner: str) -> tuple[Batch, ...]:
        """Return the batches of a tenant, the oldest first."""
        return tuple(batch for batch in self if batch.record.owner == owner)

    async def disk(self, owner: str) -> tuple[int, datetime | None]:
        """Return the bytes of a tenant's batches, and when the first of them will be removed."""
        batches = self.of(owner)
        used = await to_thread.run_sync(lambda: sum(batch.folder.size for batch in batches))
        ended = [batch.record.ended for batch in batches if batch.record.ended is not None]
        return used, min(ended) + timedelta(days=self._plan.keep_days) if ended else None

    def find(self, name: str, *, owner: str) -> Batch | None:
        """Return the batch with this id if it belongs to this tenant; None otherwise."""
        batch = self._batches.get(name)
        return batch if batch is not None and batch.record.owner == owner else None

    def require_room(self, owner: str) -> None:
        """Raise `BusyError` if no further batch of this tenant may be received or wait.

        Batches that are being received count, as do the places where batches run: none is refused
        while a place is free.
        """
        most = self._plan.most_running + self._plan.most_waiting
        held = self._running + self._waiting.lengths + self._receiving
        if not has_share(held, owner, most=most, is_shared=self._is_shared):
            raise BusyError(
                f"{held[owner]} of your batches wait or run, {held.total()} in all, and {most} may"
            )

    async def fault(self) -> str:
        """Return the reason if a recent write failed and writing still fails; empty otherwise."""
        if self._is_unwritable:
            fault = await to_thread.run_sync(self._store.fault)
            self._is_unwritable = bool(fault)
            return fault
        return ""

    @asynccontextmanager
    async def receiving(self, owner: str) -> AsyncIterator[BatchFolder]:
        """Create a folder for a batch; it is removed at the end, unless `submit` has kept it.

        `require_room` must have been called just before. Raise `StoreError` if the folder cannot be
        created.
        """
        self._receiving[owner] += 1
        try:
            with self._noting_faults("batch.not_received"):
                folder = await to_thread.run_sync(self._store.receive, secrets.token_urlsafe(18))
                try:
                    yield folder
                finally:
                    if folder.path.exists():  # `submit` has not moved it
                        self._store.remove(folder)
        finally:
            self._receiving[owner] -= 1

    @contextmanager
    def _noting_faults(self, event: str, **values: str) -> Iterator[None]:
        """Log a failed write, and have `fault` check whether writing still fails."""
        try:
            yield
        except StoreError as error:
            self._is_unwritable = True
            log.error(event, reason=str(error), **values)  # noqa: TRY400  a trace says no more
            raise

    async def submit(self, received: BatchFolder, submission: Submission) -> Batch:
        """Check the received rows, and queue the batch.

        Raise the `BadRowsError` and `ConfigError` of `examined`, and `StoreError` if the batch
        cannot be written.
        """
        record, folder = await to_thread.run_sync(self._kept, received, submission)
        batch = Batch(record=record, folder=folder)
        self._batches[record.id] = batch
        self._queue(batch)
        return batch

    def _kept(
        self, received: BatchFolder, submission: Submission
    ) -> tuple[BatchRecord, BatchFolder]:
        plan = self._plan
        job = Job(
            data=received.data,
            panel=plan.panels[submission.panel],
            output=received.run.results,
            task=submission.task,
            aspects=submission.aspects,
            aspects_files=plan.aspects_files,
            rubric=submission.rubric,
            skip_bad_rows=submission.skip_bad_rows,
            limits=plan.limits,
            failures=plan.failures,
        )
        rows, assessments, skipped = examined(job)
        begin_run(job, received.run, copy=None, assessments=assessments)
        record = BatchRecord(
            id=received.path.name,
            owner=submission.owner,
            panel=submission.panel,
            created=now(),
            rows=rows,
            assessments=assessments,
            skipped=skipped,
        )
        received.write(record)
        return record, self._store.keep(received)

    async def cancel(self, batch: Batch) -> None:
        """End a batch; finished results are kept, and assessments under way are dropped."""
        if batch.record.state.is_end or batch.is_ending or batch.is_cancelled:
            return
        batch.is_cancelled = True
        if batch.stop_token is None:
            if batch.record.state is BatchState.QUEUED:  # not one that the closing service stopped
                self._waiting.remove(batch)
            await self._end(batch, BatchState.CANCELLED, _CANCELLED)
            return
        batch.stop_token.request(_CANCELLED, grace=0.0)
        # It must not resume, even if the service is killed before the run has ended.
        await self._write(batch, _ended(batch, BatchState.CANCELLED, _CANCELLED))

    async def remove(self, batch: Batch) -> None:
        """End a batch and remove all its files."""
        batch.is_removed = True
        await self.cancel(batch)
        self._batches.pop(batch.record.id, None)
        if batch.stop_token is None:
            await to_thread.run_sync(self._store.remove, batch.folder)

    def stop(self) -> None:
        """Begin nothing more; running batches get a grace period, and the others wait on disk."""
        self._is_closing = True
        self._has_work.set()
        for batch in self:
            if batch.stop_token is not None:
                batch.stop_token.request("the service ends", grace=GRACE)

    def _queue(self, batch: Batch) -> None:
        batch.record = replace(batch.record, state=BatchState.QUEUED)
        self._waiting.add(batch, tenant=batch.record.owner, cost=batch.record.assessments)
        self._has_work.set()

    async def run(self, *, task_status: TaskStatus[None] = TASK_STATUS_IGNORED) -> None:
        """Resume the batches on disk and judge new ones, until `stop`.

        Running batches may then take `GRACE` seconds; the rest is resumed at the next start.
        """
        for folder, record in await to_thread.run_sync(lambda: list(self._store.kept())):
            batch = Batch(record=record, folder=folder)
            self._batches[record.id] = batch
            if not record.state.is_end:
                self._queue(batch)
        task_status.started()
        async with create_task_group() as group:
            group.start_soon(self._tidy)
            async with create_task_group() as working:
                for _ in range(self._plan.most_running):
                    working.start_soon(self._work)
            group.cancel_scope.cancel()

    async def _work(self) -> None:
        """Run batches, one after the other."""

        def may_begin(owner: str) -> bool:
            most = self._plan.most_running
            return has_share(self._running, owner, most=most, is_shared=self._is_shared)

        while not self._is_closing:
            batch = self._waiting.take(may_begin)
            if batch is not None:
                await self._run(batch)
            else:
                if self._has_work.is_set():  # all workers wait for one event
                    self._has_work = Event()
                await self._has_work.wait()

    async def _tidy(self) -> None:
        """Remove expired batches, for as long as the service runs."""
        while True:
            oldest = now() - timedelta(days=self._plan.keep_days)
            for batch in self:
                if batch.record.ended is not None and batch.record.ended < oldest:
                    await self.remove(batch)
            await sleep(_TIDY)

    async def _run(self, batch: Batch) -> None:
        """Judge a batch; any failure ends only this batch."""
        batch.stop_token = token = StopToken()
        self._running[batch.record.owner] += 1
        try:
            state, reason = await self._judged(batch, token)
        finally:
            self._running[batch.record.owner] -= 1
            self._has_work.set()  # the tenant may be waiting for this place
            self._ended(batch)
        if state is not None:
            await self._end(batch, state, reason)
        batch.stop_token = None
        if batch.is_removed:
            await to_thread.run_sync(self._store.remove, batch.folder)

    async def _judged(self, batch: Batch, token: StopToken) -> tuple[BatchState | None, str]:
        """Judge a batch; return its final state, or None if it will resume after a restart."""
        try:
            with self._noting_faults("batch.failed", batch=batch.record.id):
                await self._judge(batch, token)
        except RunStoppedError as stopped:
            if batch.is_cancelled:
                return BatchState.CANCELLED, str(stopped)
            return (None, "") if self._is_closing else (BatchState.STOPPED, str(stopped))
        except (RunFailedError, ConfigError) as failed:
            return BatchState.FAILED, str(failed)
        except StoreError:
            return BatchState.FAILED, f"{_CANNOT_WRITE}: {await self.fault() or _SEE_LOG}"
        except Exception as error:  # a batch must not end the service
            log.exception("batch.failed", batch=batch.record.id, error=kind_of(error))
            return BatchState.FAILED, _BROKEN
        return BatchState.FINISHED, ""

    async def _judge(self, batch: Batch, token: StopToken) -> None:
        kept = await to_thread.run_sync(job_of, batch.folder.run)
        job = replace(kept, data=batch.folder.data)  # its folder may have moved since it began
        batch.summary = Summary()
        batch.meter = Meter(limits=job.limits, stop_token=token, is_whole=True)
        total = batch.record.assessments
        batch.tracker = Tracker(total=total, summary=batch.summary, meter=batch.meter)
        batch.record = replace(batch.record, state=BatchState.RUNNING)
        batch.note()
        log.info("batch.begun", batch=batch.record.id)
        if token.is_requested:
            raise RunStoppedError(token.reason)
        with paid_by(self._ledgers.get(batch.record.owner)):
            await run(job, batch.show, rows=batch, stop_token=token, meter=batch.meter)

    async def _end(self, batch: Batch, state: BatchState, reason: str) -> None:
        batch.is_ending = True
        record = _ended(batch, state, reason)
        await self._write(batch, record)  # on disk first: whoever sees the end may rely on it
        batch.record = record
        log.info("batch.ended", batch=batch.record.id, state=state.value)
        batch.note()

    async def _write(self, batch: Batch, record: BatchRecord) -> None:
        try:
            await to_thread.run_sync(batch.folder.write, record)
        except StoreError as error:  # the next start judges it again from memory
            log.warning("batch.not_written", batch=record.id, error=kind_of(error))


def _ended(batch: Batch, state: BatchState, reason: str) -> BatchRecord:
    """Return the record of a batch that ends now."""
    return replace(
        batch.record,
        state=state,
        reason=reason,
        ended=now(),
        done=batch.done,
        outcomes=batch.outcomes,
    )
