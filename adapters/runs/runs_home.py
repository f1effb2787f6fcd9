"""Where runs are kept that were given no folder: among the user's data."""

import os
from datetime import datetime
from pathlib import Path

from platformdirs import user_data_path

from spanjury.adapters.runs.memory_file import MEMORY_NAME
from spanjury.adapters.runs.run_folder import RunFolder
from spanjury.judges.core import StoreError

__all__ = ["HOME_VARIABLE", "find_memory", "find_run", "new_run", "runs_home"]

HOME_VARIABLE = "SPANJURY_RUNS"
"""Environment variable that names another folder for them."""


def runs_home() -> Path:
    """Return the folder, which need not be there."""
    told = os.environ.get(HOME_VARIABLE)
    return Path(told) if told else user_data_path("spanjury", appauthor=False) / "runs"


def new_run(label: str, *, now: datetime) -> RunFolder:
    """Make an empty folder for a run that begins `now`, named after that and `label`.

    Raises
    ------
    StoreError
        If none can be made.
    """
    name = f"{now:%Y-%m-%d-%H%M%S}-{label}"
    home = runs_home()
    number = 1
    while True:
        path = home / (f"{name}-{number}" if number > 1 else name)
        try:
            path.mkdir(parents=True)
        except OSError as error:
            if not path.is_dir():
                raise StoreError(f"{path}: cannot be made: {error.strerror}") from error
            number += 1
        else:
            return RunFolder(path)


def find_run(told: Path) -> RunFolder:
    """Return the run whose folder is `told`, or that has this name among the user's data.

    Raises
    ------
    StoreError
        If there is none.
    """
    for run in (RunFolder(told), RunFolder(runs_home() / told)):
        if run.exists:
            return run
    raise StoreError(f"there is no run {told}, neither as a folder nor in {runs_home()}")


def find_memory(named: Path) -> Path:
    """Return the memory that `named` is, or that of a folder, or of a run of this name.

    The run need not be whole: its folder holds the memory, or its log, or what a repair of
    it left.

    Raises
    ------
    StoreError
        If there is none.
    """
    if named.is_file():
        return named
    for folder in (named, runs_home() / named):
        if any(folder.glob(f"{MEMORY_NAME}*")):
            return folder / MEMORY_NAME
    raise StoreError(
        f"there is no memory {named}, expected the folder or the name of a run, or a file as"
        f" {named / MEMORY_NAME}"
    )
