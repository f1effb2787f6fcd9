"""Judging on a cluster: the rows of many files, chunk by chunk, by workers on many machines."""

import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from anyio.from_thread import BlockingPortal, start_blocking_portal
from pydantic import TypeAdapter

from spanjury.judges.core import (
    UNANSWERED,
    ConfigError,
    DataError,
    EvaluationError,
    Outcome,
    RunFailedError,
    StoreError,
    Usage,
)
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.engine.batch import evaluate, pair
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.engine.stopping import FailurePolicy
from spanjury.orchestration.services.cluster_shard import (
    Pairs,
    kept_rows,
    outcomes_of,
    rows_of,
    shard_key,
    usage_of,
)
from spanjury.orchestration.services.evaluate import readable
from spanjury.orchestration.wiring.cluster import (
    CHUNK_ROWS,
    Chunk,
    ShardFolder,
    cut_chunks,
    ray_engine,
    read_chunk,
    require,
    without_losses,
)
from spanjury.orchestration.wiring.config import PanelConfig
from spanjury.orchestration.wiring.models import guard_of
from spanjury.orchestration.wiring.panels import open_configured_panel
from spanjury.orchestration.wiring.results import open_results


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterJob:
    """Data to judge on a cluster, with the panel, and where the results go.

    Parameters
    ----------
    data
        Path or URL of files, as in `cut_chunks`; every node must see them there.
    panel
        The judges. Each worker opens a panel of its own, so what bounds the calls to a
        model bounds those of one worker, and keys are those in the node's environment.
    folder
        Path or URL of a folder, seen by every node, for the shards and ``results.jsonl``.
    aspects_files
        TOML files that add tasks and aspects; read here, not on the nodes.
    again
        Outcomes for which rows are judged again although there is a shard of them.
    chunk_rows
        How many rows a worker has at hand, and loses if it is lost.
    address
        Of a running Ray cluster; None for ``RAY_ADDRESS``, else this machine alone.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkRecord:
    """The record of a judged chunk, without its texts.

    Parameters
    ----------
    outcomes
        The panel's outcomes in them.
    judged
        How many of them were judged now; the others were there already.
    usage
        The usage of those.
    skipped
        Why rows were skipped; each names its file and line.
    """

    chunk: int
    key: str
    results: int
    outcomes: Mapping[Outcome, int]
    judged: int
    usage: Usage
    skipped: tuple[str, ...]


def run_on_cluster(job: ClusterJob, show: Callable[[ChunkRecord], None]) -> str:
    """Judge what is not judged yet, and join the results in the order of the rows.

    However it ends, running it again goes on where it was: a chunk whose shard is there
    is not judged, unless the panel, an aspect or one of its rows has changed.

    Parameters
    ----------
    show
        Is given the record of every chunk once its shard is written, in any order.

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
    require(ray_engine)
    folder = ShardFolder(job.folder)
    chunks = [*map(chunk_json, cut_chunks(job.data, rows=job.chunk_rows, limit=job.limit))]
    folder.create()
    keys: dict[int, str] = {}
    results = 0
    records = ray_engine.map_on_ray(
        partial(ChunkWorker, replace(job, folder=folder.url), Catalogue.load(*job.aspects_files)),
        chunks,
        address=job.address,
        most_workers=job.most_workers,
    )
    with closing(records):
        for record in map(read_record, records):
            keys[record.chunk] = record.key
            results += record.results
            show(record)
    if not results:
        raise DataError(f"{job.data}: no row can be judged")
    folder.join(keys[number] for number in range(len(chunks)))
    return folder.results


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failure:
    """Why the whole run must end."""

    error: str
    message: str


_ERRORS: Mapping[str, type[EvaluationError]] = {
    error.__name__: error
    for error in (RunFailedError, ConfigError, DataError, StoreError, EvaluationError)
}
_CHUNK = TypeAdapter(Chunk)
_RECORD: TypeAdapter[ChunkRecord | _Failure] = TypeAdapter(ChunkRecord | _Failure)


