"""A job for a cluster, and what goes to its workers and comes back: chunks and their records."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

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
from spanjury.orchestration.engine.metering import Limits
from spanjury.orchestration.engine.stopping import FailurePolicy
from spanjury.orchestration.wiring.cluster import CHUNK_ROWS, Chunk
from spanjury.orchestration.wiring.config import PanelConfig


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
        Address of a running Ray cluster; None for ``RAY_ADDRESS``, else this machine alone.
    most_workers
        How many panels there may be at once; None for as many as the cluster has room for.
    gpus
        How many GPUs each worker takes. It takes as many cores as its panel has processes, and one
        at least.
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
    gpus: int = 0
    limits: Limits = Limits()
    failures: FailurePolicy = FailurePolicy()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkRecord:
    """The record of a chunk, without its texts.

    Parameters
    ----------
    key
        The name of its shard; empty if the run was stopped before the chunk was read.
    judged
        How many of them were judged now; the others were there already.
    spent, cost
        What the worker spent since its last record, in dollars where a price is known; calls
        that failed or found out whether a model answers are counted, too.
    stopped
        Why rows of it are not judged, if the run was stopped before that.
    """

    chunk: int
    key: str = ""
    results: int = 0
    outcomes: Mapping[Outcome, int]
    unanswered: int = 0
    judged: int = 0
    usage: Usage = Usage()
    skipped: tuple[str, ...] = ()
    spent: Usage = Usage()
    cost: float = 0.0
    unpriced: tuple[str, ...] = ()
    stopped: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why the whole run must end; `error` is the name of what is raised for it."""

    error: str
    message: str

    @classmethod
    def of(cls, error: EvaluationError) -> "Failure":
        """Return `error` in words, since as an object it may not reach another process."""
        name = next(name for name, kind in _ERRORS.items() if isinstance(error, kind))
        return cls(error=name, message=str(error))

    def raised(self) -> EvaluationError:
        """Return the error, to be raised."""
        return _ERRORS[self.error](self.message)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkEnd:
    """The end of a worker's work on a chunk: what it did, and why it failed if it did."""

    record: ChunkRecord
    failure: Failure | None = None


_ERRORS: Mapping[str, type[EvaluationError]] = {
    error.__name__: error
    for error in (RunFailedError, ConfigError, DataError, StoreError, EvaluationError)
}
_CHUNK = TypeAdapter(Chunk)
_END = TypeAdapter(ChunkEnd)


def chunk_json(chunk: Chunk) -> str:
    """Return `chunk` as JSON, for a worker."""
    return _CHUNK.dump_json(chunk).decode()


def read_chunk_json(line: str) -> Chunk:
    """Return the chunk that `chunk_json` wrote."""
    return _CHUNK.validate_json(line)


def end_json(end: ChunkEnd) -> str:
    """Return `end` as JSON, for the driver."""
    return _END.dump_json(end).decode()


def read_end(line: str) -> ChunkEnd:
    """Return the end that `end_json` wrote."""
    return _END.validate_json(line)
