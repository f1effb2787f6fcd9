"""Two runs on the same texts compared, from their files to a report."""

from dataclasses import dataclass
from pathlib import Path

from spanjury.judges.core import DataError
from spanjury.orchestration.report import Report
from spanjury.orchestration.report.files import write_report
from spanjury.orchestration.report.json import plain
from spanjury.orchestration.services.scorers import read_scorers
from spanjury.orchestration.studies.comparison.runs import (
    Difference,
    differences,
    differences_report,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRuns:
    """The differences between two runs, whose files or folders `first` and `second` are."""

    first: Path
    second: Path
    differences: tuple[Difference, ...]

    @property
    def report(self) -> Report:
        """The comparison for people."""
        names = {"first": str(self.first), "second": str(self.second)}
        return differences_report(self.differences, **names)

    @property
    def values(self) -> dict[str, object]:
        """The comparison for programs, with all digits."""
        return {
            "first": str(self.first),
            "second": str(self.second),
            "differences": plain(self.differences, digits=None),
        }


def compare_runs(first: Path, second: Path, *, seed: int, draws: int) -> ComparedRuns:
    """Compare the scores of two runs, text by text.

    Raise `DataError` if a file cannot be read, or the two have no scorer and aspect in common.
    """
    compared = differences(read_scorers([first]), read_scorers([second]), seed=seed, draws=draws)
    if not compared:
        raise DataError(f"{first} and {second} have no scorer and aspect in common")
    return ComparedRuns(first=first, second=second, differences=compared)


def write_run_comparison(folder: Path, compared: ComparedRuns) -> list[Path]:
    """Write ``comparison.md``, ``.html`` and ``.json`` into `folder`; return their paths.

    Raise `StoreError` if something cannot be written.
    """
    return write_report(
        folder, compared.report, data=compared.values, page="comparison", values="comparison"
    )
