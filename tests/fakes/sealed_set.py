"""Training sets as `distil build` leaves them: a file for each split, and the seal."""

from collections.abc import Iterable
from pathlib import Path

from spanjury.orchestration.studies.distillation.training_set import (
    SPLITS,
    Example,
    example_line,
    split_file,
)
from spanjury.orchestration.wiring.training import open_training_files


def write_set(
    folder: Path,
    *,
    train: Iterable[Example] = (),
    validation: Iterable[Example] = (),
    test: Iterable[Example] = (),
) -> Path:
    """Write a whole set into `folder` and return it; examples go where they are put."""
    with open_training_files(folder) as files:
        for split, examples in zip(SPLITS, (train, validation, test), strict=True):
            for example in examples:
                files.append(split_file(split), example_line(example))
        files.close_with({})
    return folder
