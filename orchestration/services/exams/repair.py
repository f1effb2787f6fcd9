"""The exam of repair from Python: what a repair removes of planted errors, and what it harms."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from anyio import to_thread

from spanjury.orchestration.engine.metering import Limits
from spanjury.orchestration.engine.stopping import FailurePolicy, StopToken
from spanjury.orchestration.services import repair_exam as service
from spanjury.orchestration.services.exam_texts import texts_of
from spanjury.orchestration.services.exams.study_report import StudyReport, by_name
from spanjury.orchestration.services.exams.terms import (
    Aspects,
    PanelSource,
    aspects_of,
    memory_of,
    panel_of,
)
from spanjury.orchestration.services.exams.watch import OnProgress, OnResult, Watch
from spanjury.orchestration.services.panels import Judges, Models
from spanjury.orchestration.services.synchronous import synchronous
from spanjury.orchestration.studies.repair.exam import ExamResult
from spanjury.orchestration.studies.repair.findings import Settings
from spanjury.orchestration.studies.repair.values import measures_of
from spanjury.orchestration.wiring.config import ModelConfig


async def arepair(
    data: object,
    *,
    repair_model: str | ModelConfig,
    examiner: PanelSource,
    panel: PanelSource | None = None,
    judges: Judges = (),
    models: Models = (),
    recipe: str = "flaws",
    rounds: int = 3,
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
    """Plant errors in good texts, have them repaired, and count what is gone and what is harmed.

    It needs asyncio. `discernment` explains the other parameters and what is raised.

    Parameters
    ----------
    repair_model
        Writes what stands in place of marked words.
    examiner
        The panel that judges the ends, with judges that do not guide the repair.
    panel, judges, models
        The panel that guides the repair, and keeps the better version.
    recipe
        The damage that is planted, one condition at a time.
    rounds
        How often a text is corrected at most.
    """
    described = panel_of(panel, judges=judges, models=models, seed=seed)
    model = ModelConfig(name=repair_model) if isinstance(repair_model, str) else repair_model
    job = service.RepairJob(
        data=texts_of(data, columns=columns, limit=limit),
        panel=described,
        model=model,
        examiner=panel_of(examiner),
        recipe=recipe,
        rounds=rounds,
        settings=Settings(seed=1 if described.seed is None else described.seed),
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
    )


repair = synchronous(arepair, name="repair", doc=f"{arepair.__doc__}")
