"""A job: the data to judge, the panel, and the files for the results; and its plan."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

from spanjury.judges.core import Aspect, ConfigError, DataError, Segment, is_whole
from spanjury.judges.core.lazy import lazily
from spanjury.judges.tasks import Catalogue, Rubric
from spanjury.orchestration.engine.batch import pair
from spanjury.orchestration.engine.metering import Limits
from spanjury.orchestration.engine.sharding import Shard
from spanjury.orchestration.engine.stopping import FailurePolicy
from spanjury.orchestration.wiring.config import PanelConfig
from spanjury.orchestration.wiring.sources import by_source, open_source, readable

with lazily():
    from spanjury.orchestration.engine import made_for
    from spanjury.orchestration.wiring import calibrations

_HELD = 2**25
"""Most characters of the segments that are kept in memory between the plan of a job and its run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The data to judge, the panel, and the files for the results.

    Parameters
    ----------
    task, aspects
        As in `batch.pair`.
    columns
        The names of the columns of `data`, as in `open_source`.
    limit
        The number of rows to judge, or to distribute over shards; None for all.
    order
        ``source`` to judge and write rows with the same inputs consecutively.
    skip_bad_rows
        Skip rows that cannot be read; otherwise they end the job.
    copy
        A second file for the results, besides `output` in the folder of the run; None for no copy.
    memory
        A file that stores reports and replies, so that a second run over it requests none again;
        None to store nothing.
    again
        The remembered reports to make again: those without an answer, all that failed, or none.
    silent
        No model is called: results are made again from remembered replies.
    resumes
        Part files of the results stay until as many rows are written again.
    limits
        The limits of cost, tokens and time, for each session of the job.
    batch_api
        Models are called through batch APIs, which answer within a day at half the price.
    """

    data: Path
    panel: PanelConfig
    output: Path
    copy: Path | None = None
    task: str | None = None
    aspects: tuple[str, ...] = ()
    aspects_files: tuple[Path, ...] = ()
    rubric: Rubric | None = None
    columns: tuple[str, ...] = ()
    limit: int | None = None
    shard: Shard | None = None
    order: Literal["file", "source"] = "file"
    skip_bad_rows: bool = False
    memory: Path | None = None
    again: Literal["unanswered", "failed", "none"] = "unanswered"
    silent: bool = False
    resumes: bool = False
    limits: Limits = Limits()
    failures: FailurePolicy = FailurePolicy()
    batch_api: bool = False

    @property
    def outputs(self) -> tuple[Path, ...]:
        """The files of the results, the copy last."""
        return (self.output,) if self.copy is None else (self.output, self.copy)

    @property
    def catalogue(self) -> Catalogue:
        """The available tasks and aspects; raises the errors of `Catalogue.load`."""
        return Catalogue.load(*self.aspects_files).with_rubric(self.rubric)

    @property
    def asked_aspects(self) -> tuple[str, ...]:
        """The names of the requested aspects, those of the rubric last."""
        return (*self.aspects, *(self.rubric.aspects if self.rubric else ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The size of a job, known before anything is judged, and the rows that are skipped.

    `computed` of the `assessments` need no judge, since they follow from others. `segments` are
    those of the job, if they are few enough to be kept in memory until it runs. `likely_tasks` are
    the inferred tasks of rows that name none.
    """

    assessments: int
    bad_rows: tuple[DataError, ...]
    segments: tuple[Segment, ...] | None = None
    computed: int = 0
    likely_tasks: tuple[str, ...] = ()

    @property
    def asked(self) -> int:
        """The number of assessments that need judges."""
        return self.assessments - self.computed


