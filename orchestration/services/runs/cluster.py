"""Judging on a cluster: workers on many machines judge the rows of many files, chunk by chunk.

`run_on_cluster` shares the chunks out; a `ChunkWorker` in each process judges them, and writes the
shard of each.
"""

import hashlib
import json
import tempfile
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing, nullcontext, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path

from anyio.from_thread import BlockingPortal, start_blocking_portal
from pydantic import TypeAdapter, ValidationError

from spanjury.judges.core import (
    UNANSWERED,
    Aspect,
    DataError,
    EvaluationError,
    Outcome,
    Result,
    RunStoppedError,
    Segment,
    StoreError,
    Usage,
    unstamped,
)
from spanjury.judges.core.keys import canonical
from spanjury.judges.core.lazy import require
from spanjury.judges.tasks import Catalogue
from spanjury.judges.text.turns import Processes
from spanjury.orchestration.engine.batch import evaluate, pair
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.engine.stopping import GRACE, run_watched
from spanjury.orchestration.services.runs.cluster_job import (
    CHUNKS,
    ENDS,
    ChunkEnd,
    ChunkRecord,
    ClusterJob,
    Failure,
)
from spanjury.orchestration.services.runs.cluster_ledger import (
    Ask,
    ClusterStop,
    Ledger,
    WorkerMeter,
    stop_note,
)
from spanjury.orchestration.services.runs.run_folder import CLUSTER, as_begun, manifest_of_values
from spanjury.orchestration.wiring.cluster import (
    Chunk,
    ShardFolder,
    cut_chunks,
    find_location,
    ray_engine,
    read_chunk,
    without_losses,
)
from spanjury.orchestration.wiring.models import guard_of
from spanjury.orchestration.wiring.panels import open_configured_panel
from spanjury.orchestration.wiring.results import ResultWriter
from spanjury.orchestration.wiring.seats import warn_of_one_family
from spanjury.orchestration.wiring.sources import data_limits, readable

Pairs = Sequence[tuple[Segment, Aspect]]
"""Segments and aspects, in the order of their rows."""

_JOB = TypeAdapter(ClusterJob)
_LAYOUT = 1
"""Increased when keys or shards change, so that shards in an old format are not found."""


def run_on_cluster(
    job: ClusterJob, show: Callable[[ChunkRecord], None], *, stop_token: ClusterStop | None = None
) -> str:
    """Judge the rows that are not judged yet, and join the results in the order of the rows.

    However it ends, running it again continues: a chunk with a shard is not judged again, unless
    the panel, an aspect or one of its rows has changed. `show` receives the record of every chunk
    once its shard is written, in any order; `stop_token` may be requested from any thread. Raise
    `RunStoppedError` if a limit or the stop token ended the run early, `DataError` if a file or a
    row cannot be read or no row is left, `ConfigError` if Ray or its cluster is missing, or the
    panel, a task or an aspect is invalid, `StoreError` if the folder holds a run of one machine or
    cannot be written, `RunFailedError` if a model cannot be used, and `EvaluationError` if Ray
    gives up.
    """
    require(ray_engine)
    warn_of_one_family(job.panel)  # a worker's warnings would be in its own log
    folder = ShardFolder(job.folder)
    limits = data_limits()
    cut = cut_chunks(job.data, rows=job.chunk_rows, limit=job.limit, limits=limits)
    chunks = [CHUNKS.dump_json(chunk).decode() for chunk in cut]
    folder.create()
    progress = _Progress()
    with ray_engine.on_ray(job.address) as cluster:
        panel = as_begun(job.panel, folder.manifest() or {})
        share = ray_engine.Share(cores=max(1, panel.processes), gpus=job.gpus)
        room = cluster.room(share)
        workers = min(job.most_workers or room, room)
        _keep_manifest(job, folder, {**cluster.facts, "workers": workers, "shards": len(chunks)})
        ledger = cluster.share(partial(Ledger, job.limits, file=folder))
        make = partial(
            ChunkWorker,
            replace(job, folder=folder.url, panel=panel),
            Catalogue.load(*job.aspects_files),
            ledger.ask,
        )
        ends = cluster.map(make, chunks, most_workers=job.most_workers, share=share)
        with (stop_token or ClusterStop()).passed_on(ledger.tell), closing(ends):
            for end in map(ENDS.validate_json, ends):
                progress.add(end)
                show(end.record)
    if progress.failure is not None:
        raise progress.failure.raised()
    if progress.stopped:
        raise RunStoppedError(progress.stopped)
    if not progress.results:
        raise DataError(f"{job.data}: no row can be judged")
    folder.join(progress.keys[number] for number in range(len(chunks)))
    folder.mark(done=progress.is_answered)
    return folder.results


