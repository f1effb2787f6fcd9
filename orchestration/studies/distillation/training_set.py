"""A training set on disk: a file for each split, and one that says what they hold."""

import hashlib
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from spanjury.judges.core import DataError
from spanjury.orchestration.studies.distillation.examples import (
    SPLITS,
    Example,
    Split,
    read_examples,
)

__all__ = ["FORMAT", "SEAL", "read_split", "require_whole", "split_file"]

FORMAT = 1
SEAL = "tables.json"
"""What the files hold, and their digests; it is there iff they are whole."""

_FILES: TypeAdapter[dict[str, object]] = TypeAdapter(dict[str, object])


def split_file(split: Split) -> str:
    """Return the name of the file of `split`."""
    return f"{split}.jsonl"


def read_split(folder: Path, split: Split) -> tuple[Example, ...]:
    """Return the examples of one split; raise `DataError` as `read_examples` does."""
    return tuple(read_examples(folder / split_file(split)))


def require_whole(folder: Path) -> None:
    """See that the files in `folder` are those that were built together.

    Raises
    ------
    DataError
        If there is no training set, or a file is not as it was when it was built.
    """
    try:
        told = _FILES.validate_json((folder / SEAL).read_bytes())
    except OSError as error:
        raise DataError(
            f"{folder}: no whole training set is there ({SEAL}: {error.strerror})"
        ) from error
    except ValidationError as error:
        raise DataError(f"{folder / SEAL}: not what `distil build` writes") from error
    files = told.get("files")
    for split in SPLITS:
        path = folder / split_file(split)
        known = files.get(path.name) if isinstance(files, dict) else None
        if not isinstance(known, dict) or known.get("sha256") != _digest(path):
            raise DataError(f"{path}: not the file that {SEAL} tells of; build the data again")


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from error
