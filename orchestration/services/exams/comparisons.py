"""Comparisons from Python: two runs on the same texts, or two judges by their exams."""

from functools import partial
from pathlib import Path

from anyio import to_thread

from spanjury.judges.core import ConfigError
from spanjury.orchestration.services.exam_comparison import compare_scores, write_comparison
from spanjury.orchestration.services.exam_scores import ExamScores, read_scores
from spanjury.orchestration.services.exams.study_report import StudyReport
from spanjury.orchestration.services.run_comparison import (
    ComparedRuns,
    compare_runs,
    write_run_comparison,
)
from spanjury.orchestration.services.synchronous import synchronous
from spanjury.orchestration.studies.comparison.comparison import Comparison

Exam = StudyReport[object] | Path | str
"""The report of an exam, or its folder."""


async def acompare(
    first: Path | str, second: Path | str, *, seed: int = 1, draws: int = 2000
) -> StudyReport[ComparedRuns]:
    """Compare the scores of two runs on the same texts, text by text.

    Parameters
    ----------
    first, second
        Results or folders of runs, or scores of metrics.
    seed, draws
        Of the bootstrap.

    Raises
    ------
    DataError
        If a file cannot be read, or the two have no scorer and aspect in common.
    """
    work = partial(compare_runs, Path(first), Path(second), seed=seed, draws=draws)
    compared = await to_thread.run_sync(work)
    return StudyReport(
        result=compared,
        document=compared.report,
        values=compared.values,
        write=partial(write_run_comparison, compared=compared),
    )


async def acompare_exams(
    first: Exam, second: Exam, *, seed: int = 1, draws: int = 10_000
) -> StudyReport[Comparison]:
    """Compare two judges by the effects that their exams found on the same texts.

    Parameters
    ----------
    first, second
        Exams of discernment or of robustness: their reports, or their folders.
    seed, draws
        Of the bootstrap.

    Raises
    ------
    ConfigError
        If the exams have nothing in common, or a report is of no such exam.
    DataError
        If a folder holds no scores, or they cannot be read.
    """
    exams = await to_thread.run_sync(_scores, first), await to_thread.run_sync(_scores, second)
    names = _name(first, "A"), _name(second, "B")
    work = partial(compare_scores, names, exams, seed=seed, draws=draws)
    compared = await to_thread.run_sync(work)
    return StudyReport(
        result=compared.comparison,
        document=compared.report,
        values=compared.values,
        write=partial(write_comparison, compared=compared),
    )


compare = synchronous(acompare, name="compare", doc=f"{acompare.__doc__}")
compare_exams = synchronous(acompare_exams, name="compare_exams", doc=f"{acompare_exams.__doc__}")


def _scores(exam: Exam) -> ExamScores:
    if not isinstance(exam, StudyReport):
        return read_scores(Path(exam))
    if exam.scores is None:
        raise ConfigError(f"{exam!r} has no scores by which judges can be compared")
    return exam.scores


def _name(exam: Exam, letter: str) -> str:
    return f"exam {letter}" if isinstance(exam, StudyReport) else str(exam)
