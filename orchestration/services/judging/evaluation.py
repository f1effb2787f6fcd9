"""Evaluate many texts from Python: reports come as they are made, in the order of the data."""

from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial, wraps
from itertools import groupby, islice
from pathlib import Path
from typing import ParamSpec

from anyio import CancelScope, to_thread

from spanjury.judges.core import Segment
from spanjury.judges.tasks import ALL_ASPECTS, Catalogue, Rubric
from spanjury.orchestration.engine.batch import pair
from spanjury.orchestration.engine.metering import Limits
from spanjury.orchestration.engine.progress import Progress
from spanjury.orchestration.engine.stopping import FailurePolicy
from spanjury.orchestration.services.judging.batch_thread import BatchThread, Terms, Text
from spanjury.orchestration.services.judging.check import RubricLike
from spanjury.orchestration.services.judging.job import readable
from spanjury.orchestration.services.judging.likely_task import likely_task
from spanjury.orchestration.services.judging.panels import Judges, Models, panel_config
from spanjury.orchestration.services.judging.synchronous import synchronous
from spanjury.orchestration.services.judging.text_report import TextReport
from spanjury.orchestration.services.judging.text_reports import TextReports
from spanjury.orchestration.wiring.config import PanelConfig
from spanjury.orchestration.wiring.sources import open_rows, open_source

P = ParamSpec("P")


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
    on_progress: Callable[[Progress], None] | None = None,
) -> AsyncIterator[TextReport]:
    """Judge every row of `data`, and yield a report for each text, in the order of the data.

    Leaving the loop early, by ``break`` or cancellation, ends the batch and its calls.

    Parameters
    ----------
    data
        Rows as a file holds them, segments, a data frame of pandas or polars, or a path.
    task
        The task of every row; None for the row's own, or what `likely_task` says of its inputs.
    aspects
        Names of aspects; empty for those that are usual in the task, ``"all"`` for every one.
    rubric
        Weighted criteria that each text is judged on besides, or alone where no aspects are named:
        a `Rubric`, the path of its file, or what such a file would hold.
    panel, judges, models
        As in `open_panel`; judges of your own run in the thread of the batch.
    aspects_files, columns, limit, skip_bad_rows
        As in `evaluate.Job`.
    output
        A file for the result rows, as ``spanjury evaluate -o`` writes it.
    memory
        A file that keeps reports and replies: over the same file nothing is asked twice, whether
        an earlier call ended or broke off.
    limits, failures
        The limits of cost, tokens and time, and the measures against models that fail.
    on_progress
        Is given the progress after every report.

    Raises
    ------
    DataError
        Before anything is judged, if the data or, unless it is skipped, a row cannot be read.
    ConfigError
        If a name is unknown or something does not fit together.
    RunStoppedError
        After the reports that are complete, if a limit ended the batch.
    RunFailedError
        Likewise, if a model cannot be used, or does not answer for longer than is waited.
    """
    terms = Terms(
        panel=panel_config(panel, judges=judges, models=models),
        output=None if output is None else Path(output),
        memory=None if memory is None else Path(memory),
        limits=limits,
        failures=failures,
    )
    weighed = None if rubric is None else Rubric.of(rubric)
    catalogue = Catalogue.load(*aspects_files).with_rubric(weighed)
    named = (aspects,) if isinstance(aspects, str) else tuple(aspects)
    read = partial(
        _texts,
        _opener(data, columns=columns, limit=limit, skip_bad_rows=skip_bad_rows),
        catalogue,
        task=task,
        aspects=(*named, *(weighed.aspects if weighed else ())),
    )
    total = await to_thread.run_sync(_count, read)
    batch = BatchThread(terms, read, total=total)
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
    """Return what reads the segments of `data`, as often as it is called."""

    def read_file(path: Path) -> Iterator[Segment]:
        rows = islice(open_source(path, columns=columns), limit)
        return readable(rows, [], skip=skip_bad_rows)

    if isinstance(data, str | Path):
        return partial(read_file, Path(data))
    rows = islice(open_rows(data, columns=columns), limit)
    segments = tuple(readable(rows, [], skip=skip_bad_rows))
    return lambda: segments


def _texts(
    read: Callable[[], Iterable[Segment]],
    catalogue: Catalogue,
    *,
    task: str | None,
    aspects: Sequence[str],
) -> Iterator[Text]:
    """Yield every segment with its aspects, and with a task."""
    segments = (
        segment if task or segment.task else _with_task(segment, catalogue, aspects)
        for segment in read()
    )
    pairs = pair(segments, catalogue, task=task, aspects=aspects)
    for _, group in groupby(pairs, key=lambda pair: id(pair[0])):
        of_one = list(group)
        yield Text(segment=of_one[0][0], aspects=tuple(aspect for _, aspect in of_one))


def _with_task(segment: Segment, catalogue: Catalogue, aspects: Sequence[str]) -> Segment:
    names = [name for name in aspects if name != ALL_ASPECTS]
    return replace(segment, task=likely_task(catalogue, names, headers=segment.inputs.keys()))


def _count(read: Callable[[], Iterator[Text]]) -> int:
    """Read all, so that what is wrong is known before a call is paid; count the assessments."""
    return sum(len(text.aspects) for text in read())
