"""Evaluate many texts from Python: reports arrive as they are made, in the order of the data.

The batch runs in a thread with its own event loop. So the caller's loop stays free while rules and
encoders compute, the caller may leave at any time, and asyncio and trio behave the same.
"""

import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import partial, wraps
from html import escape
from itertools import groupby, islice
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Literal, ParamSpec, get_args, overload

import anyio
from anyio import CancelScope, to_thread

from spanjury.judges.core import (
    Aspect,
    ConfigError,
    Decision,
    Result,
    Segment,
    check_arguments,
    choices_for,
    counted,
    repeatable,
    shown,
)
from spanjury.judges.core.lazy import library
from spanjury.judges.tasks import Catalogue, Rubric
from spanjury.orchestration.engine.batch import pair
from spanjury.orchestration.engine.metering import Limits, Meter
from spanjury.orchestration.engine.progress import Progress, Tracker
from spanjury.orchestration.engine.stopping import GRACE, FailurePolicy, StopToken, run_watched
from spanjury.orchestration.engine.summary import Summary
from spanjury.orchestration.services.judging.check import Request, RubricLike
from spanjury.orchestration.services.judging.evaluate import JudgedRow, judge_pairs
from spanjury.orchestration.services.judging.job import check_limit
from spanjury.orchestration.services.judging.panels import (
    Judges,
    Models,
    panel_config,
    require_model,
)
from spanjury.orchestration.services.judging.session import open_session
from spanjury.orchestration.services.judging.synchronous import synchronous
from spanjury.orchestration.services.judging.text_report import TextReport
from spanjury.orchestration.studies.failing.conditions import Failure, failing
from spanjury.orchestration.wiring.config import PanelConfig
from spanjury.orchestration.wiring.read_results import SPAN_COLUMNS, span_records
from spanjury.orchestration.wiring.results import ResultWriter
from spanjury.orchestration.wiring.sources import columns_for, open_rows, open_source, readable

_AHEAD = 256
"""Reports that may be queued for the caller before the batch pauses."""
_TICK = 0.02
"""Seconds between two checks of whether the caller has made room or has left."""
P = ParamSpec("P")
_Rows = Literal["assessments", "spans"]
_COLUMNS = (
    *("id", "system", "task", "aspect", "score", "outcome", "decision"),
    *("error_probability", "spans", "worst_severity", "reason", "output"),
)


