"""An exam of faithfulness: from files and names to changes, findings and the files of a report."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType

from anyio import to_thread

from spanjury.judges.core import ConfigError, Result, StoreError
from spanjury.orchestration.engine.metering import Meter
from spanjury.orchestration.engine.stopping import StopToken
from spanjury.orchestration.report import Picture, Report
from spanjury.orchestration.report.files import PICTURES, make_folder, write_report
from spanjury.orchestration.report.json import plain
from spanjury.orchestration.services.discernment import conditions_of
from spanjury.orchestration.services.exam_card import exam_record
from spanjury.orchestration.services.exam_job import PanelExamJob
from spanjury.orchestration.services.exam_texts import Texts
from spanjury.orchestration.services.faithfulness_record import (
    CHANGES,
    read_changes,
    write_changes,
)
from spanjury.orchestration.services.session import open_session
from spanjury.orchestration.studies.faithfulness.cautions import cautions, named
from spanjury.orchestration.studies.faithfulness.changes import Change
from spanjury.orchestration.studies.faithfulness.curves import (
    after_critical,
    by_deleted,
    by_severity,
    by_start,
)
from spanjury.orchestration.studies.faithfulness.exam import Exam, examine
from spanjury.orchestration.studies.faithfulness.findings import Findings, findings_of
from spanjury.orchestration.studies.faithfulness.tables import faithfulness_report
from spanjury.orchestration.studies.faithfulness.trials import Condition
from spanjury.orchestration.studies.faithfulness.values import findings_json, measures_of
from spanjury.orchestration.studies.judging import Examinee, Recorder
from spanjury.orchestration.studies.robustness.attacked_texts import flawed
from spanjury.orchestration.wiring.config import ModelConfig
from spanjury.orchestration.wiring.exam_plugins import find_explanation_perturbation
from spanjury.orchestration.wiring.plots import faithfulness as plots
from spanjury.orchestration.wiring.plots import require
from spanjury.orchestration.wiring.plugins import parameters
from spanjury.orchestration.wiring.specs import parse_options
from spanjury.perturbations.explanation.generated import generated_twin
from spanjury.perturbations.explanation.paper import paper_perturbations
from spanjury.perturbations.recipe import find_recipe

FLAWS = "flaws"
"""Recipe of the damage to the texts that come with the package: they are good."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FaithfulnessJob(PanelExamJob):
    """An exam: the panel, each seat of which is examined, the texts, and the changes of lists.

    Parameters
    ----------
    recipe
        Damage that each text takes first, all of it; empty to judge the texts as they are. A
        good text has no errors, and so no error list to change.
    perturbations
        ``NAME`` or ``NAME:option=value,…``; none for those of the paper.
    writer
        Writes the explanations that a model can be asked for; None to have all of them
        worded by rules.
    """

    recipe: str = ""
    perturbations: tuple[str, ...] = ()
    writer: ModelConfig | None = None
    seed: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamResult:
    """The result of an exam, or of a record of one.

    Parameters
    ----------
    data
        The texts, or the record.
    examinee
        The panel that was examined; None of a record, which does not say.
    """

    data: Path | Texts
    changes: Sequence[Change]
    findings: Findings
    examinee: Examinee | None = None


def exam_of(job: FaithfulnessJob) -> Exam:
    """Read the texts and build the exam.

    Raise `DataError` if the data cannot be read, and `ConfigError` if a name is unknown,
    the texts are not of one task, or there is nothing to write for a model that is to
    write.
    """
    segments, aspects = job.read()
    if job.recipe:
        conditions = conditions_of(find_recipe(job.recipe))
        segments = flawed(segments, conditions, seed=job.seed).segments
    exam = Exam(
        dataset=job.data.name.partition(".")[0],
        segments=segments,
        aspects=aspects,
        conditions=tuple(map(condition_of, job.perturbations)) or _of_the_paper(),
        seed=job.seed,
    )
    if job.writer is not None:
        _require_requests(exam)
    return exam


def condition_of(text: str) -> Condition:
    """Return the condition that ``NAME`` or ``NAME:option=value,…`` names.

    Raise `ConfigError` if there is no such perturbation, or it has no such option.
    """
    name, options = parse_options(text, what="perturbation")
    perturbation = find_explanation_perturbation(name)
    known: Mapping[str, object] = parameters(perturbation.rule)
    if strange := options.keys() - known.keys():
        raise ConfigError(f"{name!r} has no option {', '.join(sorted(strange))}")
    return Condition(name=text, perturbation=perturbation, options=options)


def _of_the_paper() -> tuple[Condition, ...]:
    return tuple(
        Condition(name=one.name, perturbation=one.perturbation, options=one.options)
        for one in paper_perturbations()
    )


def _require_requests(exam: Exam) -> None:
    """Raise `ConfigError` if no perturbation of `exam` has anything that a model can write."""
    rules = [condition.perturbation for condition in exam.conditions]
    if not any(generated_twin(rule, aspect=exam.aspects[0]) for rule in rules):
        names = ", ".join(condition.name for condition in exam.conditions)
        raise ConfigError(f"there is nothing that a model is asked to write in {names}")


