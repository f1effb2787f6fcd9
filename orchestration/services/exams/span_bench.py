"""The span bench from Python: whether judges mark what people marked."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from anyio import to_thread

from spanjury.orchestration.engine.metering import Limits
from spanjury.orchestration.engine.stopping import FailurePolicy, StopToken
from spanjury.orchestration.services import span_bench as service
from spanjury.orchestration.services.exam_texts import Texts, texts_of
from spanjury.orchestration.services.exams.study import OnProgress, OnResult, Watch
from spanjury.orchestration.services.exams.study_report import StudyReport, by_name
from spanjury.orchestration.services.exams.terms import PanelSource, memory_of, panel_of
from spanjury.orchestration.services.panels import Judges, Models
from spanjury.orchestration.services.synchronous import synchronous
from spanjury.orchestration.studies.agreement.spans.estimates import DEFAULTS, Settings
from spanjury.orchestration.studies.span_bench.bench import BenchResult
from spanjury.orchestration.studies.span_bench.gold import KIND
from spanjury.orchestration.studies.span_bench.values import measures_of


async def aspan_bench(
    *data: object,
    panel: PanelSource | None = None,
    judges: Judges = (),
    models: Models = (),
    aspect: str = service.ASPECT,
    by: str = KIND,
    draws: int = DEFAULTS.draws,
    task: str | None = None,
    aspects_files: Sequence[Path] = (),
    columns: Sequence[str] = (),
    limit: int | None = None,
    seed: int | None = None,
    memory: Path | str | None = None,
    limits: Limits = Limits(),
    failures: FailurePolicy = FailurePolicy(),
    stop_token: StopToken | None = None,
    on_result: OnResult | None = None,
    on_progress: OnProgress | None = None,
) -> StudyReport[BenchResult]:
    """Compare judges' error spans and decisions with people's marks, beside baselines.

    `discernment` explains the other parameters and what is raised.

    Parameters
    ----------
    data
        Sets of texts whose errors people marked, each a path or in memory.
    panel, judges, models
        Without any the offline judges are measured, together and one by one.
    aspect
        That the marked errors are of.
    by
        Key of a row by which texts are grouped, as ``system``.
    draws
        Number of resamples of the sources; 0 for no intervals.
    limit
        The number of rows that are taken of each of `data`.
    """
    described = panel_of(panel, judges=judges, models=models, seed=seed)
    job = service.BenchJob(
        data=_sets(data, columns=columns, limit=limit),
        panel=described,
        aspect=aspect,
        by=by,
        settings=Settings(draws=draws, seed=1 if described.seed is None else described.seed),
        task=task,
        aspects_files=tuple(aspects_files),
        columns=tuple(columns),
        limit=limit,
        memory=memory_of(memory),
        limits=limits,
        failures=failures,
    )
    bench = await to_thread.run_sync(service.bench_of, job)
    watch = Watch(
        total=len(bench.texts),
        limits=limits,
        stop_token=stop_token,
        on_result=on_result,
        on_progress=on_progress,
    )
    result = await service.run(
        job, bench, stop_token=watch.stop_token, meter=watch.meter, show=watch
    )
    return StudyReport(
        result=result,
        document=service.report_of(job, result),
        values=service.values_of(job, result),
        write=partial(service.write_bench, job=job, bench=bench, result=result),
        measures=by_name(measures_of(result.findings)),
    )


span_bench = synchronous(aspan_bench, name="span_bench", doc=f"{aspan_bench.__doc__}")


def _sets(
    data: Sequence[object], *, columns: Sequence[str], limit: int | None
) -> tuple[Path | Texts, ...]:
    """Return each file once, and several sets in memory under names of their own."""
    sets = [texts_of(one, columns=columns, limit=limit) for one in data]
    if sum(isinstance(one, Texts) for one in sets) > 1:
        sets = [
            replace(one, name=f"texts {number}") if isinstance(one, Texts) else one
            for number, one in enumerate(sets, start=1)
        ]
    return tuple(dict.fromkeys(sets))