def plan(job: Job) -> Plan:
    """Read the data once, so that errors in them are found before a call is paid.

    Raise `DataError` if the file cannot be read, if a row cannot be read and is not skipped, or if
    no row is left, except for a shard. Raise `ConfigError` if a task or an aspect is unknown, or if
    the panel's calibration or cascade covers none of the aspects.
    """
    bad: list[DataError] = []
    held = _Held()
    read = held.holding(_segments(job, bad))
    judged: Counter[tuple[str, str]] = Counter()
    likely: set[str] = set()
    for segment, aspect in _paired(job, read):
        judged[aspect.task.name, aspect.name] += 1
        if not (job.task or segment.task):
            likely.add(aspect.task.name)
    assessments = judged.total()
    if job.panel.is_fitted:
        check_aspects(job.panel, judged)
    if not assessments and job.shard is None:
        raise DataError(f"{job.data}: no row can be judged")
    return Plan(
        assessments=assessments,
        bad_rows=tuple(bad),
        segments=held.all,
        computed=sum(count for (_, name), count in judged.items() if _is_rubric(job, name)),
        likely_tasks=tuple(sorted(likely)),
    )


def _is_rubric(job: Job, aspect: str) -> bool:
    return job.rubric is not None and aspect == job.rubric.aspect


class _Held:
    """Segments that are kept while their total length is within `_HELD`."""

    def __init__(self) -> None:
        self._segments: list[Segment] | None = []
        self._room = _HELD

    @property
    def all(self) -> tuple[Segment, ...] | None:
        """All segments seen so far, or None if they were too long."""
        return None if self._segments is None else tuple(self._segments)

    def holding(self, segments: Iterable[Segment]) -> Iterator[Segment]:
        """Yield `segments`, and keep them."""
        for segment in segments:
            if self._segments is not None:
                texts = (segment.output, *segment.inputs.values(), *segment.references)
                self._room -= sum(map(len, texts))
                self._segments.append(segment)
                if self._room < 0:
                    self._segments = None
            yield segment


def pairs(job: Job, *, planned: Plan | None = None) -> Iterator[tuple[Segment, Aspect]]:
    """Yield the pairs that `job` judges, in its order, skipping unreadable rows if it allows.

    Raise the errors of `plan` when the fault is reached.
    """
    held = planned.segments if planned is not None else None
    segments = _segments(job, []) if held is None else iter(held)
    return _paired(job, by_source(segments) if job.order == "source" else segments)


def _segments(job: Job, bad: list[DataError]) -> Iterator[Segment]:
    """Yield the segments of `job` in the order of the file; add skipped rows to `bad`."""
    rows = islice(open_source(job.data, columns=job.columns), job.limit)
    segments = readable(rows, bad if job.skip_bad_rows else None)
    return segments if job.shard is None else job.shard.of_rows(segments)


def _paired(job: Job, segments: Iterable[Segment]) -> Iterator[tuple[Segment, Aspect]]:
    return pair(segments, job.catalogue, task=job.task, aspects=job.asked_aspects)


def check_limit(limit: object) -> None:
    """Raise `ConfigError` unless `limit` is None or a number of rows, 1 or more."""
    if limit is not None and not (is_whole(limit) and limit >= 1):
        raise ConfigError(f"limit is a whole number of rows, 1 or more, got {limit!r}")


def check_aspects(panel: PanelConfig, judged: Iterable[tuple[str, str]]) -> None:
    """Raise `ConfigError` if the panel's calibration or cascade covers no judged aspect.

    `judged` holds pairs of task and aspect.
    """
    names = [made_for.aspect_key(*pair) for pair in judged]
    if panel.calibration is not None:
        calibration = calibrations.read_calibration(panel.calibration)
        _check(names, calibration.aspects, what=f"the calibration {panel.calibration} is of")
    if panel.cascade is not None and panel.cascade.aspect:
        _check(names, [panel.cascade.aspect], what="the cascade was fitted to")


def _check(names: Collection[str], fitted: Collection[str], *, what: str) -> None:
    if names and not any(name in fitted for name in names):
        raise ConfigError(f"{what} {', '.join(fitted)}, and {', '.join(names)} is judged")
