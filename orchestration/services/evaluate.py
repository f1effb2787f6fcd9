"""A job: judge the rows of a file and write the results, for the command line and Python alike."""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Literal, Protocol, TypeVar

from anyio import to_thread

from spanjury.judges.core import UNANSWERED, Aspect, DataError, Memory, Outcome, Result, Segment
from spanjury.judges.core.lazy import lazily
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.engine.batch import assess_in_order, pair
from spanjury.orchestration.engine.families import FamilyWatch
from spanjury.orchestration.engine.finished_rows import FinishedRow, FinishedRows
from spanjury.orchestration.engine.memory import FAILED
from spanjury.orchestration.engine.metering import Limits, Meter
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.engine.sharding import Shard
from spanjury.orchestration.engine.stopping import (
    FailurePolicy,
    StopToken,
)
from spanjury.orchestration.services.session import RunSession, open_session
from spanjury.orchestration.wiring.config import PanelConfig
from spanjury.orchestration.wiring.results import open_results, result_line
from spanjury.orchestration.wiring.sources import by_source, open_source

with lazily():
    from spanjury.orchestration.services import fitted_in_use

T = TypeVar("T")

_HELD = 2**25
"""Characters of the segments that are held from the plan of a job to its run."""

_AGAIN: Mapping[str, frozenset[Outcome]] = {
    "unanswered": UNANSWERED,
    "failed": FAILED,
    "none": frozenset(),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Data to judge, the panel that judges them, and where the results go.

    Parameters
    ----------
    data
        A file that a source can read.
    panel
        The judges.
    output
        A file for the result rows.
    task, aspects
        As in `batch.pair`.
    aspects_files
        TOML files that add tasks and aspects.
    columns
        The names of the columns of `data`, as in `open_source`.
    limit
        How many rows are judged, or dealt out to shards; None for all.
    shard
        The part of the rows that is judged; None for all of them.
    order
        ``source`` to judge, and write, rows with the same inputs one after the other.
    skip_bad_rows
        Skip rows that cannot be read, where they otherwise end the job.
    memory
        A file that keeps reports and replies, so that a run over it asks for none twice; None
        to keep nothing.
    again
        Which remembered reports are asked for again: those without an answer, all that failed,
        or none.
    silent
        No model is asked: results are made again of what is remembered.
    limits
        The limits of cost, tokens and time, each time the job is run.
    failures
        The measures against models that fail.
    """

    data: Path
    panel: PanelConfig
    output: Path
    task: str | None = None
    aspects: tuple[str, ...] = ()
    aspects_files: tuple[Path, ...] = ()
    columns: tuple[str, ...] = ()
    limit: int | None = None
    shard: Shard | None = None
    order: Literal["file", "source"] = "file"
    skip_bad_rows: bool = False
    memory: Path | None = None
    again: Literal["unanswered", "failed", "none"] = "unanswered"
    silent: bool = False
    limits: Limits = Limits()
    failures: FailurePolicy = FailurePolicy()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The size of a job, known before anything is judged, and the rows that are skipped.

    `segments` are those of the job, if they are few enough to be held until it is run.
    """

    assessments: int
    bad_rows: tuple[DataError, ...]
    segments: tuple[Segment, ...] | None = None


def plan(job: Job) -> Plan:
    """Read the data once, so that what is wrong with it is known before a call is paid.

    Raises
    ------
    DataError
        If the file or, unless they are skipped, a row cannot be read; or no row is left,
        but for a shard, which may have none.
    ConfigError
        If a task or an aspect is unknown, or the panel's calibration or cascade is of none.
    """
    bad: list[DataError] = []
    held = _Held()
    read = held.holding(_segments(job, bad))
    judged = Counter((aspect.task.name, aspect.name) for _, aspect in _paired(job, read))
    assessments = judged.total()
    if job.panel.is_fitted:
        fitted_in_use.check_aspects(job.panel, judged)
    if not assessments and job.shard is None:
        raise DataError(f"{job.data}: no row can be judged")
    return Plan(assessments=assessments, bad_rows=tuple(bad), segments=held.all)


class _Held:
    """Segments that are held while their texts are not too long together."""

    def __init__(self) -> None:
        self._segments: list[Segment] | None = []
        self._room = _HELD

    @property
    def all(self) -> tuple[Segment, ...] | None:
        """All that went by, or None if they were too many."""
        return None if self._segments is None else tuple(self._segments)

    def holding(self, segments: Iterable[Segment]) -> Iterator[Segment]:
        """Yield `segments`, and hold them."""
        for segment in segments:
            if self._segments is not None:
                texts = (segment.output, *segment.inputs.values(), *segment.references)
                self._room -= sum(map(len, texts))
                self._segments.append(segment)
                if self._room < 0:
                    self._segments = None
            yield segment


class RowView(Protocol):
    """A view of results that can do with less than a whole result."""

    def wants(self, segment: Segment) -> bool:
        """Say whether the results of `segment`, asked about in its turn, are to be shown."""
        ...

    def count(self, row: FinishedRow) -> None:
        """Take a row that was remembered as it was written, in its turn among the results."""
        ...


async def run(
    job: Job,
    show: Callable[[Result], None],
    *,
    rows: RowView | None = None,
    planned: Plan | None = None,
    stop_token: StopToken | None = None,
    meter: Meter | None = None,
) -> None:
    """Judge; every result is on disk before `show` sees it.

    Parameters
    ----------
    show
        Is given every result, in the order of the data.
    rows
        Is given, in place of a result that it does not want, the row that an earlier run over the
        same memory wrote; None to make every result again of what is remembered.
    planned
        The plan of this job; without it, the data are read once more.
    stop_token
        Ends the job early, once it is requested.
    meter
        Counts what models are asked, and keeps the limits of cost and tokens; it should
        have been given those of the job.

    Raises
    ------
    RunStoppedError
        If a limit or the stop token came before the end. As with every other error,
        what was judged by then stays in the part file of the output.
    RunFailedError
        If a model cannot be used, or does not answer for longer than is waited.
    EvaluationError
        If the panel cannot be opened, or results cannot be written.
    """
    opening = open_session(job, stop_token=stop_token, meter=meter)
    with opening as session, open_results(job.output) as results:

        def write(row: JudgedRow) -> None:
            results.append_line(row.line)
            if isinstance(row.seen, Result):
                show(row.seen)
            elif rows is not None:
                rows.count(row.seen)

        await judge_pairs(
            session,
            partial(pairs, job, planned=planned),
            panel=job.panel,
            write=write,
            rows=rows,
            again=_AGAIN[job.again],
            silent=job.silent,
        )


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """A line of the results, and what is seen of it."""

    line: bytes
    seen: Result | FinishedRow


async def judge_pairs(
    session: RunSession,
    read: Callable[[], Iterator[tuple[Segment, Aspect]]],
    *,
    panel: PanelConfig,
    write: Callable[[JudgedRow], None],
    rows: RowView | None = None,
    room: Callable[[], Awaitable[None]] | None = None,
    again: frozenset[Outcome] = UNANSWERED,
    silent: bool = False,
) -> None:
    """Judge what `read` yields, and write a row for each pair, in its order.

    Raise as `run` does, which explains `rows`.

    Parameters
    ----------
    session
        The run that this is the work of.
    read
        Begins to read, in a thread: to put rows in order, all must be read first.
    room
        Returns once another pair may be judged; None where one always may.
    again, silent
        As in `RunSession.open_panel`.
    """

    async def judge() -> None:
        async with session.open_panel(panel, again=again, silent=silent) as opened:
            assess = _assessing(opened, session.memory, rows)
            begun = await to_thread.run_sync(_begun, read)  # Ctrl-C must work meanwhile
            await assess_in_order(
                _affordable(begun, opened),
                assess if room is None else _in_turn(assess, room),
                write=write,
                workers=panel.workers,
                stop_token=session.stop_token,
            )

    await session.run(judge)


def _assessing(
    panel: Panel, memory: Memory | None, view: RowView | None
) -> Callable[[Segment, Aspect], Awaitable[JudgedRow]]:
    """Return what makes the row of a pair, or takes it from `memory` if `view` can do with it."""
    finished = None if memory is None else FinishedRows(memory, panel, write=result_line)

    families = FamilyWatch({seat.name: seat.signature for seat in panel.seats})

    async def judged(segment: Segment, aspect: Aspect) -> Result:
        families.see(segment.system)
        report = await panel.assess(segment, aspect)
        return Result(segment=segment, aspect=aspect, report=report)

    async def assess(segment: Segment, aspect: Aspect) -> JudgedRow:
        if finished is None:
            result = await judged(segment, aspect)
            return JudgedRow(result_line(result), result)
        wanted = view is None or view.wants(segment)
        key = finished.key(segment, aspect)
        row = finished.recall(key, segment, aspect)
        if row is not None and not wanted:
            panel.count_spent((seat, usage) for seat, _, usage in row.figures.seats)
            return JudgedRow(row.line, row)
        result = await judged(segment, aspect)
        line = row.line if row is not None else result_line(result)
        if row is None:
            await finished.keep(key, result, line)
        return JudgedRow(line, result)

    return assess


def _affordable(
    pairs: Iterator[tuple[Segment, Aspect]], panel: Panel
) -> Iterator[tuple[Segment, Aspect]]:
    """Return what yields the same; raise `ConfigError` if a budget does not allow for the first."""
    first = list(islice(pairs, 1))
    for segment, _ in first:
        panel.require_budget(segment)
    return chain(first, pairs)


def _in_turn(
    assess: Callable[[Segment, Aspect], Awaitable[JudgedRow]],
    room: Callable[[], Awaitable[None]],
) -> Callable[[Segment, Aspect], Awaitable[JudgedRow]]:
    """Return what waits for room before it assesses."""

    async def assess_in_turn(segment: Segment, aspect: Aspect) -> JudgedRow:
        await room()
        return await assess(segment, aspect)

    return assess_in_turn


def _begun(read: Callable[[], Iterator[T]]) -> Iterator[T]:
    """Begin to read, and return what yields the same, its first value found already."""
    iterator = read()
    return chain(list(islice(iterator, 1)), iterator)


def pairs(job: Job, *, planned: Plan | None = None) -> Iterator[tuple[Segment, Aspect]]:
    """Yield what `job` judges, in its order; rows that cannot be read are skipped, if they may be.

    Raises
    ------
    DataError, ConfigError
        As in `plan`, when what is wrong is reached.
    """
    held = planned.segments if planned is not None else None
    segments = _segments(job, []) if held is None else iter(held)
    return _paired(job, by_source(segments) if job.order == "source" else segments)


def _segments(job: Job, bad: list[DataError]) -> Iterator[Segment]:
    """Yield the segments of `job` in the order of the file; add rows that are skipped to `bad`."""
    rows = islice(open_source(job.data, columns=job.columns), job.limit)
    segments = readable(rows, bad, skip=job.skip_bad_rows)
    return segments if job.shard is None else job.shard.of_rows(segments)


def _paired(job: Job, segments: Iterable[Segment]) -> Iterator[tuple[Segment, Aspect]]:
    catalogue = Catalogue.load(*job.aspects_files)
    return pair(segments, catalogue, task=job.task, aspects=job.aspects)


def readable(
    rows: Iterable[Segment | DataError], bad: list[DataError], *, skip: bool
) -> Iterator[Segment]:
    """Yield the segments among `rows`; to `skip` others, add them to `bad`, else raise them."""
    for row in rows:
        if isinstance(row, Segment):
            yield row
        elif skip:
            bad.append(row)
        else:
            raise row
