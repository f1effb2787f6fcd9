"""An exam of repair: from files and names to findings and the files of a report."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pydantic import TypeAdapter

from spanjury.judges.core import ConfigError, Result
from spanjury.orchestration.engine.metering import Meter
from spanjury.orchestration.engine.stopping import StopToken
from spanjury.orchestration.report import Report
from spanjury.orchestration.report.files import write_report, write_whole
from spanjury.orchestration.report.json import plain
from spanjury.orchestration.services.discernment import conditions_of
from spanjury.orchestration.services.exam_card import exam_record
from spanjury.orchestration.services.exam_job import PanelExamJob
from spanjury.orchestration.services.repair import writer_of
from spanjury.orchestration.services.session import open_session
from spanjury.orchestration.studies.repair.attempts import Attempt
from spanjury.orchestration.studies.repair.cautions import cautions
from spanjury.orchestration.studies.repair.exam import Exam, ExamResult, RepairSeats, examine
from spanjury.orchestration.studies.repair.findings import Settings
from spanjury.orchestration.studies.repair.tables import repair_report
from spanjury.orchestration.studies.repair.values import findings_json, measures_of
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig
from spanjury.perturbations.pairs import Condition
from spanjury.perturbations.recipe import find_recipe

ATTEMPTS = "attempts.jsonl"
"""Name of the file with a row for each text and each way of repairing it."""

_ATTEMPT: TypeAdapter[Attempt] = TypeAdapter(Attempt)


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairJob(PanelExamJob):
    """An exam: the panel that guides the repair, its writer, and who looks at the ends.

    Parameters
    ----------
    model
        Writes what stands in place of the marked words.
    examiner
        A panel with other judges than the one that guides the repair.
    recipe
        Name of a recipe, or a file that holds one: each of its damages is planted in each text.
    rounds
        How often the loop corrects a text at most.
    """

    model: ModelConfig
    examiner: PanelConfig
    recipe: str = "flaws"
    rounds: int = 3
    settings: Settings = Settings()


def exam_of(job: RepairJob) -> Exam:
    """Read the texts and build the exam.

    Raise `DataError` if the data cannot be read, and `ConfigError` if a name is unknown, the
    texts are not of one task, or the recipe does no harm that could be repaired.
    """
    recipe = find_recipe(job.recipe)
    segments, aspects = job.read(task=recipe.task, aspects=recipe.aspects)
    harmful = tuple(filter(_is_harmful, conditions_of(recipe)))
    if not harmful:
        raise ConfigError(f"{job.recipe} does no harm: there is nothing to repair")
    return Exam(
        segments=segments,
        aspects=aspects,
        conditions=harmful,
        rounds=job.rounds,
        settings=job.settings,
    )


async def run_exam(
    job: RepairJob,
    exam: Exam,
    *,
    stop_token: StopToken,
    meter: Meter,
    show: Callable[[Result], None],
    expect: Callable[[int], None],
) -> ExamResult:
    """Run the exam of a job; `examine` explains the parameters. It needs asyncio.

    Raise `EvaluationError` as `examine` does, and if a panel, a model or the memory cannot be
    opened.
    """
    with open_session(job, stop_token=stop_token, meter=meter) as session:
        seats = RepairSeats(
            open_panel=session.opener(job.panel),
            open_examiner=session.opener(job.examiner),
            model=session.generator(job.model),
            writer=partial(writer_of, name=job.model.name),
        )
        work = partial(
            examine,
            exam,
            seats,
            workers=job.panel.workers,
            stop_token=stop_token,
            show=show,
            expect=expect,
        )
        return await session.run(work)


def exam_report(job: RepairJob, result: ExamResult) -> Report:
    """Return the report of an exam."""
    return repair_report(
        result.findings,
        examinee=result.examinee,
        examiner=result.examiner,
        writer=result.writer,
        data=str(job.data),
        recipe=job.recipe,
    )


def values_of(job: RepairJob, result: ExamResult) -> dict[str, object]:
    """Return the findings of an exam for programs, with its part of a judge's card."""
    record = exam_record(
        "repair",
        result.examinee,
        data=str(job.data),
        measures=measures_of(result.findings),
        cautions=cautions(result.findings),
    )
    values = findings_json(
        result.findings,
        examinee=result.examinee,
        examiner=result.examiner,
        writer=result.writer,
    )
    return {**values, "card": plain(record)}


def write_exam(folder: Path, job: RepairJob, result: ExamResult) -> list[Path]:
    """Write findings, pages and all attempts into `folder`.

    Raise `StoreError` if something cannot be written.

    Returns
    -------
    list of Path
        ``report.md``, ``report.html``, ``findings.json``, ``attempts.jsonl``.
    """
    report = exam_report(job, result)
    written = write_report(folder, report, data=values_of(job, result))
    attempts = folder / ATTEMPTS
    write_whole(attempts, b"".join(_ATTEMPT.dump_json(row) + b"\n" for row in result.attempts))
    return [*written, attempts]


def _is_harmful(condition: Condition) -> bool:
    """Say whether any aspect should be judged lower for it."""
    return "falls" in condition.perturbation.effects.values()
