"""What `spanjury compare` does once its flags are read."""

from pathlib import Path

from spanjury.judges.core import DataError
from spanjury.orchestration.cli.console import CleanConsole
from spanjury.orchestration.cli.metric_cards import print_json
from spanjury.orchestration.report.json import plain
from spanjury.orchestration.report.terminal import report_view
from spanjury.orchestration.services.scorers import read_scorers
from spanjury.orchestration.studies.comparison.runs import differences, differences_report

__all__ = ["compare_runs"]


def compare_runs(*, first: Path, second: Path, seed: int, draws: int, json: bool) -> None:
    """Compare two runs, scorer by scorer and aspect by aspect."""
    found = differences(read_scorers([first]), read_scorers([second]), seed=seed, draws=draws)
    if not found:
        raise DataError(f"{first} and {second} have no scorer and aspect in common")
    if json:
        print_json(plain(found, digits=None))
    else:
        report = differences_report(found, first=str(first), second=str(second))
        CleanConsole().print(report_view(report))
