"""The exam of faithfulness from Python: whether scores follow from the judge's own error lists."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from anyio import to_thread

from spanjury.orchestration.engine.metering import Limits
from spanjury.orchestration.engine.stopping import FailurePolicy, StopToken
from spanjury.orchestration.services import faithfulness as service
from spanjury.orchestration.services.exam_texts import texts_of
from spanjury.orchestration.services.exams.study_report import StudyReport, by_name
from spanjury.orchestration.services.exams.terms import (
    Aspects,
    PanelSource,
    aspects_of,
    memory_of,
    model_of,
    names_of,
    panel_of,
)
from spanjury.orchestration.services.exams.watch import OnProgress, OnResult, Watch
from spanjury.orchestration.services.panels import Judges, Models
from spanjury.orchestration.services.synchronous import synchronous
from spanjury.orchestration.studies.faithfulness.values import measures_of
from spanjury.orchestration.wiring.config import ModelConfig
from spanjury.orchestration.wiring.rescorable import rescorable_panel


async def afaithfulness(
    data: object,
    *,
    panel: PanelSource | None = None,
    judges: Judges = (),
    models: Models = (),
    recipe: str = "",
    perturbations: str | Sequence[str] = (),
    writer: str | ModelConfig | None = None,
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
) -> StudyReport[service.ExamResult]:
    """Change judges' error lists, and see whether their scores follow.

    Every seat of the panel is examined by itself. `discernment` explains the other parameters and
    what is raised.

    Parameters
    ----------
    data
        Texts with errors.
    panel, judges, models
        Without any it is the offline judges whose score can follow from a list.
    recipe
        Damage that each text takes first, as ``flaws``; without one they are judged as they are.
        Good texts have no error list to change.
    perturbations
        ``NAME`` or ``NAME:option=value,…``; without any those of the paper.
    writer
        A model that writes explanations; without one, rules word them all.
    """
    described = panel_of(panel, judges=judges, models=models, seed=seed)
    job = service.FaithfulnessJob(
        data=texts_of(data, columns=columns, limit=limit),
        panel=rescorable_panel(described),
        recipe=recipe,
        perturbations=names_of(perturbations),
        writer=model_of(writer),
        seed=1 if described.seed is None else described.seed,
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
        total=exam.questions(seats=len(job.panel.seats_or_default)),
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
        document=service.exam_report(result),
        values=service.values_of(result),
        write=partial(service.write_exam, result=result),
        measures=by_name(measures_of(result.findings)),
    )


faithfulness = synchronous(afaithfulness, name="faithfulness", doc=f"{afaithfulness.__doc__}")
