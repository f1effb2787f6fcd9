"""Judge the rows of a job and write the results; shared by the command line and Python."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import Protocol

from anyio import to_thread

from spanjury.judges.core import UNANSWERED, Aspect, Outcome, OverBudgetError, Result, Segment
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.engine.batch import assess_in_order
from spanjury.orchestration.engine.deferral import Deferral
from spanjury.orchestration.engine.finished_rows import FinishedRow, FinishedRows
from spanjury.orchestration.engine.memory import FAILED
from spanjury.orchestration.engine.metering import Meter
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.engine.rubric import TextCriteria, concluded
from spanjury.orchestration.engine.stopping import StopToken
from spanjury.orchestration.engine.summary import figures_of
from spanjury.orchestration.services.judging.job import Job, Plan, pairs
from spanjury.orchestration.services.judging.session import RunSession, open_session
from spanjury.orchestration.wiring.config import PanelConfig
from spanjury.orchestration.wiring.results import ResultWriter, result_line

with lazily():
    from spanjury.orchestration.services.judging import batches as rounds

_AGAIN: Mapping[str, frozenset[Outcome]] = {
    "unanswered": UNANSWERED,
    "failed": FAILED,
    "none": frozenset(),
}


class RowView(Protocol):
    """A view of results for which the stored row of a text may suffice."""

    def wants(self, segment: Segment) -> bool:
        """Return whether the view needs the full results of `segment`; called in order of rows."""

    def count(self, row: FinishedRow) -> None:
        """Count a row that was taken from memory as written, in order among the results."""


async def run(
    job: Job,
    show: Callable[[Result], None],
    *,
    rows: RowView | None = None,
    planned: Plan | None = None,
    stop_token: StopToken | None = None,
    meter: Meter | None = None,
    batches: "rounds.Batches | None" = None,
    begun: Callable[[], None] = lambda: None,
) -> None:
    """Judge the rows of a job; every result is on disk before `show` receives it.

    The data are read once more unless `planned` is given. `show` receives every result, in the
    order of the data; `rows` receives the row that an earlier run over the same memory wrote,
    instead of a result that it does not want. Without `rows`, every result is made again from
    remembered replies. `begun` is called before the first row is written or the first batch is
    sent: if the run is then killed, or the disk is full, the run must be on record. `meter` counts
    calls and enforces the limits of cost and tokens; it should have been created with those of the
    job. `batches` answer requests without remembered replies, instead of the models.

    Raise `RunStoppedError` if a limit or the stop token ended the run early, `RunFailedError` if a
    model cannot be used or is silent for too long, and `EvaluationError` if the panel cannot be
    opened or results cannot be written. In any case, the results so far stay in the part files of
    the outputs.
    """
    read, again, deferral = partial(pairs, job, planned=planned), _AGAIN[job.again], None
    with ExitStack() as stack:
        session = stack.enter_context(open_session(job, stop_token=stop_token, meter=meter))
        if batches is not None:
            asking = partial(rounds.ask_in_rounds, batches, session, read)
            asking = partial(asking, panel=job.panel, again=again, begun=begun)
            deferral = await session.run(asking)
        # The user watches the copy. It is closed first, so that it reports scores that would be
        # lost.
        files = [
            stack.enter_context(ResultWriter(path, resumes=job.resumes)) for path in job.outputs
        ]

        def write(row: JudgedRow) -> None:
            begun()
            for results in files:
                results.append_line(row.line)
            if isinstance(row.seen, Result):
                show(row.seen)
            elif rows is not None:
                rows.count(row.seen)

        await judge_pairs(
            session,
            read,
            panel=job.panel,
            write=write,
            rows=rows,
            again=again,
            silent=job.silent,
            deferral=deferral,
        )
        if batches is not None:
            await batches.close(session)


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """A line of the results, and its result or, if it was remembered, its row."""

    line: bytes
    seen: Result | FinishedRow


@dataclass(frozen=True, slots=True)
class _RubricDue:
    """A rubric whose result follows from the results of its criteria, which are written first."""

    segment: Segment
    aspect: Aspect


async def judge_pairs(  # noqa: PLR0913  half of them have defaults
    session: RunSession,
    read: Callable[[], Iterator[tuple[Segment, Aspect]]],
    *,
    panel: PanelConfig,
    write: Callable[[JudgedRow], None],
    rows: RowView | None = None,
    room: Callable[[], Awaitable[None]] | None = None,
    again: frozenset[Outcome] = UNANSWERED,
    silent: bool = False,
    deferral: Deferral | None = None,
) -> None:
    """Judge the pairs of `read`, and write a row for each, in order.

    `read` is called in a thread: sorting rows requires reading all of them first. `room` returns
    once another pair may be judged.

    Raise the errors of `run`, which explains `rows`.
    """

    def begin() -> tuple[list[tuple[Segment, Aspect]], Iterator[tuple[Segment, Aspect]]]:
        iterator = read()
        return list(islice(iterator, 1)), iterator

    async def judge() -> None:
        opening = session.open_panel(panel, again=again, silent=silent, deferral=deferral)
        async with opening as opened:
            assess = _assessing(opened, session, rows)

            async def assess_in_turn(segment: Segment, aspect: Aspect) -> JudgedRow | _RubricDue:
                if room is not None:
                    await room()
                return await assess(segment, aspect)

            first, rest = await to_thread.run_sync(begin)  # in a thread, so that Ctrl-C works
            for segment, _ in first:
                opened.begin_budget(segment)  # refused if it is too small for the first text
            await assess_in_order(
                chain(first, rest),
                assess_in_turn,
                write=_concluding(write),
                workers=panel.workers,
                stop_token=session.stop_token,
            )

    await session.run(judge)


def _concluding(write: Callable[[JudgedRow], None]) -> Callable[[JudgedRow | _RubricDue], None]:
    """Wrap `write` so that it adds rows of rubrics, unless a criterion of the text is missing."""
    criteria = TextCriteria[Result | FinishedRow]()

    def written(row: JudgedRow | _RubricDue) -> None:
        if isinstance(row, JudgedRow):
            write(row)
            if row.seen.aspect.rubric:
                criteria.take(row.seen.segment, row.seen.aspect, row.seen)
        elif (parts := criteria.of(row.segment, row.aspect)) is not None:
            write(_rubric_row(row, parts))

    return written


def _rubric_row(due: _RubricDue, parts: Mapping[str, Result | FinishedRow]) -> JudgedRow:
    """Return the row of a rubric, as a remembered row if all its criteria are remembered."""
    results = {
        name: part if isinstance(part, Result) else part.result() for name, part in parts.items()
    }
    report = concluded(due.aspect, {name: result.report for name, result in results.items()})
    result = Result(segment=due.segment, aspect=due.aspect, report=report)
    line = result_line(result)
    if any(isinstance(part, Result) for part in parts.values()):
        return JudgedRow(line, result)
    return JudgedRow(line, FinishedRow(due.segment, due.aspect, line, figures_of(result)))


def _assessing(
    panel: Panel, session: RunSession, view: RowView | None
) -> Callable[[Segment, Aspect], Awaitable[JudgedRow | _RubricDue]]:
    """Return a function that assesses a pair, or recalls its row if that suffices for `view`."""
    memory = session.memory
    finished = None if memory is None else FinishedRows(memory, panel, write=result_line)

    async def judged(segment: Segment, aspect: Aspect) -> Result:
        report = await panel.assess(segment, aspect)
        return Result(segment=segment, aspect=aspect, report=report)

    async def made_again(row: FinishedRow) -> Result:
        """Return the result of `row`, with the reports of the seats unless they are lost."""
        try:
            with session.meter.refusing():
                return await judged(row.segment, row.aspect)
        except OverBudgetError:
            return row.result()

    async def assess(segment: Segment, aspect: Aspect) -> JudgedRow | _RubricDue:
        if aspect.criteria:
            return _RubricDue(segment, aspect)
        if finished is None:
            result = await judged(segment, aspect)
            return JudgedRow(result_line(result), result)
        key = finished.key(segment, aspect)
        row = finished.recall(key, segment, aspect)
        if row is None:
            result = await judged(segment, aspect)
            line = result_line(result)
            await finished.keep(key, result, line)
            return JudgedRow(line, result)
        if view is None or view.wants(segment):
            return JudgedRow(row.line, await made_again(row))
        spent = ((seat, usage) for seat, _, usage in row.figures.seats)
        panel.note_remembered(segment.system, spent)
        return JudgedRow(row.line, row)

    return assess