@dataclass(slots=True)
class _Progress:
    """The ends of all chunks so far."""

    keys: dict[int, str] = field(default_factory=dict)
    results: int = 0
    is_answered: bool = True
    failure: Failure | None = None
    stopped: str = ""

    def add(self, end: ChunkEnd) -> None:
        """Add the end of one more chunk; the first failure is kept."""
        record = end.record
        self.keys[record.chunk] = record.key
        self.results += record.results
        self.is_answered &= not record.unanswered
        self.failure = self.failure or end.failure
        self.stopped = self.stopped or record.stopped


def _keep_manifest(job: ClusterJob, folder: ShardFolder, cluster: Mapping[str, object]) -> None:
    """Write or update the manifest of the run."""
    named = replace(
        job,
        data=find_location(job.data).url,
        folder=folder.url,
        aspects_files=tuple(path.absolute() for path in job.aspects_files),
    )

    def words(value: object) -> str:
        """Return a description of a judge that is not a plain value."""
        return str(getattr(value, "signature", None) or repr(value))

    values = _JOB.dump_python(named, mode="json", fallback=words)
    before = folder.manifest()
    if before is not None and CLUSTER not in before:
        raise StoreError(
            f"{folder.url} already holds a run of one machine: name another folder, or continue it"
            f" with: spanjury resume {folder.url}"
        )
    folder.mark(done=False)
    if before is None or before.get("job") != values:
        folder.keep_manifest({**manifest_of_values(values), CLUSTER: cluster})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seat:
    outcome: Outcome
    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """The part of a result row that identifies it and is counted."""

    id: str
    aspect: str
    signature: str
    outcome: Outcome
    seats: list[_Seat]


_ROW = TypeAdapter(_Row)


def shard_key(signature: str, pairs: Pairs) -> str:
    """Return 32 hexadecimal digits that change if a result of `pairs` could change.

    `pairs` are all pairs of the chunk. Parts of a segment that judges never see (ratings, marked
    spans, meta) are ignored.
    """
    asked = {id(aspect): aspect for _, aspect in pairs}  # the same few recur with every segment
    aspects = {name: canonical(aspect).decode() for name, aspect in asked.items()}
    digest = hashlib.blake2b(json.dumps([_LAYOUT, signature]).encode(), digest_size=16)
    for segment, aspect in pairs:
        judged = [
            aspects[id(aspect)],
            segment.segment_id,
            segment.output,
            list(segment.inputs.items()),
            segment.task,
            segment.references,
            segment.system,
        ]
        digest.update(json.dumps(judged).encode())
    return digest.hexdigest()


def rows_of(shard: bytes) -> list[bytes]:
    """Return the rows of a shard, each with its line end; a partial row at the end is dropped."""
    return [row + b"\n" for row in shard.split(b"\n")[:-1]]


def aligned_rows(shard: bytes | None, pairs: Pairs, *, signature: str) -> list[bytes | None]:
    """Return the row of each pair in `shard`, or None if there is none.

    A row is missing if the run was stopped before the pair was judged, or the shard is damaged.
    """
    rows: dict[tuple[str, str, str], bytes] = {}
    for row in rows_of(shard or b""):
        with suppress(ValidationError):
            read = _ROW.validate_json(row)
            # The same, whatever release of the panel wrote it.
            rows[read.id, read.aspect, unstamped(read.signature)] = row
    return [rows.get((segment.segment_id, aspect.name, signature)) for segment, aspect in pairs]


def is_kept(row: bytes, *, again: frozenset[Outcome]) -> bool:
    """Return whether neither the panel nor a seat had one of the outcomes `again`."""
    read = _ROW.validate_json(row)
    return again.isdisjoint([read.outcome, *(seat.outcome for seat in read.seats)])


def usage_of(rows: Iterable[bytes]) -> Usage:
    """Return the usage of all seats."""
    seats = (seat for row in rows for seat in _ROW.validate_json(row).seats)
    return sum((seat.usage for seat in seats), Usage())


