"""A span bench: from files of marked texts and names of judges to findings and a report's files."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path

from spanjury.judges.core import Aspect, DataError, Result, Segment
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.engine.metering import Limits, Meter
from spanjury.orchestration.engine.stopping import FailurePolicy, StopToken
from spanjury.orchestration.report import Report
from spanjury.orchestration.report.files import write_report, write_whole
from spanjury.orchestration.report.json import plain
from spanjury.orchestration.services.exam_card import exam_record
from spanjury.orchestration.services.exam_texts import Texts, read_texts
from spanjury.orchestration.services.session import open_session
from spanjury.orchestration.studies.agreement.spans.estimates import DEFAULTS, Settings
from spanjury.orchestration.studies.span_bench.bench import Bench, BenchResult, run_bench
from spanjury.orchestration.studies.span_bench.cautions import cautions
from spanjury.orchestration.studies.span_bench.gold import KIND, BenchSet, BenchText, bench_text
from spanjury.orchestration.studies.span_bench.records import records_of
from spanjury.orchestration.studies.span_bench.tables import bench_report
from spanjury.orchestration.studies.span_bench.values import findings_json, measures_of
from spanjury.orchestration.wiring.config import PanelConfig

TASK = "summarization"
"""Task of texts that name none."""
TEXTS = "texts.jsonl"
"""Name of the file with a record of every text."""
ASPECT = "consistency"
"""Aspect that is judged where none is named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchJob:
    """A panel, and texts whose errors people marked, in files or in memory.

    Parameters
    ----------
    task
        Task of every text, whatever its row says; None for the row's own, `TASK` where it has none.
    aspect
        Judged on every text; each task has its own of this name.
    aspects_files, columns
        As in `evaluate.Job`.
    limit
        How many rows of each file are read; None for all.
    by
        The key of a row by which texts are grouped, as in `bench_text`.
    """

    data: tuple[Path | Texts, ...]
    panel: PanelConfig
    memory: Path | None = None
    task: str | None = None
    aspect: str = ASPECT
    aspects_files: tuple[Path, ...] = ()
    columns: tuple[str, ...] = ()
    limit: int | None = None
    by: str = KIND
    limits: Limits = Limits()
    failures: FailurePolicy = FailurePolicy()
    settings: Settings = DEFAULTS


def bench_of(job: BenchJob) -> Bench:
    """Read the texts, set by set: those of one ``dataset``, or else of one file.

    Raise `DataError` if a file cannot be read, or contradicts itself, and `ConfigError` if a name
    is unknown, or nothing is known of any text.
    """
    labels = _labels(job.data)
    read = [
        (labels[path], name or labels[path], text)
        for path in job.data
        for name, text in _read(job, path)
    ]
    files = Counter(name for _, name in dict.fromkeys((label, name) for label, name, _ in read))
    sets: dict[str, list[BenchText]] = {}
    for label, name, text in read:
        # Two files may have texts of one data set, under the same ids.
        whole = name if files[name] == 1 or name == label else f"{label}/{name}"
        sets.setdefault(whole, []).append(text)
    return Bench(sets=tuple(_set(*item) for item in sets.items()), settings=job.settings)


async def run(
    job: BenchJob,
    bench: Bench,
    *,
    stop_token: StopToken,
    meter: Meter,
    show: Callable[[Result], None],
) -> BenchResult:
    """Run the bench of a job; `run_bench` explains the parameters.

    Raise `EvaluationError` as it does, and if the panel, a model or the memory cannot be opened.
    """
    with open_session(job, stop_token=stop_token, meter=meter) as session:
        work = partial(
            run_bench,
            bench,
            session.opener(job.panel),
            workers=job.panel.workers,
            stop_token=stop_token,
            show=show,
        )
        return await session.run(work)


def report_of(job: BenchJob, result: BenchResult) -> Report:
    """Return the report of a bench."""
    return bench_report(
        result.findings, examinee=result.examinee, data=[path.name for path in job.data]
    )


def values_of(job: BenchJob, result: BenchResult) -> dict[str, object]:
    """Return the findings of a bench for programs, with its part of a judge's card."""
    record = exam_record(
        "span bench",
        result.examinee,
        data=", ".join(map(str, job.data)),
        measures=measures_of(result.findings),
        cautions=cautions(result.findings),
    )
    return {**findings_json(result.findings, examinee=result.examinee), "card": plain(record)}


def write_bench(folder: Path, job: BenchJob, *, bench: Bench, result: BenchResult) -> list[Path]:
    """Write findings, pages and a record of every text into `folder`.

    Raise `StoreError` if something cannot be written.

    Returns
    -------
    list of Path
        ``report.md``, ``report.html``, ``findings.json``, ``texts.jsonl``.
    """
    written = write_report(folder, report_of(job, result), data=values_of(job, result))
    texts = folder / TEXTS
    rows = records_of(bench.sets, result.answers, judges=result.judges)
    lines = (json.dumps(row, ensure_ascii=False) for row in rows)
    write_whole(texts, "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass"))
    return [*written, texts]


def _read(job: BenchJob, path: Path | Texts) -> Iterator[tuple[str, BenchText]]:
    """Yield each text of a file with the name of its data set, empty where it has none."""
    catalogue = Catalogue.load(*job.aspects_files)
    aspects: dict[str, Aspect] = {}
    for segment in islice(read_texts(path, columns=job.columns), job.limit):
        task = job.task or segment.task or TASK
        if task not in aspects:
            aspects[task] = catalogue.aspect(task, job.aspect)
        try:
            fitted = aspects[task].task.fit(segment)
            text = bench_text(fitted, aspects[task], catalogue=catalogue, by=job.by)
        except DataError as error:
            raise DataError(f"{path}: {error}") from error
        yield _dataset(segment), text


def _dataset(segment: Segment) -> str:
    name = segment.meta.get("dataset")
    return name.strip() if isinstance(name, str) else ""


def _labels(files: Sequence[Path | Texts]) -> dict[Path | Texts, str]:
    """Return what files are called: by their names up to the first full stop, if these differ."""
    stems = {path: path.name.partition(".")[0] or path.name for path in files}
    shared = Counter(stems.values())
    return {path: stem if shared[stem] == 1 else str(path) for path, stem in stems.items()}


def _set(name: str, texts: Iterable[BenchText]) -> BenchSet:
    """Return a set of the texts that something is known of, under ids of their own."""
    read = list(texts)
    kept = tuple(
        replace(
            text,
            segment=replace(text.segment, segment_id=f"{name}/{text.segment.segment_id}"),
        )
        for text in read
        if text.is_known
    )
    return BenchSet(name=name, texts=kept, unknown=len(read) - len(kept))
