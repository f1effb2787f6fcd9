"""A job: judge the rows of a file and write the results, for the command line and Python alike."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Literal, TypeVar

from anyio import to_thread

from spanjury.judges.core import UNANSWERED, Aspect, DataError, Outcome, Result, Segment
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.engine.batch import evaluate, pair
from spanjury.orchestration.engine.memory import FAILED
from spanjury.orchestration.engine.metering import Limits, Meter
from spanjury.orchestration.engine.sharding import Shard
from spanjury.orchestration.engine.stopping import (
    FailurePolicy,
    StopToken,
)
from spanjury.orchestration.services.session import open_session
from spanjury.orchestration.wiring.config import PanelConfig
from spanjury.orchestration.wiring.results import open_results
from spanjury.orchestration.wiring.sources import by_source, open_source

T = TypeVar("T")

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
    """The size of a job, known before anything is judged, and the rows that are skipped."""

    assessments: int
    bad_rows: tuple[DataError, ...]


def plan(job: Job) -> Plan:
    """Read the data once, so that what is wrong with it is known before a call is paid.

    Raises
    ------
    DataError
        If the file or, unless they are skipped, a row cannot be read; or no row is left,
        but for a shard, which may have none.
    ConfigError
        If a task or an aspect is unknown.
    """
    bad: list[DataError] = []
    assessments = sum(1 for _ in pairs(replace(job, order="file"), bad))
    if not assessments and job.shard is None:
        raise DataError(f"{job.data}: no row can be judged")
    return Plan(assessments=assessments, bad_rows=tuple(bad))


async def run(
    job: Job,
    show: Callable[[Result], None],
    *,
    stop_token: StopToken | None = None,
    meter: Meter | None = None,
) -> None:
    """Judge; every result is on disk before `show` sees it.

    Parameters
    ----------
    show
        Is given every result, in the order of the data.
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

        def write(result: Result) -> None:
            results.append(result)
            show(result)

        async def judge() -> None:
            again = _AGAIN[job.again]
            async with session.open_panel(job.panel, again=again, silent=job.silent) as panel:
                # To put rows in order, all must be read first: Ctrl-C must work meanwhile.
                ready = await to_thread.run_sync(_begun, pairs(job))
                await evaluate(
                    panel,
                    ready,
                    write=write,
                    workers=job.panel.workers,
                    stop_token=session.stop_token,
                )

        await session.run(judge)


def _begun(iterator: Iterator[T]) -> Iterator[T]:
    """Return what yields the same, its first value found already."""
    return chain(list(islice(iterator, 1)), iterator)


def pairs(job: Job, bad: list[DataError] | None = None) -> Iterator[tuple[Segment, Aspect]]:
    """Yield what `job` judges, in its order; rows that are skipped are added to `bad`.

    Raises
    ------
    DataError, ConfigError
        As in `plan`, when what is wrong is reached.
    """
    rows = islice(open_source(job.data, columns=job.columns), job.limit)
    segments = readable(rows, [] if bad is None else bad, skip=job.skip_bad_rows)
    if job.shard is not None:
        segments = job.shard.of_rows(segments)
    if job.order == "source":
        segments = by_source(segments)
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
