"""An exam of robustness: from files and names to findings and the files of a report."""

from collections.abc import Callable, Mapping, Sequence
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
from spanjury.orchestration.services.exam_scores import SCORES, ExamScores, write_scores
from spanjury.orchestration.services.session import open_session
from spanjury.orchestration.studies.discernment.score_arrays import ScoreRow
from spanjury.orchestration.studies.robustness.attacked_texts import REPEAT, Flawed, flawed
from spanjury.orchestration.studies.robustness.attempts import Attempt, Settings
from spanjury.orchestration.studies.robustness.cautions import cautions
from spanjury.orchestration.studies.robustness.exam import Exam, ExamResult, examine
from spanjury.orchestration.studies.robustness.findings import PANEL
from spanjury.orchestration.studies.robustness.tables import robustness_report
from spanjury.orchestration.studies.robustness.values import findings_json, measures_of
from spanjury.orchestration.wiring.exam_plugins import find_attack
from spanjury.orchestration.wiring.plugins import ATTACKS
from spanjury.perturbations.attacks.attack import Attack
from spanjury.perturbations.attacks.standard import STANDARD_ATTACKS
from spanjury.perturbations.recipe import find_recipe

ATTEMPTS = "attempts.jsonl"
"""Name of the file with a row for each attempt on each judge."""

_ATTEMPT: TypeAdapter[Attempt] = TypeAdapter(Attempt)


@dataclass(frozen=True, slots=True, kw_only=True)
class RobustnessJob(PanelExamJob):
    """An exam: the panel, which is examined as a whole and seat by seat, texts and attacks.

    Parameters
    ----------
    recipe
        Name of a recipe, or a file that holds one: all of its damage is done to each text
        before it is attacked. Empty to attack the texts as they are.
    attacks
        Names of attacks or of families of them; none for the standard ones.
    """

    recipe: str = "flaws"
    attacks: tuple[str, ...] = ()
    settings: Settings = Settings()


def exam_of(job: RobustnessJob) -> Exam:
    """Read the texts and build the exam.

    Raise `DataError` if the data cannot be read, and `ConfigError` if a name is unknown, or
    the texts are not of one task.
    """
    attacks = attacks_of(job.attacks)
    conditions = conditions_of(find_recipe(job.recipe)) if job.recipe else ()
    segments, aspects = job.read()
    return Exam(
        flawed=(
            flawed(segments, conditions, seed=job.settings.seed)
            if conditions
            else Flawed(segments=segments)
        ),
        aspects=aspects,
        attacks=attacks,
        settings=job.settings,
    )


def attacks_of(names: Sequence[str]) -> Mapping[str, Attack]:
    """Return attacks by name, those of a family by its name, or without names the standard ones.

    Raise `ConfigError` if a name is neither an attack's nor a family's.
    """
    standard = {name: find_attack(name) for name in STANDARD_ATTACKS}
    if not names:
        return standard
    chosen: dict[str, Attack] = {}
    for name in names:
        family = {known: attack for known, attack in standard.items() if attack.family == name}
        if not family and name not in ATTACKS.names():
            families = ", ".join(dict.fromkeys(attack.family for attack in standard.values()))
            choices = ", ".join(ATTACKS.names())
            raise ConfigError(f"no attack is called {name!r}: choose from {families}; {choices}")
        chosen |= family or {name: find_attack(name)}
    return chosen


async def run_exam(
    job: RobustnessJob,
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
    with open_session(job, stop_token=stop_token, meter=meter) as session:
        work = partial(
            examine,
            exam,
            session.opener(job.panel),
            workers=job.panel.workers,
            stop_token=stop_token,
            show=show,
            expect=expect,
        )
        return await session.run(work)


def exam_report(job: RobustnessJob, result: ExamResult) -> Report:
    """Return the report of an exam."""
    return robustness_report(
        result.findings, examinee=result.examinee, data=str(job.data), recipe=job.recipe
    )


def values_of(job: RobustnessJob, result: ExamResult) -> dict[str, object]:
    """Return the findings of an exam for programs, with its part of a judge's card."""
    record = exam_record(
        "robustness",
        result.examinee,
        data=str(job.data),
        measures=measures_of(result.findings),
        cautions=cautions(result.findings),
    )
    return {**findings_json(result.findings, examinee=result.examinee), "card": plain(record)}


def scores_of(job: RobustnessJob, result: ExamResult) -> ExamScores:
    """Return the panel's raw scores, in the form of the other exams."""
    return ExamScores(
        examinee=result.examinee,
        data=str(job.data),
        recipe=f"robustness of {job.recipe or 'texts as they are'}",
        seed=job.settings.seed,
        rows=[_score(row) for row in result.attempts if row.judge == PANEL],
    )


def write_exam(folder: Path, job: RobustnessJob, result: ExamResult) -> list[Path]:
    """Write findings, pages, the panel's scores and all attempts into `folder`.

    The scores are in the form of the other exams, so that two judges can be compared by them.

    Raise `StoreError` if something cannot be written.

    Returns
    -------
    list of Path
        ``report.md``, ``report.html``, ``findings.json``, ``scores.jsonl``, ``attempts.jsonl``.
    """
    written = write_report(folder, exam_report(job, result), data=values_of(job, result))
    scores, attempts = folder / SCORES, folder / ATTEMPTS
    write_scores(scores, scores_of(job, result))
    write_whole(attempts, b"".join(_ATTEMPT.dump_json(row) + b"\n" for row in result.attempts))
    return [*written, scores, attempts]


def _score(row: Attempt) -> ScoreRow:
    return ScoreRow(
        text=row.text,
        condition=None if row.attack == REPEAT else row.attack,
        aspect=row.aspect,
        expected="unchanged",
        clean=row.before,
        damaged=row.after,
        repeats=1,
        clean_outcome=row.before_outcome,
        damaged_outcome=row.after_outcome,
        clean_digest=row.before_digest,
        damaged_digest=row.after_digest,
    )
