"""A job for a cluster, and the messages between driver and workers: chunks and their records."""

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
    """The data to judge on a cluster, the panel, and the folder for the results.

    Parameters
    ----------
    data
        Path or URL of files, as in `cut_chunks`; every node must have access to them there.
    panel
        The judges. Each worker opens its own panel, so limits of concurrent calls to a model apply
        to each worker, and API keys come from the node's environment.
    folder
        Path or URL of a folder, accessible to every node, for the shards and ``results.jsonl``.
    aspects_files
        TOML files that add tasks and aspects; read here, not on the nodes.
    again
        Outcomes for which rows are judged again although their shard exists.
    chunk_rows
        The number of rows that a worker holds at once, and loses if it is lost.
    address
        Address of a running Ray cluster; None for ``RAY_ADDRESS``, or else this machine only.
    most_workers
        The most panels at once; None for as many as fit on the cluster.
    gpus
        The number of GPUs of each worker. It also takes as many cores as its panel has processes,
        and at least one.
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

    `key` names its shard; it is empty if the run was stopped before the chunk was read. `judged`
    counts the results that were judged now; the others existed already. `spent` and `cost`, in
    dollars if a price is known, are the worker's spending since its last record, with failed calls
    and probes of a model. `stopped` says why some of its rows are not judged.
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
    """The reason why the whole run must end; `error` is the name of the exception type."""

    error: str
    message: str

    @classmethod
    def of(cls, error: EvaluationError) -> "Failure":
        """Return `error` as a failure, since the exception may not survive being sent."""
        name = next(name for name, kind in _ERRORS.items() if isinstance(error, kind))
        return cls(error=name, message=str(error))

    def raised(self) -> EvaluationError:
        """Return the exception to raise."""
        return _ERRORS[self.error](self.message)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkEnd:
    """The result of a worker on a chunk: its record, and its failure if it failed."""

    record: ChunkRecord
    failure: Failure | None = None


_ERRORS: Mapping[str, type[EvaluationError]] = {
    error.__name__: error
    for error in (RunFailedError, ConfigError, DataError, StoreError, EvaluationError)
}
CHUNKS = TypeAdapter(Chunk)
"""Writes a chunk as JSON, for a worker, and reads it there."""
ENDS = TypeAdapter(ChunkEnd)
"""Writes the end of a chunk as JSON, for the driver, and reads it there."""
