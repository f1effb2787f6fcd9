"""The exam of discernment from Python: whether the score falls when a text is damaged."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType

from anyio import to_thread

from spanjury.orchestration.engine.metering import Limits
from spanjury.orchestration.engine.stopping import FailurePolicy, StopToken
from spanjury.orchestration.services import discernment as service
from spanjury.orchestration.services import discernment_report as report
from spanjury.orchestration.services.exam_texts import texts_of
from spanjury.orchestration.services.exams.study_report import StudyReport, by_name
from spanjury.orchestration.services.exams.terms import (
    Aspects,
    PanelSource,
    aspects_of,
    memory_of,
    model_of,
    panel_of,
)
from spanjury.orchestration.services.exams.watch import OnProgress, OnResult, Watch
from spanjury.orchestration.services.panels import Judges, Models
from spanjury.orchestration.services.synchronous import synchronous
from spanjury.orchestration.studies.discernment.contrasts import Mode
from spanjury.orchestration.studies.discernment.exam import ExamResult
from spanjury.orchestration.studies.discernment.findings import Settings
from spanjury.orchestration.studies.discernment.values import measures_of
from spanjury.orchestration.wiring.config import ModelConfig

_NO_WEIGHTS: Mapping[str, Mapping[str, float]] = MappingProxyType({})


async def adiscernment(
    data: object,
    *,
    panel: PanelSource | None = None,
    judges: Judges = (),
    models: Models = (),
    recipe: str = "standard",
    writer: str | ModelConfig | None = None,
    weights: Mapping[str, Mapping[str, float]] = _NO_WEIGHTS,
    repeats: int = 1,
    mode: Mode = "calibrated",
    test: str = "",
    task: str | None = None,
    aspects: Aspects = (),
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
) -> StudyReport[ExamResult]:
    """Damage good texts, judge both versions, and see whether the score falls.

    Parameters
    ----------
    data
        Good texts: a path; or rows as a file holds them, segments, or a data frame of pandas or
        polars.
    panel, judges, models
        As in `open_panel`; without any the offline judges are examined.
    recipe
        Of the damage: its name, as ``dhp/summarization``, or a TOML file.
    writer
        A model that writes the damage that it can be asked for; without one, rules do it all.
    weights
        Condition -> aspect -> what experts think it harms, in place of the recipe's.
    repeats
        How often each text is judged, if the judge's scores vary.
    mode, test
        How p-values are combined, and a statistic in place of the mode's test.
    task, aspects, aspects_files
        Of the texts, where they do not say, and what they are judged on: names, or aspects;
        without any those of the recipe or the task. The files add tasks and aspects.
    columns, limit
        As in `read_segments`, and the number of rows that are taken.
    seed
        Of all that is drawn at random.
    memory
        A file that keeps replies and reports: the same call goes on with them.
    limits, failures, stop_token
        When the exam ends early: at a limit, where a model fails, or when it is asked to.
    on_result, on_progress
        Called with each result as it comes, and with the progress after it.

    Raises
    ------
    ConfigError
        If a name is unknown, or something does not fit together.
    DataError
        If the texts cannot be read.
    RunStoppedError
        If the exam was ended early.
    RunFailedError
        If a model cannot be used, or does not answer for longer than is waited.
    """
    service.require_weights(weights)
    described = panel_of(panel, judges=judges, models=models, seed=seed)
    job = service.ExamJob(
        data=texts_of(data, columns=columns, limit=limit),
        panel=described,
        recipe=recipe,
        damage_model=model_of(writer),
        weights=weights,
        repeats=repeats,
        settings=Settings(
            mode=mode, test=test, seed=1 if described.seed is None else described.seed
        ),
        task=task,
        aspects=aspects_of(aspects),
        aspects_files=tuple(aspects_files),
        columns=tuple(columns),
        limit=limit,
        memory=memory_of(memory),
        limits=limits,
        failures=failures,
    )
    exam = await to_thread.run_sync(service.exam_of, job)
    watch = Watch(
        total=exam.assessments,
        limits=limits,
        stop_token=stop_token,
        on_result=on_result,
        on_progress=on_progress,
    )
    result = await service.run_exam(
        job, exam, stop_token=watch.stop_token, meter=watch.meter, show=watch
    )
    return StudyReport(
        result=result,
        document=report.exam_report(job, result),
        values=report.values_of(job, result),
        write=partial(report.write_exam, job=job, result=result),
        measures=by_name(measures_of(result.findings)),
        scores=report.scores_of(job, result),
    )


discernment = synchronous(adiscernment, name="discernment", doc=f"{adiscernment.__doc__}")
