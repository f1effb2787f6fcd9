"""The removal of a run: its folder is renamed first, so that no half of a run is left behind.

What a crash leaves is a folder that is called as none of ours, and is no run any longer;
`leftovers` finds it.
"""

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path

from spanjury.adapters.runs.run_folder import REMOVED, RunFolder
from spanjury.adapters.runs.run_lock import RunLock
from spanjury.judges.core import StoreError


def remove_run(run: RunFolder, *, still: Callable[[], bool] = lambda: True) -> bool:
    """Delete the folder of `run` with all that is in it; return whether that was done.

    Links are deleted, not what they lead to. While another process works on the run it stays.

    Parameters
    ----------
    still
        Says, once no process can begin to work on the run, whether it is still to be deleted.

    Raises
    ------
    StoreError
        If a process works on the run, or its folder cannot be renamed or deleted.
    """
    with ExitStack() as stack:
        stack.enter_context(RunLock(lock_of(run)))
        if not still():
            return False
        if sys.platform == "win32":  # where no folder with an open file can be renamed
            stack.close()
        renamed = _renamed(run.path)
    remove_leftover(renamed)
    return True


def lock_of(run: RunFolder) -> Path:
    """Return the lock file that whoever works on `run` holds."""
    return run.memory.with_name(f"{run.memory.name}.lock")


def leftovers(folder: Path) -> Iterator[Path]:
    """Yield what removals in `folder` that broke off have left, by name."""
    for path in sorted(folder.glob(f"{REMOVED}*")) if folder.is_dir() else ():
        if path.is_dir() and not path.is_symlink():
            yield path


def remove_leftover(path: Path) -> None:
    """Delete a renamed folder; raise `StoreError` if a part of it cannot be."""
    try:
        shutil.rmtree(path, onerror=_unless_gone)
    except OSError as error:
        raise StoreError(f"{error.filename}: cannot be deleted: {error.strerror}") from error


def _renamed(path: Path) -> Path:
    names = (path.with_name(f"{REMOVED}{number}-{path.name}") for number in count(1))
    free = next(name for name in names if not os.path.lexists(name))
    try:
        return path.rename(free)
    except OSError as error:
        raise StoreError(f"{path}: cannot be deleted: {error.strerror}") from error


def _unless_gone(_: object, __: str, problem: tuple[object, BaseException, object]) -> None:
    """Raise what keeps a file from being deleted, unless another process has done it."""
    if not isinstance(problem[1], FileNotFoundError):
        raise problem[1]
