"""The contents of a run's folder: which files a run makes, which are someone else's."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from spanjury.adapters.runs.database import MARKS_NAME, MEMORY_NAME
from spanjury.adapters.runs.run_folder import RunFolder
from spanjury.judges.core import StoreError

_DATABASE = r"(-wal|-shm|-journal|\.lock|\.repaired(-wal|-shm|-journal)?|\.damaged-\d+(-wal)?)?"
_OURS = re.compile(
    rf"run(-\d+)?\.json(\.new|\.damaged)?|done|stopped|{re.escape(MEMORY_NAME)}{_DATABASE}"
    r"|results\.jsonl(\.part|\.refused)?|shards/[^/]+\.jsonl|batches/\d+[-a-z0-9]*\.jsonl(\.new)?"
)
_MARKS = re.compile(rf"{re.escape(MARKS_NAME)}(\.backup\.jsonl|{_DATABASE})")
_TOUCHED_BY_READERS = (".lock", "-shm")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContents:
    """The files in the folder of a run.

    Parameters
    ----------
    size
        Bytes of all files.
    written
        When a file was written last, in seconds since 1970; what merely reads a run does not count.
    marks
        Whether people's marks are among them.
    others
        Paths within the folder that no run makes: other files, folders without any, links.
    """

    size: int
    written: float
    marks: bool
    others: tuple[str, ...]


def run_contents(run: RunFolder) -> RunContents:
    """Look at every file in the folder of `run`, behind no link.

    Raises `StoreError` if a part of it cannot be read.
    """
    size, written, marks = 0, 0.0, False
    others: list[str] = []
    try:
        for name, entry in _files(run.path):
            facts = entry.stat(follow_symlinks=False)
            size += facts.st_size
            if not name.endswith(_TOUCHED_BY_READERS):
                written = max(written, facts.st_mtime)
            is_file = entry.is_file(follow_symlinks=False)
            is_mark = is_file and _MARKS.fullmatch(name) is not None
            marks |= is_mark
            if not is_file or not (is_mark or _OURS.fullmatch(name)):
                others.append(name)
    except OSError as error:
        raise StoreError(
            f"{error.filename or run.path}: cannot be read: {error.strerror}"
        ) from error
    return RunContents(size=size, written=written, marks=marks, others=tuple(sorted(others)))


def _files(folder: Path, above: str = "") -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield what lies in `folder` with its path there; of folders only those that are empty."""
    with os.scandir(folder) as entries:
        for entry in entries:
            name = f"{above}{entry.name}"
            inner = []
            if entry.is_dir(follow_symlinks=False):
                inner = list(_files(Path(entry.path), f"{name}/"))
            yield from inner or ((name, entry),)
