"""Open folders of runs and memories by their paths, and temporary files for what is read there."""

import filecmp
import shlex
from contextlib import suppress
from itertools import chain
from pathlib import Path

from spanjury.adapters.files.line_writer import PART, count_lines, part_of
from spanjury.adapters.files.spool import Spool, open_spool
from spanjury.adapters.runs.database import MEMORY_NAME
from spanjury.adapters.runs.repair import Repaired, repair
from spanjury.adapters.runs.run_folder import (
    RunContents,
    RunFolder,
    find_databases,
    find_run,
    leftovers,
    lock_of,
    new_run,
    remove_leftover,
    remove_run,
    run_contents,
    runs_home,
    unmade_if_refused,
)
from spanjury.adapters.runs.run_lock import RunLock, is_locked
from spanjury.adapters.runs.sqlite_memory import SqliteMemory, open_kept_memory
from spanjury.judges.core import StoreError

__all__ = [
    "MEMORY_NAME",
    "PART",
    "Repaired",
    "RunContents",
    "RunFolder",
    "RunLock",
    "Spool",
    "SqliteMemory",
    "count_lines",
    "find_databases",
    "find_run",
    "is_kept_by_a_run",
    "is_locked",
    "leftovers",
    "lock_of",
    "new_run",
    "open_kept_memory",
    "open_spool",
    "own_results",
    "part_of",
    "remove_leftover",
    "remove_run",
    "repair",
    "run_contents",
    "runs_home",
    "unmade_if_refused",
]


def own_results(results: Path, folder: RunFolder) -> Path:
    """Return the `results` of the run in `folder`; raise `StoreError` if another run replaced them.

    Runs of earlier releases have their results outside the folder, where other runs may write.
    """
    if results.parent.resolve() != folder.path.resolve() and is_kept_by_a_run(results):
        name = shlex.quote(folder.path.name)
        raise StoreError(
            f"{results} holds the results of another run by now: write those of {name} to a file"
            f" with: spanjury rescore {name} -o FILE"
        )
    return results


def is_kept_by_a_run(path: Path, run: RunFolder | None = None) -> bool:
    """Return whether `run`, or a run among the user's data, has the same rows in its folder."""
    size = path.stat().st_size
    with suppress(OSError):  # an unreadable folder keeps nothing for the user
        for folder in chain(filter(None, [run]), RunFolder.among(runs_home())):
            for kept in (folder.results, part_of(folder.results)):
                is_alike = kept.is_file() and kept.stat().st_size == size
                if is_alike and filecmp.cmp(path, kept, shallow=False):
                    return True
    return False