def chunk_json(chunk: Chunk) -> str:
    """Return `chunk` as JSON, for a `ChunkWorker`."""
    return _CHUNK.dump_json(chunk).decode()


def read_record(line: str) -> ChunkRecord:
    """Return a `ChunkWorker`'s record of a chunk, or raise why the run must end."""
    record = _RECORD.validate_json(line)
    if isinstance(record, _Failure):
        raise _ERRORS[record.error](record.message)
    return record


class ChunkWorker:
    """Judge one chunk after the other, and write the shard of each.

    Of a shard that is there, only what failed is judged again. The panel is opened for
    the first chunk and stays open as long as the process lives.
    """

    def __init__(self, job: ClusterJob, catalogue: Catalogue) -> None:
        self._job = job
        self._catalogue = catalogue
        self._shards = ShardFolder(job.folder)
        self._stack = ExitStack()  # of what is open
        self._opened: tuple[BlockingPortal, Panel] | None = None

    def __call__(self, chunk: str) -> str:
        """Judge the chunk that `chunk_json` wrote; return what `read_record` reads.

        Our errors are written there too: raised in another process, they would arrive as a
        page of its stack.
        """
        record: ChunkRecord | _Failure
        try:
            record = self._record(_CHUNK.validate_json(chunk))
        except EvaluationError as error:
            name = next(name for name, kind in _ERRORS.items() if isinstance(error, kind))
            record = _Failure(error=name, message=str(error))
        return _RECORD.dump_json(record).decode()

    def _record(self, chunk: Chunk) -> ChunkRecord:
        portal, panel = self._opened or self._open()
        pairs, skipped = self._pairs(chunk)
        key = shard_key(panel.signature, pairs)
        there = self._shards.read(key)
        kept = kept_rows(there, pairs, signature=panel.signature, again=self._job.again)
        todo = [pair for pair, row in zip(pairs, kept, strict=True) if row is None]
        judged = self._judged(portal, panel, todo) if todo else []
        new = iter(judged)
        rows = [next(new) if row is None else row for row in kept]
        before = rows_of(there or b"")
        if len(before) == len(rows):
            rows = without_losses(before, rows)
        if todo or there is None:
            self._shards.write(key, b"".join(rows))
        return ChunkRecord(
            chunk=chunk.number,
            key=key,
            results=len(rows),
            outcomes=outcomes_of(rows),
            judged=len(judged),
            usage=usage_of(judged),
            skipped=skipped,
        )

    def _open(self) -> tuple[BlockingPortal, Panel]:
        with ExitStack() as stack:
            portal = stack.enter_context(start_blocking_portal())
            guard = guard_of(self._job.failures, memory=None)
            opening = open_configured_panel(self._job.panel, guard=guard)
            panel = stack.enter_context(portal.wrap_async_context_manager(opening))
            self._stack = stack.pop_all()
        self._opened = portal, panel
        return self._opened

    def _pairs(self, chunk: Chunk) -> tuple[Pairs, tuple[str, ...]]:
        """Return the pairs to judge, and why rows are skipped."""
        job, bad = self._job, list[DataError]()
        segments = readable(read_chunk(chunk), bad, skip=job.skip_bad_rows)
        pairs = tuple(pair(segments, self._catalogue, task=job.task, aspects=job.aspects))
        return pairs, tuple(map(str, bad))

    def _judged(self, portal: BlockingPortal, panel: Panel, pairs: Pairs) -> list[bytes]:
        """Judge `pairs` and return their rows, as any run would write them."""
        with tempfile.TemporaryDirectory(prefix="spanjury-") as folder:
            path = Path(folder) / "rows.jsonl"
            with open_results(path) as results:
                workers = self._job.panel.workers
                portal.call(partial(evaluate, panel, pairs, write=results.append, workers=workers))
            return rows_of(path.read_bytes())
