"""The exam of faithfulness from Python: whether scores follow from the judge's own error lists."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from anyio import to_thread

from spanjury.judges.core import Result
from spanjury.orchestration.engine.metering import Limits, Meter
from spanjury.orchestration.engine.stopping import FailurePolicy, StopToken
from spanjury.orchestration.services import faithfulness as service
from spanjury.orchestration.services.exams.study_report import StudyReport, by_name
from spanjury.orchestration.services.exams.terms import (
    Aspects,
    Data,
    Judges,
    Models,
    PanelSource,
    aspects_of,
    ignore,
    memory_of,
    model_of,
    panel_of,
    synchronous,
    texts_of,
)
from spanjury.orchestration.studies.faithfulness.values import measures_of
from spanjury.orchestration.wiring.config import ModelConfig
from spanjury.orchestration.wiring.rescorable import rescorable_panel


async def afaithfulness(
    data: Data,
    *,
    panel: PanelSource | None = None,
    judges: Judges = (),
    models: Models = (),
    recipe: str = "",
    perturbations: Sequence[str] = (),
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
    on_result: Callable[[Result], None] = ignore,
) -> StudyReport[service.ExamResult]:
    """Change judges' error lists, and see whether their scores follow.

    Every seat of the panel is examined by itself. `discernment` explains the other parameters and
    what is raised.

    Parameters
    ----------
    data
        A file of texts with errors, or segments.
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
        data=texts_of(data),
        panel=rescorable_panel(described),
        recipe=recipe,
        perturbations=tuple(perturbations),
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
    stop = stop_token or StopToken()
    meter = Meter(limits=limits, stop=stop.request)
    result = await service.run_exam(
        job, exam, stop_token=stop, meter=meter, show=on_result, expect=lambda _: None
    )
    return StudyReport(
        result=result,
        document=service.exam_report(result),
        values=service.values_of(result),
        write=partial(service.write_exam, result=result),
        measures=by_name(measures_of(result.findings)),
    )


faithfulness = synchronous(afaithfulness)
