"""A worker of a cluster: one panel that stays open, and one chunk of rows after the other."""

import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from anyio.from_thread import BlockingPortal, start_blocking_portal
from pydantic import TypeAdapter

from spanjury.judges.core import (
    ConfigError,
    DataError,
    EvaluationError,
    Outcome,
    RunFailedError,
    Segment,
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
from spanjury.orchestration.wiring.cluster import Chunk, ShardFolder, read_chunk, without_losses
from spanjury.orchestration.wiring.config import PanelConfig
from spanjury.orchestration.wiring.models import guard_of
from spanjury.orchestration.wiring.panels import open_configured_panel
from spanjury.orchestration.wiring.results import open_results

__all__ = ["ChunkRecord", "ChunkWorker", "Errand", "read_record", "told_chunk"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """What a worker is sent out with; `ClusterJob` explains the parts."""

    panel: PanelConfig
    folder: str
    catalogue: Catalogue
    task: str | None
    aspects: tuple[str, ...]
    skip_bad_rows: bool
    again: frozenset[Outcome]
    failures: FailurePolicy = FailurePolicy()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkRecord:
    """What came of a chunk, without its texts.

    Parameters
    ----------
    chunk
        Its number.
    key
        The name of its shard.
    results
        How many results the shard holds.
    outcomes
        To what the panel came in them.
    judged
        How many of them were judged now; the others were there already.
    usage
        What was spent on those.
    skipped
        Why rows were left out; each names its file and line.
    """

    chunk: int
    key: str
    results: int
    outcomes: Mapping[Outcome, int]
    judged: int
    usage: Usage
    skipped: tuple[str, ...]


_Kind = Literal["failed", "config", "data", "store", "other"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failure:
    """Why the whole run must end."""

    kind: _Kind
    message: str


_KINDS: Mapping[_Kind, type[EvaluationError]] = {
    "failed": RunFailedError,
    "config": ConfigError,
    "data": DataError,
    "store": StoreError,
    "other": EvaluationError,
}
_CHUNK = TypeAdapter(Chunk)
_SAID: TypeAdapter[ChunkRecord | _Failure] = TypeAdapter(ChunkRecord | _Failure)


def told_chunk(chunk: Chunk) -> str:
    """Return `chunk` as JSON, for a `ChunkWorker`."""
    return _CHUNK.dump_json(chunk).decode()


def read_record(said: str) -> ChunkRecord:
    """Return what a `ChunkWorker` says of a chunk, or raise why the run must end."""
    record = _SAID.validate_json(said)
    if isinstance(record, _Failure):
        raise _KINDS[record.kind](record.message)
    return record


class ChunkWorker:
    """Judge one chunk after the other, and write the shard of each.

    Of a shard that is there, only what failed is judged again. The panel is opened for
    the first chunk and stays open as long as the process lives.

    Parameters
    ----------
    errand
        What it is to do with every chunk.
    """

    def __init__(self, errand: Errand) -> None:
        self._errand = errand
        self._shards = ShardFolder(errand.folder)
        self._stack = ExitStack()  # of what is open
        self._opened: tuple[BlockingPortal, Panel] | None = None

    def __call__(self, told: str) -> str:
        """Do the chunk that `told_chunk` wrote; return what `read_record` reads.

        Our errors are told there too: raised in another process, they would arrive as a
        page of its stack.
        """
        said: ChunkRecord | _Failure
        try:
            said = self._do(_CHUNK.validate_json(told))
        except EvaluationError as error:
            kind = next(name for name, kind in _KINDS.items() if isinstance(error, kind))
            said = _Failure(kind=kind, message=str(error))
        return _SAID.dump_json(said).decode()

    def _do(self, chunk: Chunk) -> ChunkRecord:
        portal, panel = self._opened or self._open()
        pairs, skipped = self._pairs(chunk)
        key = shard_key(panel.signature, pairs)
        there = self._shards.read(key)
        kept = kept_rows(there, pairs, signature=panel.signature, again=self._errand.again)
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
            guard = guard_of(self._errand.failures, memory=None)
            opening = open_configured_panel(self._errand.panel, guard=guard)
            panel = stack.enter_context(portal.wrap_async_context_manager(opening))
            self._stack = stack.pop_all()
        self._opened = portal, panel
        return self._opened

    def _pairs(self, chunk: Chunk) -> tuple[Pairs, tuple[str, ...]]:
        """Return what is to be judged, and why rows are left out."""
        segments: list[Segment] = []
        skipped: list[str] = []
        for row in read_chunk(chunk):
            if isinstance(row, Segment):
                segments.append(row)
            elif self._errand.skip_bad_rows:
                skipped.append(str(row))
            else:
                raise row
        errand = self._errand
        pairs = pair(segments, errand.catalogue, task=errand.task, aspects=errand.aspects)
        return tuple(pairs), tuple(skipped)

    def _judged(self, portal: BlockingPortal, panel: Panel, pairs: Pairs) -> list[bytes]:
        """Judge `pairs` and return their rows, as any run would write them."""
        with tempfile.TemporaryDirectory(prefix="spanjury-") as folder:
            path = Path(folder) / "rows.jsonl"
            with open_results(path) as results:
                workers = self._errand.panel.workers
                portal.call(partial(evaluate, panel, pairs, write=results.append, workers=workers))
            return rows_of(path.read_bytes())
