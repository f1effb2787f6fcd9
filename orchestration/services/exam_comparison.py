"""Two exams compared, from their folders to a folder with what came of it."""

import json
from dataclasses import dataclass
from pathlib import Path

from spanjury.judges.core import StoreError
from spanjury.orchestration.report.files import write_whole
from spanjury.orchestration.services.exam_scores import ExamScores, read_scores
from spanjury.orchestration.studies.comparison.comparison import Comparison, compare
from spanjury.orchestration.studies.comparison.page import (
    comparison_json,
    comparison_markdown,
)

__all__ = ["ComparedExams", "compare_folders", "write_comparison"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedExams:
    """Two exams and their comparison.

    Parameters
    ----------
    folders, exams
        A and B.
    comparison
        What it came to.
    """

    folders: tuple[Path, Path]
    exams: tuple[ExamScores, ExamScores]
    comparison: Comparison


def compare_folders(folders: tuple[Path, Path], *, seed: int, draws: int) -> ComparedExams:
    """Compare the judges of two finished exams; nobody is asked anything.

    Parameters
    ----------
    folders
        Where the exams are.
    seed, draws
        Of the bootstrap.

    Raises
    ------
    DataError
        If a folder holds no scores, or they cannot be read.
    ConfigError
        If the exams have nothing in common.
    """
    first, second = (read_scores(folder) for folder in folders)
    comparison = compare(first.rows, second.rows, seed=seed, draws=draws)
    return ComparedExams(folders=folders, exams=(first, second), comparison=comparison)


def write_comparison(folder: Path, compared: ComparedExams) -> list[Path]:
    """Write ``comparison.md`` and ``comparison.json`` into `folder`; return their paths.

    Raises
    ------
    StoreError
        If something cannot be written.
    """
    first, second = compared.exams
    judges = (first.examinee, second.examinee)
    page = comparison_markdown(
        compared.comparison,
        judges=judges,
        folders=(str(compared.folders[0]), str(compared.folders[1])),
    )
    told = json.dumps(
        comparison_json(compared.comparison, judges=judges), ensure_ascii=False, indent=1
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{folder}: cannot be written: {error.strerror}") from error
    paths = [folder / "comparison.md", folder / "comparison.json"]
    for path, text in zip(paths, (page, f"{told}\n"), strict=True):
        write_whole(path, text.encode())
    return paths
