"""A job for a cluster: the rows of many files, judged chunk by chunk on many machines."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from spanjury.judges.core import UNANSWERED, DataError, Outcome
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.engine.stopping import FailurePolicy
from spanjury.orchestration.services.cluster_worker import (
    ChunkRecord,
    ChunkWorker,
    Errand,
    read_record,
    told_chunk,
)
from spanjury.orchestration.wiring.cluster import CHUNK_ROWS, ShardFolder, cut_chunks, load_ray
from spanjury.orchestration.wiring.config import PanelConfig

__all__ = ["ChunkRecord", "ClusterJob", "run_on_cluster"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterJob:
    """What is judged, by whom, where the results go, and on which cluster.

    Parameters
    ----------
    data
        Path or URL of files, as in `cut_chunks`; every node must see them there.
    panel
        Who judges. Each worker opens a panel of its own, so what bounds the calls to a
        model bounds those of one worker, and keys are those in the node's environment.
    folder
        Path or URL of a folder, seen by every node, for the shards and ``results.jsonl``.
    task, aspects
        As in `pairing.pair`.
    aspects_files
        TOML files that add tasks and aspects; read here, not on the nodes.
    limit
        How many rows are judged; None for all.
    skip_bad_rows
        Leave out rows that cannot be read, where they otherwise end the run.
    again
        Outcomes for which rows are judged again although there is a shard of them.
    chunk_rows
        How many rows a worker has at hand, and loses if it is lost.
    address
        Of a running Ray cluster; None for ``RAY_ADDRESS``, else this machine alone.
    failures
        The care that each worker takes of models that fail.
    most_workers
        How many panels there may be at once; None for one a core of the cluster.
    """

    data: str
    panel: PanelConfig
    folder: str
    task: str | None = None
    aspects: tuple[str, ...] = ()
    aspects_files: tuple[Path, ...] = ()
    limit: int | None = None
    skip_bad_rows: bool = False
    again: frozenset[Outcome] = UNANSWERED
    chunk_rows: int = CHUNK_ROWS
    address: str | None = None
    most_workers: int | None = None
    failures: FailurePolicy = FailurePolicy()


def run_on_cluster(job: ClusterJob, show: Callable[[ChunkRecord], None]) -> str:
    """Judge what is not judged yet, and join the results in the order of the rows.

    However it ends, running it again goes on where it was: a chunk whose shard is there
    is not judged, unless the panel, an aspect or one of its rows has changed.

    Parameters
    ----------
    show
        Is told of every chunk once its shard is written, in any order.

    Returns
    -------
    str
        Where the results are.

    Raises
    ------
    DataError
        If a file or, unless they are skipped, a row cannot be read; or no row is left.
    ConfigError
        If Ray is not installed or no cluster answers, the panel cannot be opened, or a
        task or an aspect is unknown.
    StoreError
        If a shard or the results cannot be written.
    RunFailedError
        If a model cannot be used, or does not answer for longer than is waited.
    EvaluationError
        If Ray gives up.
    """
    map_on_ray = load_ray()
    folder = ShardFolder(job.folder)
    errand = Errand(
        panel=job.panel,
        folder=folder.url,
        catalogue=Catalogue.load(*job.aspects_files),
        task=job.task,
        aspects=job.aspects,
        skip_bad_rows=job.skip_bad_rows,
        again=job.again,
        failures=job.failures,
    )
    chunks = [*map(told_chunk, cut_chunks(job.data, rows=job.chunk_rows, limit=job.limit))]
    folder.create()
    keys: dict[int, str] = {}
    results = 0
    said = map_on_ray(
        partial(ChunkWorker, errand),
        chunks,
        address=job.address,
        most_workers=job.most_workers,
    )
    with closing(said):
        for record in map(read_record, said):
            keys[record.chunk] = record.key
            results += record.results
            show(record)
    if not results:
        raise DataError(f"{job.data}: no row can be judged")
    folder.join(keys[number] for number in range(len(chunks)))
    return folder.results