class ChunkWorker:
    """Judges one chunk after the other, and writes the shard of each.

    If a shard exists, only missing or failed rows are judged. If the run is stopped half-way, the
    shard has the rows judged by then. The panel is opened for the first chunk and stays open until
    the process ends. `ask` calls the ledger of the run.
    """

    def __init__(self, job: ClusterJob, catalogue: Catalogue, ask: Ask) -> None:
        self._job = job
        self._catalogue = catalogue
        self._ask = ask
        self._shards = ShardFolder(job.folder)
        self._stack = ExitStack()  # holds all open resources
        self._portal: BlockingPortal | None = None
        self._panel: Panel | None = None
        self._meter = WorkerMeter(limits=job.limits, ask=ask)
        self._before = (Usage(), 0.0)
        # This closes at the exit of the process at the latest: afterwards its threads no longer
        # run, and closing would wait for them forever.
        weakref.finalize(self, self._stack.close)

    def __call__(self, chunk: str) -> str:
        """Judge a chunk, as JSON of `CHUNKS`; return its end as JSON of `ENDS`.

        Errors of spanjury are returned too: raised in another process, they would arrive as a long
        stack trace. They end the run, but the work of other workers gets its grace period.
        """
        portal = self._portal = self._portal or self._stack.enter_context(start_blocking_portal())
        read = CHUNKS.validate_json(chunk)
        record, error = ChunkRecord(chunk=read.number, outcomes={}), None
        try:
            record, error = self._record(portal, read)
        except EvaluationError as raised:
            error = raised
        if error is not None:
            with suppress(EvaluationError):  # the ledger itself may be lost
                portal.call(self._ask, stop_note(str(error), grace=GRACE))
        end = ChunkEnd(record=self._with_cost(record), failure=Failure.of(error) if error else None)
        return ENDS.dump_json(end).decode()

    def _record(
        self, portal: BlockingPortal, chunk: Chunk
    ) -> tuple[ChunkRecord, EvaluationError | None]:
        """Judge the chunk; return its record, and the error that ended judging."""
        stop_token = portal.call(self._meter.begin)
        if stop_token.is_requested:
            stopped = ChunkRecord(chunk=chunk.number, outcomes={}, stopped=stop_token.reason)
            return stopped, None
        panel = self._panel = self._panel or self._opened(portal)
        pairs, skipped = self._pairs(chunk)
        key = shard_key(panel.signature, pairs)
        there = self._shards.read(key)
        old = aligned_rows(there, pairs, signature=panel.signature)
        again = self._job.again
        todo = [
            pair
            for pair, row in zip(pairs, old, strict=True)
            if row is None or not is_kept(row, again=again)
        ]
        judged, error = self._judged(portal, panel, todo) if todo else ([], None)
        new = aligned_rows(b"".join(judged), pairs, signature=panel.signature)
        rows = [*filter(None, map(_better, old, new))]
        if judged or there is None:
            self._shards.write(key, b"".join(rows))
        record = ChunkRecord(
            chunk=chunk.number,
            key=key,
            results=len(rows),
            outcomes=Counter(_ROW.validate_json(row).outcome for row in rows),
            unanswered=sum(not is_kept(row, again=UNANSWERED) for row in rows),
            judged=len(judged),
            usage=usage_of(judged),
            skipped=skipped,
            stopped=stop_token.reason if stop_token.interrupted else "",
        )
        return record, error

    def _opened(self, portal: BlockingPortal) -> Panel:
        guard = guard_of(self._job.failures, memory=None)
        opening = open_configured_panel(self._job.panel, guard=guard, meter=self._meter)
        return self._stack.enter_context(portal.wrap_async_context_manager(opening))

    def _pairs(self, chunk: Chunk) -> tuple[Pairs, tuple[str, ...]]:
        """Return the pairs to judge, and why rows are skipped."""
        job, bad = self._job, list[DataError]()
        segments = readable(read_chunk(chunk), bad if job.skip_bad_rows else None)
        pairs = tuple(pair(segments, self._catalogue, task=job.task, aspects=job.aspects))
        return pairs, tuple(map(str, bad))

    def _judged(
        self, portal: BlockingPortal, panel: Panel, pairs: Pairs
    ) -> tuple[list[bytes], EvaluationError | None]:
        """Judge `pairs` like any run; return the rows, and the error that ended judging."""
        error: EvaluationError | None = None
        with tempfile.TemporaryDirectory(prefix="spanjury-") as folder:
            results = ResultWriter(Path(folder) / "rows.jsonl")
            try:
                with results:
                    portal.call(self._evaluate, panel, pairs, results.append)
            except EvaluationError as raised:
                error = raised
            return rows_of(results.path.read_bytes()), error

    async def _evaluate(self, panel: Panel, pairs: Pairs, write: Callable[[Result], None]) -> None:
        work = partial(
            evaluate,
            panel,
            pairs,
            write=write,
            workers=self._job.panel.workers,
            stop_token=self._meter.stop_token,
        )
        processes = self._job.panel.processes
        # The panel was opened in a task of its own, whose context does not reach other tasks.
        with Processes(processes).working() if processes else nullcontext():
            await run_watched(work, self._meter.watch)
        await self._meter.report()

    def _with_cost(self, record: ChunkRecord) -> ChunkRecord:
        """Add the spending since the last record to `record`."""
        meter = self._meter
        (usage, cost), self._before = self._before, (meter.usage, meter.cost)
        before = asdict(usage)
        return replace(
            record,
            spent=Usage(**{name: now - before[name] for name, now in asdict(meter.usage).items()}),
            cost=meter.cost - cost,
            unpriced=meter.unpriced,
        )


def _better(old: bytes | None, new: bytes | None) -> bytes | None:
    """Return the new row of a pair, or the old one if only that has a score."""
    if old is None or new is None:
        return new or old
    return without_losses([old], [new])[0]
