"""A job: judge the rows of a file and write the results, however it was asked for."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

from spanjury.judges.core import Aspect, DataError, Outcome, Result, Segment
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.batch import evaluate
from spanjury.orchestration.config import PanelConfig
from spanjury.orchestration.memory import FAILED, UNANSWERED
from spanjury.orchestration.pairing import pair
from spanjury.orchestration.wiring import (
    open_configured_panel,
    open_memory,
    open_results,
    open_source,
)

__all__ = ["Job", "Plan", "plan", "run"]

_AGAIN: Mapping[str, frozenset[Outcome]] = {
    "unanswered": UNANSWERED,
    "failed": FAILED,
    "none": frozenset(),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What is judged, by whom, and where the results go.

    Parameters
    ----------
    data
        A file that a source can read.
    panel
        Who judges.
    output
        A file for the result rows.
    task, aspects
        As in `pairing.pair`.
    aspects_files
        TOML files that add tasks and aspects.
    limit
        How many rows are judged; None for all.
    skip_bad_rows
        Leave out rows that cannot be read, where they otherwise end the job.
    memory
        A file that keeps what judges and models say, so that a run over it asks nobody
        twice; None to keep nothing.
    again
        Which remembered reports are asked for again: those that nobody answered, all that
        failed, or none.
    """

    data: Path
    panel: PanelConfig
    output: Path
    task: str | None = None
    aspects: tuple[str, ...] = ()
    aspects_files: tuple[Path, ...] = ()
    limit: int | None = None
    skip_bad_rows: bool = False
    memory: Path | None = None
    again: Literal["unanswered", "failed", "none"] = "unanswered"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a job comes to before anything is judged: assessments, and rows left out."""

    assessments: int
    bad_rows: tuple[DataError, ...]


def plan(job: Job) -> Plan:
    """Read the data once, so that what is wrong with it is known before a call is paid.

    Raises
    ------
    DataError
        If the file or, unless they are skipped, a row cannot be read; or no row is left.
    ConfigError
        If a task or an aspect is unknown.
    """
    bad: list[DataError] = []
    assessments = sum(1 for _ in _pairs(job, bad))
    if not assessments:
        raise DataError(f"{job.data}: no row can be judged")
    return Plan(assessments=assessments, bad_rows=tuple(bad))


async def run(job: Job, show: Callable[[Result], None]) -> None:
    """Judge; every result is on disk before `show` sees it.

    Raises
    ------
    EvaluationError
        If the panel cannot be opened, or results cannot be written. What was judged by
        then stays in the part file of the output.
    """
    with ExitStack() as stack:
        memory = stack.enter_context(open_memory(job.memory)) if job.memory else None
        results = stack.enter_context(open_results(job.output))

        def write(result: Result) -> None:
            results.append(result)
            show(result)

        panel_opened = open_configured_panel(job.panel, memory=memory, again=_AGAIN[job.again])
        async with panel_opened as panel:
            await evaluate(panel, _pairs(job, []), write=write)


def _pairs(job: Job, bad: list[DataError]) -> Iterator[tuple[Segment, Aspect]]:
    rows = islice(open_source(job.data), job.limit)
    segments = _readable(rows, bad, skip=job.skip_bad_rows)
    catalogue = Catalogue.load(*job.aspects_files)
    return pair(segments, catalogue, task=job.task, aspects=job.aspects)


def _readable(
    rows: Iterator[Segment | DataError], bad: list[DataError], *, skip: bool
) -> Iterator[Segment]:
    for row in rows:
        if isinstance(row, Segment):
            yield row
        elif skip:
            bad.append(row)
        else:
            raise row
