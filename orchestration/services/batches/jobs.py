"""Batches at work: each is a run of its own, so many at a time, and the others wait."""

import secrets
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

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
from spanjury.orchestration.engine.metering import Meter
from spanjury.orchestration.engine.progress import Tracker
from spanjury.orchestration.engine.stopping import GRACE, StopToken
from spanjury.orchestration.engine.summary import Summary
from spanjury.orchestration.services.batches.batch import Batch, BatchPlan, BusyError, Submission
from spanjury.orchestration.services.batches.records import (
    BatchFolder,
    BatchRecord,
    BatchState,
    BatchStore,
    now,
)
from spanjury.orchestration.services.batches.rows import examined
from spanjury.orchestration.services.evaluate import run
from spanjury.orchestration.services.job import Job
from spanjury.orchestration.services.runs import begin_run, job_of

log = EventLog()

_TIDY = 3600.0
"""Seconds between two looks for batches that are kept no longer."""
_CANCELLED = "its owner has cancelled it"
_BROKEN = "the service failed at it; its log says why"


class BatchJobs:
    """The batches of a service: received, run in turn, cancelled, and kept for some days.

    `run` judges them until `stop`; all methods belong to its event loop. `ended` is called when the
    run of a batch is over, whether it has ended or goes on after the next start.
    """

    def __init__(
        self, plan: BatchPlan, store: BatchStore, *, ended: Callable[[Batch], None] = lambda _: None
    ) -> None:
        self._plan = plan
        self._store = store
        self._ended = ended
        self._batches: dict[str, Batch] = {}
        self._waiting: deque[Batch] = deque()
        self._has_work = Event()
        self._is_closing = False

    def __iter__(self) -> Iterator[Batch]:
        return iter(tuple(self._batches.values()))

    def of(self, owner: str) -> tuple[Batch, ...]:
        """Return the batches of a tenant, the oldest first."""
        return tuple(batch for batch in self if batch.record.owner == owner)

    def find(self, name: str, *, owner: str) -> Batch | None:
        """Return the batch with this id, if it is this tenant's."""
        batch = self._batches.get(name)
        return batch if batch is not None and batch.record.owner == owner else None

    def require_room(self) -> None:
        """Raise `BusyError` if no further batch may wait."""
        if len(self._waiting) >= self._plan.most_waiting:
            raise BusyError(f"{len(self._waiting)} batches wait, and no more may")

    @asynccontextmanager
    async def receiving(self) -> AsyncIterator[BatchFolder]:
        """Make a folder for a batch; it is gone at the end, unless `submit` has kept it."""
        folder = await to_thread.run_sync(self._store.receive, secrets.token_urlsafe(18))
        try:
            yield folder
        finally:
            if folder.path.exists():
                self._store.remove(folder)

    async def submit(self, received: BatchFolder, submission: Submission) -> Batch:
        """Check the rows that were received, and have them judged.

        Raises
        ------
        BadRowsError
            If rows cannot be read, and are not to be skipped; or if no row can.
        ConfigError
            If a task or an aspect is unknown.
        StoreError
            If the batch cannot be written.
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
            skip_bad_rows=submission.skip_bad_rows,
            limits=plan.limits,
            failures=plan.failures,
        )
        found = examined(job)
        begin_run(job, received.run, output=None, assessments=found.assessments)
        record = BatchRecord(
            id=received.path.name,
            owner=submission.owner,
            panel=submission.panel,
            created=now(),
            rows=found.rows,
            assessments=found.assessments,
            skipped=found.skipped,
        )
        received.write(record)
        return record, self._store.keep(received)

    async def cancel(self, batch: Batch) -> None:
        """End a batch; what was judged stays, and what is under way is dropped."""
        if batch.record.state.is_end:
            return
        batch.is_cancelled = True
        if batch.stop_token is None:
            self._waiting.remove(batch)
            await self._end(batch, BatchState.CANCELLED, _CANCELLED)
            return
        batch.stop_token.request(_CANCELLED, grace=0.0)
        # It must not go on, even if the service is killed before the run has ended.
        await self._write(batch, _ended(batch, BatchState.CANCELLED, _CANCELLED))

    async def remove(self, batch: Batch) -> None:
        """End a batch and remove all that was kept of it."""
        batch.is_removed = True
        await self.cancel(batch)
        self._batches.pop(batch.record.id, None)
        if batch.stop_token is None:
            await to_thread.run_sync(self._store.remove, batch.folder)

    def stop(self) -> None:
        """Begin nothing more; what is under way gets a grace, and the rest waits on disk."""
        self._is_closing = True
        self._has_work.set()
        for batch in self:
            if batch.stop_token is not None:
                batch.stop_token.request("the service ends", grace=GRACE)

    def _go_on(self) -> None:
        """Take up the batches that are on disk: those that had not ended are queued."""
        for folder, record in self._store.kept():
            batch = Batch(record=record, folder=folder)
            self._batches[record.id] = batch
            if not record.state.is_end:
                self._queue(batch)

    def _queue(self, batch: Batch) -> None:
        batch.record = replace(batch.record, state=BatchState.QUEUED)
        self._waiting.append(batch)
        self._has_work.set()

    async def run(self, *, task_status: TaskStatus[None] = TASK_STATUS_IGNORED) -> None:
        """Go on with the batches on disk and judge new ones, until `stop`.

        What is under way then may take `GRACE` seconds; the rest is for the next time.
        """
        await to_thread.run_sync(self._go_on)
        task_status.started()
        async with create_task_group() as group:
            group.start_soon(self._tidy)
            async with create_task_group() as working:
                for _ in range(self._plan.most_running):
                    working.start_soon(self._work)
            group.cancel_scope.cancel()

    async def _work(self) -> None:
        """Run batches, one after the other."""
        while not self._is_closing:
            if self._waiting:
                await self._run(self._waiting.popleft())
            else:
                if self._has_work.is_set():  # all workers wait for one event
                    self._has_work = Event()
                await self._has_work.wait()

    async def _tidy(self) -> None:
        """Remove what is kept no longer, for as long as the service lasts."""
        while True:
            oldest = now() - timedelta(days=self._plan.keep_days)
            for batch in self:
                if batch.record.ended is not None and batch.record.ended < oldest:
                    await self.remove(batch)
            await sleep(_TIDY)

    async def _run(self, batch: Batch) -> None:
        """Judge a batch; whatever goes wrong ends this batch only."""
        batch.stop_token = token = StopToken()
        try:
            state, reason = await self._judged(batch, token)
        finally:
            batch.stop_token = None
            self._ended(batch)
        if state is not None:
            await self._end(batch, state, reason)
        if batch.is_removed:
            await to_thread.run_sync(self._store.remove, batch.folder)

    async def _judged(self, batch: Batch, token: StopToken) -> tuple[BatchState | None, str]:
        """Return how it ended; None if the service did, and it goes on later."""
        try:
            await self._judge(batch, token)
        except RunStoppedError as stopped:
            if batch.is_cancelled:
                return BatchState.CANCELLED, str(stopped)
            return (None, "") if self._is_closing else (BatchState.STOPPED, str(stopped))
        except (RunFailedError, ConfigError) as failed:
            return BatchState.FAILED, str(failed)
        except Exception as error:  # a batch must not end the service
            log.exception("batch.failed", batch=batch.record.id, error=kind_of(error))
            return BatchState.FAILED, _BROKEN
        return BatchState.FINISHED, ""

    async def _judge(self, batch: Batch, token: StopToken) -> None:
        kept = await to_thread.run_sync(job_of, batch.folder.run)
        job = replace(kept, data=batch.folder.data)  # wherever its folder was when it was begun
        batch.summary = Summary()
        batch.meter = Meter(limits=job.limits, stop=token.request)
        total = batch.record.assessments
        batch.tracker = Tracker(total=total, summary=batch.summary, meter=batch.meter)
        batch.record = replace(batch.record, state=BatchState.RUNNING)
        batch.note()
        log.info("batch.begun", batch=batch.record.id)
        if token.is_requested:
            raise RunStoppedError(token.reason)
        await run(job, batch.show, rows=batch, stop_token=token, meter=batch.meter)

    async def _end(self, batch: Batch, state: BatchState, reason: str) -> None:
        batch.record = _ended(batch, state, reason)
        await self._write(batch, batch.record)
        log.info("batch.ended", batch=batch.record.id, state=state.value)
        batch.note()

    async def _write(self, batch: Batch, record: BatchRecord) -> None:
        try:
            await to_thread.run_sync(batch.folder.write, record)
        except StoreError as error:  # it is judged again at the next start, out of its memory
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
