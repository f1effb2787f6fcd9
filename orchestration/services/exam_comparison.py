"""Two exams compared, from their folders to a folder with the results."""

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
    """Two exams and their comparison."""

    folders: tuple[Path, Path]
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
        first, second = self.folders
        folders = (str(first), str(second))
        return comparison_report(self.comparison, judges=self.judges, folders=folders)


def compare_folders(folders: tuple[Path, Path], *, seed: int, draws: int) -> ComparedExams:
    """Compare the judges of two finished exams; no judge is asked.

    Raise `DataError` if a folder holds no scores, or they cannot be read, and `ConfigError`
    if the exams have nothing in common.
    """
    first, second = (read_scores(folder) for folder in folders)
    comparison = compare(first.rows, second.rows, seed=seed, draws=draws)
    return ComparedExams(folders=folders, exams=(first, second), comparison=comparison)


def write_comparison(folder: Path, compared: ComparedExams) -> list[Path]:
    """Write ``comparison.md``, ``.html`` and ``.json`` into `folder`; return their paths.

    Raise `StoreError` if something cannot be written.
    """
    data = comparison_json(compared.comparison, judges=compared.judges)
    return write_report(folder, compared.report, data=data, page="comparison", values="comparison")