async def run_exam(
    job: FaithfulnessJob,
    exam: Exam,
    *,
    stop_token: StopToken,
    meter: Meter,
    show: Callable[[Result], None],
    expect: Callable[[int], None],
) -> ExamResult:
    """Run the exam of a job; `examine` explains the parameters.

    Raise `EvaluationError` as `examine` does, and if the panel, a model or the memory
    cannot be opened.
    """
    recorder = Recorder(show)
    with open_session(job, stop_token=stop_token, meter=meter) as session:
        work = partial(
            examine,
            exam,
            session.opener(job.panel),
            generator=session.generator(job.writer) if job.writer else None,
            workers=job.panel.workers,
            stop_token=stop_token,
            show=recorder,
            expect=expect,
        )
        changes = await session.run(work)
    findings = await to_thread.run_sync(partial(findings_of, changes, seed=job.seed))
    return ExamResult(data=job.data, changes=changes, findings=findings, examinee=recorder.examinee)


def read_result(record: Path, *, seed: int) -> ExamResult:
    """Evaluate the changes that somebody has recorded.

    Raise `DataError` if the record cannot be read.
    """
    changes = read_changes(record)
    return ExamResult(data=record, changes=changes, findings=findings_of(changes, seed=seed))


def exam_report(result: ExamResult, *, pictures: Sequence[Picture] = ()) -> Report:
    """Return the report of an exam."""
    seats = result.examinee.seats if result.examinee else {}
    return faithfulness_report(
        result.findings, data=str(result.data), seats=seats, pictures=pictures
    )


def values_of(result: ExamResult) -> dict[str, object]:
    """Return the findings of an exam for programs.

    Without an examinee there is nothing for a judge's card.
    """
    values = findings_json(result.findings)
    if result.examinee is None:
        return values
    record = exam_record(
        "faithfulness",
        result.examinee,
        data=str(result.data),
        measures=measures_of(result.findings),
        cautions=cautions(result.findings),
    )
    return {**values, "judge": plain(result.examinee), "card": plain(record)}


def write_exam(folder: Path, result: ExamResult) -> list[Path]:
    """Write findings, raw changes and pages into `folder`, with matplotlib also pictures below.

    Raise `StoreError` if something cannot be written.

    Returns
    -------
    list of Path
        ``report.md``, ``report.html``, ``findings.json``, ``changes.jsonl``, pictures.
    """
    try:
        pictures, drawn = _draw(folder / PICTURES, result.findings)
    except OSError as error:
        raise StoreError(f"{folder}: cannot be written: {error.strerror}") from error
    report = exam_report(result, pictures=pictures)
    written = write_report(folder, report, data=values_of(result))
    write_changes(folder / CHANGES, result.changes)
    return [*written, folder / CHANGES, *drawn]


_STACKS = MappingProxyType({"steps": by_start, "critical-error": after_critical})
_CURVES = MappingProxyType({"severity-change": by_severity, "deleted-errors": by_deleted})
_AXES = MappingProxyType(
    {
        "severity-change": ("severity added in all", "change of the score"),
        "deleted-errors": ("errors deleted", "share of changed scores"),
    }
)
"""Names of the axes of lines, across and up."""
_ALTS = MappingProxyType(
    {
        "steps": "Scores after one step of severity and after two, by the score to begin with",
        "critical-error": "Scores after a critical error, by the score to begin with",
        "severity-change": "Change of the score by the severity that was added in all",
        "deleted-errors": "Share of changed scores by the number of errors deleted",
    }
)


def _draw(folder: Path, findings: Findings) -> tuple[list[Picture], list[Path]]:
    """Draw what can be drawn; return the pictures of the page, and all files."""
    try:
        require(plots)
    except ConfigError:
        return [], []
    make_folder(folder)
    arrays = {named(one): one for one in findings.score_arrays}
    drawn: dict[str, list[Path]] = {}
    for name, stacks_of in _STACKS.items():
        stacks = {whose: stacks_of(one) for whose, one in arrays.items()}
        if any(stacks.values()):
            drawn[name] = _files(folder, name)
            for path in drawn[name]:
                plots.draw_stacks(path, panels=stacks)
    for name, curves_of in _CURVES.items():
        curves = {whose: curves_of(one) for whose, one in arrays.items()}
        if any(curves.values()):
            drawn[name] = _files(folder, name)
            for path in drawn[name]:
                plots.draw_curves(path, panels=curves, measure=_AXES[name])
    pictures = [Picture(file=paths[0], alt=_ALTS[name]) for name, paths in drawn.items()]
    return pictures, [path for paths in drawn.values() for path in paths]


def _files(folder: Path, name: str) -> list[Path]:
    return [folder / f"{name}{ending}" for ending in (".png", ".svg")]
