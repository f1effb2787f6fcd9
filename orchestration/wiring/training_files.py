"""The files of a training set."""

from pathlib import Path

from spanjury.adapters.files.sealed_files import SealedFiles
from spanjury.orchestration.studies.distillation.examples import SPLITS
from spanjury.orchestration.studies.distillation.training_set import SEAL, split_file

__all__ = ["open_training_files"]


def open_training_files(folder: Path) -> SealedFiles:
    """Open a file for each split in `folder`, for ``with``; see `SealedFiles`."""
    return SealedFiles(folder, names=tuple(map(split_file, SPLITS)), seal=SEAL)