class TextReports(Sequence[TextReport]):
    """Reports on several texts, in the order of the data."""

    def __init__(self, reports: Iterable[TextReport]) -> None:
        self._reports = tuple(reports)

    @overload
    def __getitem__(self, index: int) -> TextReport: ...
    @overload
    def __getitem__(self, index: slice) -> "TextReports": ...
    def __getitem__(self, index: int | slice) -> "TextReport | TextReports":
        """Return the report at `index`, or those of a slice."""
        if isinstance(index, slice):
            return TextReports(self._reports[index])
        return self._reports[index]

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self._reports)

    @property
    def results(self) -> tuple[Result, ...]:
        """The results of all texts, text by text and aspect by aspect."""
        return tuple(result for report in self._reports for result in report.results)

    def failing(self, *conditions: str) -> list[Failure]:
        """Return the results that meet any of `conditions`.

        Conditions are such as ``"severity>=4"`` or ``"decision=faulty"``; ``docs/runs.md`` lists
        the fields. Raise `ConfigError` if a condition cannot be parsed.
        """
        return failing(self.results, *conditions)

    def rows(self) -> list[dict[str, object]]:
        """Return a flat row for each result, in the form that `to_pandas` and `to_polars` use."""
        return [_flat(result) for result in self.results]

    def span_rows(self) -> list[dict[str, object]]:
        """Return a flat row for each error span, as ``spanjury export --rows spans`` writes it."""
        return [
            dict(zip(SPAN_COLUMNS, record, strict=True))
            for result in self.results
            for record in span_records(result)
        ]

    def to_pandas(self, *, rows: _Rows = "assessments") -> Any:  # noqa: ANN401  may be absent
        """Return a `pandas.DataFrame` with a row for each text and aspect, or for each error span.

        Raise `ConfigError` if pandas is not installed, or `rows` is another word.
        """
        return library("pandas", package="pandas").DataFrame(self._columns(rows))

    def to_polars(self, *, rows: _Rows = "assessments") -> Any:  # noqa: ANN401  may be absent
        """Return a `polars.DataFrame` with a row for each text and aspect, or for each error span.

        Raise `ConfigError` if polars is not installed, or `rows` is another word.
        """
        return library("polars", package="polars").DataFrame(self._columns(rows))

    def _columns(self, rows: _Rows) -> dict[str, list[object]]:
        if rows not in get_args(_Rows):
            raise ConfigError(f"rows: {choices_for(rows, get_args(_Rows))}")
        is_of_spans = rows == "spans"
        names = SPAN_COLUMNS if is_of_spans else _COLUMNS
        flat = self.span_rows() if is_of_spans else self.rows()
        return {name: [row[name] for row in flat] for name in names}

    def __repr__(self) -> str:
        """Return the number of texts and the counts of their decisions."""
        counts = {decision.value: 0 for decision in Decision} | {"no decision": 0}
        for report in self._reports:
            counts[report.decision.value if report.decision else "no decision"] += 1
        decided = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
        texts = counted(len(self), "text")
        return f"<TextReports: {texts}; {decided or 'none'}>"

    def _repr_html_(self) -> str:
        """Return a table for a notebook."""
        head = "".join(f"<th>{name}</th>" for name in _COLUMNS)
        rows = "".join(
            "<tr>" + "".join(f"<td>{_cell(row[name])}</td>" for name in _COLUMNS) + "</tr>"
            for row in self.rows()
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _flat(result: Result) -> dict[str, object]:
    report = result.report
    severities = [span.severity for span in report.spans if span.severity is not None]
    values = (
        *(result.segment.segment_id, result.segment.system, result.aspect.task.name),
        *(result.aspect.name, report.score, report.outcome.value),
        *(report.decision.value if report.decision else None, report.error_probability),
        *(len(report.spans), max(severities, default=None), report.reason, result.segment.output),
    )
    return dict(zip(_COLUMNS, values, strict=True))


def _cell(value: object) -> str:
    text = "" if value is None else f"{value:.2f}" if isinstance(value, float) else str(value)
    return f"<bdi>{escape(shown(text))}</bdi>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The panel of a batch and the terms of its run, as explained in `Job`.

    `output` is None to write no results, and `memory` is None to remember nothing.
    """

    panel: PanelConfig
    output: Path | None = None
    memory: Path | None = None
    limits: Limits = Limits()
    failures: FailurePolicy = FailurePolicy()


class BatchThread:
    """A running batch: it starts when created, and ends when all is taken or the caller leaves.

    `read`, which is called in the thread, begins to read the texts; `total` is the number of
    assessments.
    """

    def __init__(self, terms: Terms, read: Callable[[], Iterator[Request]], *, total: int) -> None:
        self._terms = terms
        self._read = read
        self._stop = StopToken()
        self._meter = Meter(limits=terms.limits, stop_token=self._stop)
        self._summary = Summary()
        self._tracker = Tracker(total=total, summary=self._summary, meter=self._meter)
        self._aspects: dict[int, int] = {}  # identity of a segment -> number of its aspects
        self._held: list[Result] = []
        self._reports: SimpleQueue[TextReport | None] = SimpleQueue()
        self._made = self._taken = 0
        self._has_left = False
        self._has_room: anyio.Event | None = None
        self._error: Exception | None = None
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def progress(self) -> Progress:
        """Return the progress of the batch."""
        return self._tracker.progress()

    def take(self) -> list[TextReport]:
        """Wait for a report, and return all that are ready, in order; an empty list at the end.

        A text has no report if the batch ended before every aspect was judged. Raise the error that
        ended the batch, after its reports.
        """
        reports = [self._reports.get()]
        with suppress(Empty):
            while reports[-1] is not None:
                reports.append(self._reports.get_nowait())
        if reports[-1] is None:
            self._reports.put(None)  # for the next call
        taken = [report for report in reports if report is not None]
        self._taken += len(taken)
        if not taken and self._error is not None:
            raise self._error
        return taken

    def leave(self) -> None:
        """End the batch and its running calls, and wait for it for at most `GRACE` seconds."""
        self._has_left = True
        self._thread.join(GRACE)

    def _run(self) -> None:
        try:
            anyio.run(run_watched, self._judge, self._watch)
        except Exception as error:  # noqa: BLE001  `take` raises it
            self._error = error
        finally:
            self._reports.put(None)

    async def _judge(self) -> None:
        terms = self._terms
        opening = open_session(terms, stop_token=self._stop, meter=self._meter)
        writing = ResultWriter(terms.output) if terms.output else nullcontext()
        with opening as session, writing as results:

            def write(row: JudgedRow) -> None:
                if results is not None:
                    results.append_line(row.line)
                if isinstance(row.seen, Result):
                    self._put(row.seen)

            await judge_pairs(session, self._pairs, panel=terms.panel, write=write, room=self._room)

    def _pairs(self) -> Iterator[tuple[Segment, Aspect]]:
        for text in self._read():
            self._aspects[id(text.segment)] = len(text.aspects)
            yield from ((text.segment, aspect) for aspect in text.aspects)

    def _put(self, result: Result) -> None:
        """Take the next result; the last one of a text completes its report."""
        self._summary.add(result)
        if self._held and self._held[0].segment is not result.segment:
            self._held.clear()  # a batch that ended early omits pairs
        self._held.append(result)
        if len(self._held) == self._aspects[id(result.segment)]:
            report = TextReport(segment=result.segment, results=tuple(self._held))
            del self._aspects[id(result.segment)]
            self._held.clear()
            self._made += 1
            self._reports.put(report)

    @property
    def _is_far_ahead(self) -> bool:
        return self._made - self._taken >= _AHEAD

    async def _room(self) -> None:
        """Wait until the caller has taken enough reports."""
        while self._is_far_ahead:
            self._has_room = self._has_room or anyio.Event()
            await self._has_room.wait()

    async def _watch(self) -> None:
        """Poll for the actions of the caller, which is in another thread."""
        while not self._has_left:
            await anyio.sleep(_TICK)
            if self._has_room is not None and not self._is_far_ahead:
                self._has_room.set()
                self._has_room = None
        self._stop.request("whoever took the reports has left", grace=0.0)


async def aevaluate(  # noqa: PLR0913  all but the data have defaults
    data: object,
    *,
    task: str | None = None,
    aspects: str | Sequence[str] = (),
    rubric: RubricLike | None = None,
    panel: PanelConfig | Path | str | None = None,
    judges: Judges = (),
    models: Models = (),
    aspects_files: Sequence[Path] = (),
    columns: Sequence[str] = (),
    limit: int | None = None,
    skip_bad_rows: bool = False,
    output: Path | str | None = None,
    memory: Path | str | None = None,
    limits: Limits = Limits(),
    failures: FailurePolicy = FailurePolicy(),
    workers: int | Literal["auto"] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> AsyncIterator[TextReport]:
    """Judge every row of `data`, and yield a report for each text, in the order of the data.

    Leaving the loop early, by ``break`` or cancellation, ends the batch and its calls.

    Parameters
    ----------
    data
        Rows as in a file, segments, lists of an agent's messages, a data frame of pandas or polars,
        or a path.
    task
        The task of every row; None for the row's own task, or the one that `Catalogue.likely_task`
        infers from its inputs.
    aspects
        Names of aspects; empty for the defaults of the task, ``"all"`` for every one.
    rubric
        Weighted criteria to judge in addition, or alone if no aspects are named: a `Rubric`, the
        path of its file, or the content of such a file.
    panel, judges, models
        As in `open_panel`; your own judges run in the thread of the batch.
    aspects_files, columns, limit, skip_bad_rows
        As in `Job`.
    output
        A file for the result rows, as ``spanjury evaluate -o`` writes it.
    memory
        A file that stores reports and replies: calls that use the same file request nothing twice,
        whether an earlier one finished or broke off.
    limits, failures
        The limits of cost, tokens and time, and the measures against models that fail.
    workers
        The number of processes for judges that use no model, as by ``--workers``, or ``"auto"`` for
        one per core; 0 to use threads of this process. By default that of the panel. Processes
        import the main module: a script begins its work below ``if __name__ == "__main__":``.
    on_progress
        Called with the progress after every report.

    Raises
    ------
    DataError
        Before anything is judged, if the data cannot be read, or a row cannot and is not skipped.
    ConfigError
        If an argument has another type, a name is unknown, or parameters contradict each other.
    RunStoppedError
        After the complete reports, if a limit ended the batch.
    RunFailedError
        After the complete reports, if a model cannot be used, or does not answer for too long.
    """
    check_limit(limit)
    judges, models, columns = repeatable(judges), repeatable(models), repeatable(columns)
    aspects, aspects_files = repeatable(aspects), repeatable(aspects_files)
    described = panel_config(panel, judges=judges, models=models)
    check_arguments(aevaluate, locals())
    terms = Terms(
        panel=described.with_workers(workers),
        output=None if output is None else Path(output),
        memory=None if memory is None else Path(memory),
        limits=limits,
        failures=failures,
    )
    weighed = None if rubric is None else Rubric.of(rubric)
    catalogue = Catalogue.load(*aspects_files).with_rubric(weighed)
    named = (aspects,) if isinstance(aspects, str) else tuple(aspects)
    named += weighed.aspects if weighed else ()
    require_model(named, panel=panel, judges=judges, models=models)
    segments = _opener(
        data, columns=columns_for(task, columns), limit=limit, skip_bad_rows=skip_bad_rows
    )
    read = partial(_texts, segments, catalogue, task=task, aspects=named)
    batch = BatchThread(terms, read, total=await to_thread.run_sync(_count, read))
    try:
        while reports := await to_thread.run_sync(batch.take, abandon_on_cancel=True):
            for report in reports:
                yield report
                if on_progress is not None:
                    on_progress(batch.progress())
    finally:
        with CancelScope(shield=True):
            await to_thread.run_sync(batch.leave)


def _collecting(
    function: Callable[P, AsyncIterator[TextReport]],
) -> Callable[P, Coroutine[object, object, TextReports]]:
    @wraps(function)
    async def collect(*args: P.args, **kwargs: P.kwargs) -> TextReports:
        return TextReports([report async for report in function(*args, **kwargs)])

    signature = inspect.signature(function).replace(return_annotation=TextReports)
    collect.__signature__ = signature  # type: ignore[attr-defined]  # what `inspect` reads
    collect.__annotations__ = {**function.__annotations__, "return": TextReports}
    return collect


evaluate = synchronous(
    _collecting(aevaluate),
    name="evaluate",
    doc="""Judge every row of `data`, from code that is not asynchronous.

    `aevaluate` explains the parameters and what is raised. Ctrl-C ends it.

    Examples
    --------
    >>> rows = [{"inputs": {"Article": "It opened in 1932."}, "output": "It opened in 1935."}]
    >>> evaluate(rows, judges=["grounding"], aspects=["consistency"])
    <TextReports: 1 text; 1 faulty>
    """,
)


def _opener(
    data: object, *, columns: Sequence[str], limit: int | None, skip_bad_rows: bool
) -> Callable[[], Iterable[Segment]]:
    """Return a function that reads the segments of `data` each time it is called."""

    def read_file(path: Path) -> Iterator[Segment]:
        rows = islice(open_source(path, columns=columns), limit)
        return readable(rows, [] if skip_bad_rows else None)

    if isinstance(data, str | Path):
        return partial(read_file, Path(data))
    rows = islice(open_rows(data, columns=columns), limit)
    segments = tuple(readable(rows, [] if skip_bad_rows else None))
    return lambda: segments


def _texts(
    read: Callable[[], Iterable[Segment]],
    catalogue: Catalogue,
    *,
    task: str | None,
    aspects: Sequence[str],
) -> Iterator[Request]:
    """Yield every segment with its aspects."""
    pairs = pair(read(), catalogue, task=task, aspects=aspects)
    for _, group in groupby(pairs, key=lambda pair: id(pair[0])):
        of_one = list(group)
        yield Request(segment=of_one[0][0], aspects=tuple(aspect for _, aspect in of_one))


def _count(read: Callable[[], Iterator[Request]]) -> int:
    """Count the assessments; reading everything first finds errors before a call is paid."""
    return sum(len(text.aspects) for text in read())
