"""The exam of robustness from Python: whether attacks on flawed texts raise a judge's scores."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from anyio import to_thread

from spanjury.orchestration.engine.metering import Limits
from spanjury.orchestration.engine.stopping import FailurePolicy, StopToken
from spanjury.orchestration.services import robustness as service
from spanjury.orchestration.services.exam_texts import texts_of
from spanjury.orchestration.services.exams.study_report import StudyReport, by_name
from spanjury.orchestration.services.exams.terms import (
    Aspects,
    PanelSource,
    aspects_of,
    memory_of,
    names_of,
    panel_of,
)
from spanjury.orchestration.services.exams.watch import OnProgress, OnResult, Watch
from spanjury.orchestration.services.panels import Judges, Models
from spanjury.orchestration.services.synchronous import synchronous
from spanjury.orchestration.studies.robustness.attempts import Settings
from spanjury.orchestration.studies.robustness.exam import ExamResult
from spanjury.orchestration.studies.robustness.values import measures_of

_USUAL = Settings()


async def arobustness(
    data: object,
    *,
    panel: PanelSource | None = None,
    judges: Judges = (),
    models: Models = (),
    attacks: str | Sequence[str] = (),
    recipe: str = "flaws",
    step: float = _USUAL.step,
    span_share: float = _USUAL.share,
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
    """Attack flawed texts, and count how often a judge scores them better or overlooks errors.

    `discernment` explains the other parameters and what is raised.

    Parameters
    ----------
    attacks
        Names of attacks, or of families of them; without any the standard ones.
    recipe
        Damage that each text takes first; empty to attack the texts as they are.
    step
        An attack succeeds if the score rises by so many steps of its scale.
    span_share
        It also succeeds if so many marked spans vanish and the score does not fall.
    """
    described = panel_of(panel, judges=judges, models=models, seed=seed)
    job = service.RobustnessJob(
        data=texts_of(data, columns=columns, limit=limit),
        panel=described,
        recipe=recipe,
        attacks=names_of(attacks),
        settings=Settings(
            step=step, share=span_share, seed=1 if described.seed is None else described.seed
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
        job,
        exam,
        stop_token=watch.stop_token,
        meter=watch.meter,
        show=watch,
        expect=watch.expect,
    )
    return StudyReport(
        result=result,
        document=service.exam_report(job, result),
        values=service.values_of(job, result),
        write=partial(service.write_exam, job=job, result=result),
        measures=by_name(measures_of(result.findings)),
        scores=service.scores_of(job, result),
    )


robustness = synchronous(arobustness, name="robustness", doc=f"{arobustness.__doc__}")
