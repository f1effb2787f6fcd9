"""Two exams compared, from their scores or folders to a folder with the results."""

from dataclasses import dataclass
from pathlib import Path

from spanjury.orchestration.report import Report
from spanjury.orchestration.report.files import write_report
from spanjury.orchestration.services.exam_scores import ExamScores, read_scores
from spanjury.orchestration.studies.comparison.comparison import Comparison, compare
from spanjury.orchestration.studies.comparison.tables import (
    comparison_json,
    comparison_report,
)
from spanjury.orchestration.studies.judging import Examinee


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedExams:
    """Two exams and their comparison.

    Parameters
    ----------
    names
        Names of the exams: their folders, or other names.
    """

    names: tuple[str, str]
    exams: tuple[ExamScores, ExamScores]
    comparison: Comparison

    @property
    def judges(self) -> tuple[Examinee, Examinee]:
        """A and B."""
        first, second = self.exams
        return first.examinee, second.examinee

    @property
    def report(self) -> Report:
        """The comparison for people."""
        return comparison_report(self.comparison, judges=self.judges, folders=self.names)

    @property
    def values(self) -> dict[str, object]:
        """The comparison for programs."""
        return comparison_json(self.comparison, judges=self.judges)


def compare_folders(folders: tuple[Path, Path], *, seed: int, draws: int) -> ComparedExams:
    """Compare the judges of two finished exams; no judge is asked.

    Raise `DataError` if a folder holds no scores, or they cannot be read, and `ConfigError`
    if the exams have nothing in common.
    """
    first, second = folders
    names = (str(first), str(second))
    return compare_scores(names, (read_scores(first), read_scores(second)), seed=seed, draws=draws)


def compare_scores(
    names: tuple[str, str], exams: tuple[ExamScores, ExamScores], *, seed: int, draws: int
) -> ComparedExams:
    """Compare the judges of two exams by their scores.

    Raise `ConfigError` if the exams have nothing in common.
    """
    first, second = exams
    comparison = compare(first.rows, second.rows, seed=seed, draws=draws)
    return ComparedExams(names=names, exams=exams, comparison=comparison)


def write_comparison(folder: Path, compared: ComparedExams) -> list[Path]:
    """Write ``comparison.md``, ``.html`` and ``.json`` into `folder`; return their paths.

    Raise `StoreError` if something cannot be written.
    """
    return write_report(
        folder, compared.report, data=compared.values, page="comparison", values="comparison"
    )
