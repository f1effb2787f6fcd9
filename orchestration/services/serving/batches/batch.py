"""A batch within the service that runs it: its parts, its state and its rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from anyio import Event

from spanjury.judges.core import ConfigError, DataError, Result, Segment
from spanjury.judges.tasks import Rubric
from spanjury.orchestration.engine.batch import pair
from spanjury.orchestration.engine.finished_rows import FinishedRow
from spanjury.orchestration.engine.metering import Limits, Meter
from spanjury.orchestration.engine.progress import Progress, Tracker
from spanjury.orchestration.engine.stopping import FailurePolicy, StopToken
from spanjury.orchestration.engine.summary import Summary
from spanjury.orchestration.services.judging.job import Job
from spanjury.orchestration.services.runs.run_folder import manifest_of
from spanjury.orchestration.services.serving.batches.records import BatchFolder, BatchRecord
from spanjury.orchestration.wiring.config import PanelConfig
from spanjury.orchestration.wiring.sources import open_source, readable


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPlan:
    """The panels that judge batches, and the limits of their work.

    Of the batches, `most_running` are judged concurrently, and `most_waiting` may wait. A finished
    one is kept for `keep_days`. `limits` and `failures` apply to each session of a batch's run.
    """

    panels: Mapping[str, PanelConfig]
    aspects_files: tuple[Path, ...] = ()
    most_running: int = 2
    most_waiting: int = 100
    keep_days: float = 7.0
    limits: Limits = Limits()
    failures: FailurePolicy = FailurePolicy()


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """The parameters of a submitted batch; as in `Job`."""

    owner: str
    panel: str
    task: str | None = None
    aspects: tuple[str, ...] = ()
    rubric: Rubric | None = None
    skip_bad_rows: bool = False


class BadRowsError(DataError):
    """Some rows of a batch cannot be read; `rows` holds the problem of each."""

    def __init__(self, rows: tuple[str, ...]) -> None:
        super().__init__(f"{len(rows)} rows cannot be read")
        self.rows = rows


class BusyError(ConfigError):
    """The maximum number of batches is waiting."""


@dataclass(slots=True, kw_only=True, eq=False)
class Batch:
    """A batch, as held by the service that runs it."""

    record: BatchRecord
    folder: BatchFolder
    summary: Summary = field(default_factory=Summary)
    tracker: Tracker | None = None
    meter: Meter | None = None
    stop_token: StopToken | None = None
    is_ending: bool = False
    is_cancelled: bool = False
    is_removed: bool = False
    changed: Event = field(default_factory=Event)

    @property
    def done(self) -> int:
        """The number of results so far."""
        return self.record.done if self.record.state.is_end else self.summary.whole.total

    @property
    def outcomes(self) -> Mapping[str, int]:
        """The number of results of each outcome."""
        if self.record.state.is_end:
            return self.record.outcomes
        return {outcome.value: count for outcome, count in self.summary.outcomes.items()}

    def progress(self) -> Progress | None:
        """Return the progress while the batch runs; None otherwise."""
        return None if self.tracker is None else self.tracker.progress()

    def wants(self, segment: Segment) -> bool:
        """Return False: rows suffice as they were written."""
        del segment
        return False

    def count(self, row: FinishedRow) -> None:
        """Count a remembered row."""
        self.summary.count(row.figures)
        self.note()

    def show(self, result: Result) -> None:
        """Count a result."""
        self.summary.add(result)
        self.note()

    def note(self) -> None:
        """Wake all waiters for news."""
        self.changed.set()
        self.changed = Event()


def require_storable(panel: PanelConfig) -> None:
    """Raise `ConfigError` if `panel` holds a secret, which would be stored with each batch."""
    manifest_of(Job(data=Path("rows.jsonl"), panel=panel, output=Path("results.jsonl")))


def examined(job: Job) -> tuple[int, int, int]:
    """Read the rows of `job` once, before any is judged.

    Return the numbers of rows, of their future results, and of skipped rows.

    Raise `BadRowsError` if rows cannot be read and may not be skipped, or no row can be read, and
    `ConfigError` if a task or an aspect is unknown.
    """
    bad: list[DataError] = []
    try:
        segments = readable(open_source(job.data), bad)
        seen: set[str] = set()
        assessments = 0
        paired = pair(segments, job.catalogue, task=job.task, aspects=job.asked_aspects)
        for segment, _ in paired:
            seen.add(segment.segment_id)
            assessments += 1
    except DataError as error:
        raise BadRowsError((_without_path(error, job.data),)) from error
    if bad and not (job.skip_bad_rows and assessments):
        raise BadRowsError(tuple(_without_path(row, job.data) for row in bad))
    return len(seen), assessments, len(bad)


def _without_path(error: DataError, path: Path) -> str:
    """Return the problem of a row, without the folders of this machine."""
    return str(error).removeprefix(str(path)).lstrip(":, ")
