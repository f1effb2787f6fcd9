"""Judging on a cluster: workers on many machines judge the rows of many files, chunk by chunk."""

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial

from pydantic import TypeAdapter

from spanjury.judges.core import DataError, RunStoppedError, StoreError
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.services.runs.cluster_job import (
    ChunkEnd,
    ChunkRecord,
    ClusterJob,
    Failure,
    chunk_json,
    read_end,
)
from spanjury.orchestration.services.runs.cluster_ledger import ClusterStop, Ledger
from spanjury.orchestration.services.runs.cluster_worker import ChunkWorker
from spanjury.orchestration.services.runs.run_folder import CLUSTER, as_begun, manifest_of_values
from spanjury.orchestration.wiring.cluster import (
    ShardFolder,
    cut_chunks,
    find_place,
    ray_engine,
    require,
)
from spanjury.orchestration.wiring.seats import warn_of_one_family

__all__ = ["ChunkRecord", "ClusterJob", "ClusterStop", "run_on_cluster"]

_JOB = TypeAdapter(ClusterJob)


def run_on_cluster(
    job: ClusterJob,
    show: Callable[[ChunkRecord], None],
    *,
    stop_token: ClusterStop | None = None,
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
    chunks = [*map(chunk_json, cut_chunks(job.data, rows=job.chunk_rows, limit=job.limit))]
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
            for end in map(read_end, ends):
                progress.add(end)
                show(end.record)
    progress.require_end()
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

    def require_end(self) -> None:
        """Raise the reason why the run ended early, if it did."""
        if self.failure is not None:
            raise self.failure.raised()
        if self.stopped:
            raise RunStoppedError(self.stopped)


def _keep_manifest(job: ClusterJob, folder: ShardFolder, cluster: Mapping[str, object]) -> None:
    """Write or update the manifest of the run."""
    named = replace(
        job,
        data=find_place(job.data).url,
        folder=folder.url,
        aspects_files=tuple(path.absolute() for path in job.aspects_files),
    )
    values = _JOB.dump_python(named, mode="json", fallback=_words)
    before = folder.manifest()
    if before is not None and CLUSTER not in before:
        raise StoreError(
            f"{folder.url} holds a run of one machine: name another folder, or go on with it by:"
            f" spanjury resume {folder.url}"
        )
    folder.mark(done=False)
    if before is None or before.get("job") != values:
        folder.keep_manifest({**manifest_of_values(values), CLUSTER: cluster})


def _words(value: object) -> str:
    """Return a description of a judge that is not a plain value."""
    return str(getattr(value, "signature", None) or repr(value))
