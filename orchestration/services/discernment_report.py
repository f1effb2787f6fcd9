"""What an exam leaves behind: findings for programs and for people, and pictures."""

import json
from datetime import UTC, datetime
from pathlib import Path

from spanjury.judges.core import ConfigError, StoreError
from spanjury.orchestration.services.discernment import ExamJob
from spanjury.orchestration.services.exam_scores import (
    SCORES,
    ExamScores,
    write_scores,
    write_whole,
)
from spanjury.orchestration.studies.card import ExamRecord
from spanjury.orchestration.studies.discernment.exam import Sitting
from spanjury.orchestration.studies.discernment.pages.as_json import findings_json
from spanjury.orchestration.studies.discernment.pages.as_markdown import findings_markdown
from spanjury.orchestration.studies.discernment.pages.measures import measures_of
from spanjury.orchestration.studies.discernment.verdicts import cautions, is_harmless
from spanjury.orchestration.studies.plain import plain, versions
from spanjury.orchestration.wiring.plots import discernment as plots
from spanjury.orchestration.wiring.plots import require

__all__ = ["write_report"]


def write_report(folder: Path, job: ExamJob, sitting: Sitting) -> list[Path]:
    """Write findings, raw scores, a page and, with matplotlib, pictures into `folder`.

    Returns
    -------
    list of Path
        What was written: ``report.md``, ``findings.json``, ``scores.jsonl``, pictures.

    Raises
    ------
    StoreError
        If something cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        pictures = _pictures(folder, sitting)
    except OSError as error:
        raise StoreError(f"{folder}: cannot be written: {error.strerror}") from error
    page = findings_markdown(
        sitting.findings,
        examinee=sitting.examinee,
        data=str(job.data),
        recipe=job.recipe,
        pictures=[picture.name for picture in pictures],
    )
    told = {
        **findings_json(sitting.findings, examinee=sitting.examinee),
        "card": plain(_record(job, sitting)),
    }
    findings = json.dumps(told, ensure_ascii=False, indent=1)
    paths = [folder / name for name in ("report.md", "findings.json", SCORES)]
    write_whole(paths[0], page.encode())
    write_whole(paths[1], f"{findings}\n".encode())
    write_scores(paths[2], _scores(job, sitting))
    return [*paths, *pictures]


def _record(job: ExamJob, sitting: Sitting) -> ExamRecord:
    return ExamRecord(
        exam="discernment",
        date=datetime.now(UTC).date().isoformat(),
        data=str(job.data),
        signature=sitting.examinee.signature,
        seats=sitting.examinee.seats,
        versions=versions(),
        measures=measures_of(sitting.findings),
        cautions=tuple(cautions(sitting.findings)),
    )


def _scores(job: ExamJob, sitting: Sitting) -> ExamScores:
    return ExamScores(
        examinee=sitting.examinee,
        data=str(job.data),
        recipe=job.recipe,
        seed=job.settings.seed,
        rows=sitting.scores,
    )


def _pictures(folder: Path, sitting: Sitting) -> list[Path]:
    """Draw what can be drawn; without matplotlib nothing."""
    try:
        require(plots)
    except ConfigError:
        return []
    findings, score_arrays = sitting.findings.findings, sitting.score_arrays
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
        effects=[[cell.effects.net_drop for cell in finding.cells] for finding in findings],
        targeted=[[cell.expected == "falls" for cell in finding.cells] for finding in findings],
    )
    plots.draw_distributions(
        spread,
        conditions=names,
        aspects=score_arrays.aspects,
        clean=score_arrays.clean / score_arrays.repeats,
        damaged=score_arrays.damaged / score_arrays.repeats,
        highest=5,
    )
    return [bars, effects, spread] if harmful else [effects, spread]
