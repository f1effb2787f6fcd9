"""The files that an exam of robustness leaves: a page, findings, scores and attempts."""

import json
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter

from spanjury.judges.core import StoreError
from spanjury.orchestration.report.files import write_whole
from spanjury.orchestration.report.json import plain, versions
from spanjury.orchestration.services.exam_scores import SCORES, ExamScores, write_scores
from spanjury.orchestration.services.robustness import RobustnessJob
from spanjury.orchestration.studies.card import ExamRecord
from spanjury.orchestration.studies.discernment.score_arrays import ScoreRow
from spanjury.orchestration.studies.robustness.attacked_texts import REPEAT
from spanjury.orchestration.studies.robustness.attempts import Attempt
from spanjury.orchestration.studies.robustness.cautions import cautions
from spanjury.orchestration.studies.robustness.exam import ExamResult
from spanjury.orchestration.studies.robustness.findings import PANEL
from spanjury.orchestration.studies.robustness.pages.as_json import findings_json
from spanjury.orchestration.studies.robustness.pages.as_markdown import findings_markdown
from spanjury.orchestration.studies.robustness.measures import measures_of

__all__ = ["ATTEMPTS", "write_report"]

ATTEMPTS = "attempts.jsonl"
"""Name of the file with a row for each attempt on each judge."""

_ROW: TypeAdapter[Attempt] = TypeAdapter(Attempt)


def write_report(folder: Path, job: RobustnessJob, result: ExamResult) -> list[Path]:
    """Write findings, a page, the panel's scores and all attempts into `folder`.

    The scores are in the form of the other exams, so that two judges can be compared by them.

    Returns
    -------
    list of Path
        What was written: ``report.md``, ``findings.json``, ``scores.jsonl``,
        ``attempts.jsonl``.

    Raises
    ------
    StoreError
        If something cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{folder}: cannot be written: {error.strerror}") from error
    paths = [folder / name for name in ("report.md", "findings.json", SCORES, ATTEMPTS)]
    page = findings_markdown(
        result.findings, examinee=result.examinee, data=str(job.data), recipe=job.recipe
    )
    values = {
        **findings_json(result.findings, examinee=result.examinee),
        "card": plain(_record(job, result)),
    }
    findings = json.dumps(values, ensure_ascii=False, indent=1)
    write_whole(paths[0], page.encode())
    write_whole(paths[1], f"{findings}\n".encode())
    write_scores(paths[2], _scores(job, result))
    write_whole(paths[3], b"".join(_ROW.dump_json(row) + b"\n" for row in result.attempts))
    return paths


def _record(job: RobustnessJob, result: ExamResult) -> ExamRecord:
    return ExamRecord(
        exam="robustness",
        date=datetime.now(UTC).date().isoformat(),
        data=str(job.data),
        signature=result.examinee.signature,
        seats=result.examinee.seats,
        versions=versions(),
        measures=measures_of(result.findings),
        cautions=cautions(result.findings),
    )


def _scores(job: RobustnessJob, result: ExamResult) -> ExamScores:
    return ExamScores(
        examinee=result.examinee,
        data=str(job.data),
        recipe=f"robustness of {job.recipe or 'texts as they are'}",
        seed=job.settings.seed,
        rows=[_score(row) for row in result.attempts if row.judge == PANEL],
    )


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
