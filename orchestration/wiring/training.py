"""Training, and the files of a training set."""

from pathlib import Path

from spanjury.adapters.files.line_writer import SealedFiles
from spanjury.adapters.training import training
from spanjury.adapters.training.card import add_to_card
from spanjury.adapters.training.job import (
    DataStatistics,
    Progress,
    Trained,
    TrainingJob,
    TrainingOptions,
    TrainingPair,
    VerdictWords,
    pairs_digest,
)
from spanjury.adapters.training.tokens import model as reader_training
from spanjury.adapters.training.tokens import training as token_training
from spanjury.adapters.training.tokens.job import (
    CheckerForm,
    CheckerHead,
    Question,
    TokenJob,
    TokenOptions,
    windows_digest,
)
from spanjury.judges.llm.guardian import tuned_question
from spanjury.orchestration.studies.distillation.training_set import SEAL, SPLITS, split_file

__all__ = [
    "CheckerForm",
    "DataStatistics",
    "Progress",
    "TokenJob",
    "TokenOptions",
    "Trained",
    "TrainingJob",
    "TrainingOptions",
    "TrainingPair",
    "VerdictWords",
    "add_to_card",
    "checker_form",
    "open_training_files",
    "pairs_digest",
    "reader_training",
    "token_training",
    "training",
    "windows_digest",
]


def checker_form(head: CheckerHead, *, classes: int) -> CheckerForm:
    """Return the form of a checker; a guardian is asked the question of ``guardian:tuned``.

    Raise `ValueError` as `CheckerForm` does.
    """
    question = Question(*tuned_question()) if head == "guardian" else None
    return CheckerForm(head=head, classes=classes, question=question)


def open_training_files(folder: Path) -> SealedFiles:
    """Open a file for each split in `folder`, as a context manager; see `SealedFiles`."""
    return SealedFiles(folder, names=tuple(map(split_file, SPLITS)), seal=SEAL)
