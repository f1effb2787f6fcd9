"""What `spanjury exam compare` does once its flags are read."""

from pathlib import Path

from spanjury.orchestration.cli.console import CleanConsole
from spanjury.orchestration.cli.exits import say
from spanjury.orchestration.report.terminal import report_view
from spanjury.orchestration.services.exam_comparison import compare_folders, write_comparison

__all__ = ["compare_exams"]


def compare_exams(*, first: Path, second: Path, output: Path | None, seed: int, draws: int) -> None:
    """Compare the judges of two exams, show it, and write it into a folder if one is named."""
    compared = compare_folders((first, second), seed=seed, draws=draws)
    CleanConsole().print(report_view(compared.report))
    for path in write_comparison(output, compared) if output else ():
        say(f"written: {path}")
