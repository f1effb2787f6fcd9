"""The report of an exam of discernment: for people, for programs, for a card, and in pictures."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from spanjury.judges.core import ConfigError, StoreError
from spanjury.orchestration.report import Report
from spanjury.orchestration.report.files import PICTURES, make_folder, write_report
from spanjury.orchestration.report.json import plain
from spanjury.orchestration.services.discernment import ExamJob
from spanjury.orchestration.services.exam_card import exam_record
from spanjury.orchestration.services.exam_scores import SCORES, ExamScores, write_scores
from spanjury.orchestration.studies.discernment.cautions import cautions
from spanjury.orchestration.studies.discernment.conclusions import is_harmless
from spanjury.orchestration.studies.discernment.exam import ExamResult
from spanjury.orchestration.studies.discernment.tables import discernment_report
from spanjury.orchestration.studies.discernment.values import findings_json, measures_of
from spanjury.orchestration.wiring.plots import discernment as plots
from spanjury.orchestration.wiring.plots import require


def exam_report(
    job: ExamJob, result: ExamResult, *, pictures: Mapping[Path, str] = MappingProxyType({})
) -> Report:
    """Return the report of an exam; `pictures` are files and what they show."""
    return discernment_report(
        result.findings,
        examinee=result.examinee,
        data=str(job.data),
        recipe=job.recipe,
        pictures=pictures,
    )


def values_of(job: ExamJob, result: ExamResult) -> dict[str, object]:
    """Return the findings of an exam for programs, with its part of a judge's card."""
    record = exam_record(
        "discernment",
        result.examinee,
        data=str(job.data),
        measures=measures_of(result.findings),
        cautions=cautions(result.findings),
    )
    return {**findings_json(result.findings, examinee=result.examinee), "card": plain(record)}


def scores_of(job: ExamJob, result: ExamResult) -> ExamScores:
    """Return the raw scores of an exam, by which two judges are compared."""
    return ExamScores(
        examinee=result.examinee,
        data=str(job.data),
        recipe=job.recipe,
        seed=job.settings.seed,
        rows=result.scores,
    )


def write_exam(folder: Path, job: ExamJob, result: ExamResult) -> list[Path]:
    """Write findings, raw scores and pages into `folder`, with matplotlib also pictures below.

    Raise `StoreError` if something cannot be written.

    Returns
    -------
    list of Path
        ``report.md``, ``report.html``, ``findings.json``, ``scores.jsonl``, pictures.
    """
    try:
        pictures = _draw(folder / PICTURES, result)
    except OSError as error:
        raise StoreError(f"{folder}: cannot be written: {error.strerror}") from error
    report = exam_report(job, result, pictures=pictures)
    written = write_report(folder, report, data=values_of(job, result))
    scores = folder / SCORES
    write_scores(scores, scores_of(job, result))
    return [*written, scores, *pictures]


def _draw(folder: Path, result: ExamResult) -> dict[Path, str]:
    """Draw what can be drawn, and say what each picture shows; without matplotlib nothing."""
    try:
        require(plots)
    except ConfigError:
        return {}
    make_folder(folder)
    findings, score_arrays = result.findings.findings, result.score_arrays
    names = [finding.condition for finding in findings]
    bars, effects, spread = (
        folder / f"{name}.png" for name in ("discernment", "specificity", "scores")
    )
    harmful = [finding for finding in findings if not is_harmless(finding)]
    if harmful:  # of the others no score should fall, so that they have no D
        plots.draw_scores(
            bars,
            conditions=[finding.condition for finding in harmful],
            levels=[finding.level for finding in harmful],
            discernment=[finding.discernment for finding in harmful],
            weighted=[finding.weighted for finding in harmful],
        )
    plots.draw_effects(
        effects,
        conditions=names,
        aspects=score_arrays.aspects,
        effects=[[one.effects.net_drop for one in finding.contrasts] for finding in findings],
        targeted=[[one.expected == "falls" for one in finding.contrasts] for finding in findings],
    )
    plots.draw_distributions(
        spread,
        conditions=names,
        aspects=score_arrays.aspects,
        clean=score_arrays.clean / score_arrays.repeats,
        damaged=score_arrays.damaged / score_arrays.repeats,
        highest=5,
    )
    return {
        **({bars: "D of each condition, by level"} if harmful else {}),
        effects: "P(drop) - P(rise) of each condition on each aspect",
        spread: "Scores of the clean and of the damaged texts",
    }
