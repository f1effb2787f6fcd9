"""The folder of a run: its manifest, memory, results and other files, and its removal.

Runs without a given folder are stored among the user's data, in `runs_home`. Before a run is
deleted, its folder is renamed, so that there is never half a run: after a crash, `leftovers` finds
the renamed folder.
"""

import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import Path

from platformdirs import user_data_path

from spanjury.adapters.runs.database import MARKS_NAME, MEMORY_NAME
from spanjury.adapters.runs.run_lock import RunLock, is_locked
from spanjury.judges.core import EvaluationError, StoreError

_MANIFEST = "run.json"
_DAMAGED = f"{_MANIFEST}.damaged"
_FILES = ("output", "copy", "memory")
"""Fields of a job that name its own files."""
_SHOWN = 200
"""Maximum number of characters of a setting in a message."""
_DONE = "done"
_STOPPED = "stopped"
REMOVED = ".removed-spanjury-run-"
"""Prefix of the name of a folder that is being deleted."""
HOME_VARIABLE = "SPANJURY_RUNS"
"""Environment variable that sets another folder for runs."""
_DATABASE = (
    r"(-wal|-shm|-journal|\.lock|\.(new|repaired)(-wal|-shm|-journal)?|\.damaged-\d+(-wal)?)?"
)
_OURS = re.compile(
    rf"run(-\d+)?\.json(\.new|\.damaged)?|done|stopped|{re.escape(MEMORY_NAME)}{_DATABASE}"
    r"|results\.jsonl(\.part(\.next)?|\.refused)?|shards/[^/]+\.jsonl|batches/\d+[-a-z0-9]*\.jsonl(\.new)?"
)
_MARKS = re.compile(rf"{re.escape(MARKS_NAME)}(\.backup\.jsonl|{_DATABASE})")
_TOUCHED_BY_READERS = (".lock", "-shm")


@contextmanager
def _failing(path: Path, what: str = "written") -> Iterator[None]:
    """Translate errors of the operating system into a `StoreError` about `path`."""
    try:
        yield
    except OSError as error:
        raise StoreError(f"{path}: cannot be {what}: {error.strerror}") from error


@dataclass(frozen=True, slots=True)
class RunFolder:
    """A folder with ``run.json`` (the manifest), a memory and the results; `create` makes it.

    Methods raise `StoreError` if the folder cannot be read or written.
    """

    path: Path

    @property
    def memory(self) -> Path:
        """Path of the memory of all replies and reports."""
        return self.path / MEMORY_NAME

    @property
    def results(self) -> Path:
        """Path of the result rows."""
        return self.path / "results.jsonl"

    @property
    def exists(self) -> bool:
        """True if the folder contains a run."""
        return (self.path / _MANIFEST).is_file()

    @property
    def is_done(self) -> bool:
        """True if the run is complete since it was last started."""
        return (self.path / _DONE).is_file()

    @property
    def is_damaged(self) -> bool:
        """True if there is a manifest that cannot be parsed, for example an empty one."""
        try:
            self.manifest()
        except StoreError as error:
            return self.exists and not isinstance(error.__cause__, OSError)
        return False

    def mark(self, *, done: bool) -> None:
        """Record that the run has started, or that it is complete."""
        mark = self.path / _DONE
        with _failing(mark):
            mark.touch() if done else mark.unlink(missing_ok=True)

    def note_stop(self, rows: int) -> None:
        """Record the number of `rows` when the run was stopped; its results may be elsewhere."""
        note = self.path / _STOPPED
        with _failing(note):
            note.write_text(f"{rows}\n", encoding="ascii")

    @property
    def rows_at_stop(self) -> int | None:
        """Number of rows when the run was last stopped; None if that was not recorded."""
        try:
            return int((self.path / _STOPPED).read_text(encoding="ascii"))
        except (OSError, ValueError):
            return None

    def create(self, manifest: Mapping[str, object]) -> None:
        """Create the folder and write its manifest, completely or not at all.

        A damaged manifest is renamed, so that its run can start again with the existing memory.

        Raises `StoreError` if the folder already contains a run.
        """
        if self.exists and not self.is_damaged:
            changes = ", ".join(_changes(self.manifest().get("job"), manifest.get("job")))
            others = f" with other settings ({changes})" if changes else ""
            raise StoreError(
                f"{self.path} already holds a run{others}; name another folder, or continue that"
                f" run with: spanjury resume {self.path}"
            )
        if self.exists:
            with _failing(self.path):
                (self.path / _MANIFEST).replace(self.path / _DAMAGED)
        self._write(manifest)

    def change(self, manifest: Mapping[str, object]) -> None:
        """Write another manifest; the previous one is kept as ``run-N.json``, with the next free N.

        The number of rows at the last stop is forgotten, since the results may change.
        """
        paths = (self.path / f"run-{number}.json" for number in count(1))
        free = next(path for path in paths if not path.exists())
        with _failing(free):
            shutil.copyfile(self.path / _MANIFEST, free)
            (self.path / _STOPPED).unlink(missing_ok=True)
        self._write(manifest)

    def note(self, **facts: Mapping[str, object]) -> None:
        """Add facts about models to the manifest, keeping those already there."""
        manifest = self.manifest()
        updated = {}
        for name, of in facts.items():
            noted = manifest.get(name)
            if of:
                updated[name] = {**noted, **of} if isinstance(noted, Mapping) else of
        if any(manifest.get(name) != of for name, of in updated.items()):
            self._write({**manifest, **updated})

    def _write(self, manifest: Mapping[str, object]) -> None:
        text = json.dumps(manifest, ensure_ascii=False, indent=1)
        path = self.path / _MANIFEST
        new = path.with_name(f"{_MANIFEST}.new")
        with _failing(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
            with new.open("w", encoding="utf-8") as file:
                file.write(text + "\n")
                file.flush()
                os.fsync(file.fileno())
            new.replace(path)

    def manifest(self) -> Mapping[str, object]:
        """Read the manifest; raise `StoreError` if the folder contains no run."""
        path = self.path / _MANIFEST
        try:
            manifest = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise StoreError(f"{self.path} holds no run: there is no {_MANIFEST} in it") from error
        except OSError as error:
            raise StoreError(f"{path} cannot be read: {error}") from error
        except ValueError as error:
            raise StoreError(f"{path} cannot be read: {error}; {self._remedy()}") from error
        if not isinstance(manifest, dict):
            problem = f"is not a manifest: it holds {type(manifest).__name__}"
            raise StoreError(f"{path} {problem}; {self._remedy()}")
        return manifest

    def _remedy(self) -> str:
        """Return advice for a damaged manifest."""
        earlier = sorted(self.path.glob("run-[0-9]*.json"), key=lambda path: path.stat().st_mtime)
        before = f"{earlier[-1]} says what the run was before its last change; " if earlier else ""
        folder = shlex.quote(str(self.path))
        return (
            f"{before}begin the run again with the flags that it had: spanjury evaluate DATA …"
            f" --run-dir {folder}; its memory is there, and what was answered is not asked again"
        )

    @staticmethod
    def among(folder: Path) -> Iterator["RunFolder"]:
        """Yield the runs in `folder`, sorted by name, except those being deleted."""
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            run = RunFolder(path)
            if run.exists and not path.name.startswith(REMOVED):
                yield run


def runs_home() -> Path:
    """Return the default folder of runs, which may not exist."""
    named = os.environ.get(HOME_VARIABLE)
    return Path(named) if named else user_data_path("spanjury", appauthor=False) / "runs"


def new_run(label: str, *, now: datetime) -> RunFolder:
    """Create an empty folder for a run that starts `now`, named after the time and `label`.

    Raises `StoreError` if that fails.
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


@contextmanager
def unmade_if_refused(
    run: RunFolder, *, is_kept: Callable[[], bool], is_made: bool = False
) -> Iterator[None]:
    """Undo the start of a run if an error ends the context, unless it `is_kept`.

    Files that were in the folder before are kept, as is an existing run, or one of another process.
    `is_made` means that the folder itself was just created.
    """
    was_there = run.exists
    before = set(run.path.iterdir()) if run.path.is_dir() else set()
    new_folders = [path for path in (run.path, *run.path.parents) if not path.exists()]
    new_folders = [run.path, *new_folders] if is_made else new_folders
    try:
        yield
    except EvaluationError:
        if not was_there and not is_kept():
            with suppress(OSError, StoreError):  # the original error matters more
                _unmake(run, before=before, made=new_folders)
        raise


def _unmake(run: RunFolder, *, before: Collection[Path], made: Sequence[Path]) -> None:
    """Delete the files of `run` that were not there `before`, and the folders `made` for it."""
    if is_locked(lock_of(run)):  # another process has just started it
        return
    for path in run.path.iterdir() if run.path.is_dir() else ():
        if path not in before and _OURS.fullmatch(path.name):
            path.unlink()
    for folder in made:
        folder.rmdir()


def find_run(named: Path) -> RunFolder:
    """Return the run in the folder `named`, or with that name among the user's data.

    Raises `StoreError` if there is none.
    """
    for run in (RunFolder(named), RunFolder(runs_home() / named)):
        if run.exists:
            return run
    raise StoreError(
        f"there is no run {named}, neither as a folder nor in {runs_home()}: 'spanjury runs' lists"
        " them"
    )


def _changes(before: object, now: object) -> Iterator[str]:
    """Yield each setting in which two jobs differ; of an inner object only the names of fields."""
    if not isinstance(before, dict) or not isinstance(now, dict):
        return
    for name in now:
        old, new = before.get(name), now[name]
        if name in _FILES or old == new:
            continue
        if isinstance(old, dict) and isinstance(new, dict):
            yield f"{name}: {' and '.join(each for each in new if old.get(each) != new[each])}"
        else:
            texts = (json.dumps(value, ensure_ascii=False) for value in (old, new))
            short = (text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…" for text in texts)
            yield f"{name}: {', now '.join(short)}"


def find_databases(named: Path) -> list[Path]:
    """Return the memory or marks file `named`, or the files of a folder or a run of this name.

    The file itself may be missing if its log, its backup or a part of a repair exists.

    Raises `StoreError` if there is none.
    """
    if named.is_file() or any(named.parent.glob(f"{named.name}[-.]*")):
        return [named]
    for folder in (named, runs_home() / named):
        names = (MEMORY_NAME, MARKS_NAME)
        if existing := [folder / name for name in names if any(folder.glob(f"{name}*"))]:
            return existing
    raise StoreError(
        f"there is no memory {named}, expected the folder or the name of a run, or a file as"
        f" {named / MEMORY_NAME}"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContents:
    """The files in the folder of a run: their size in bytes, and whether people's marks are there.

    `written` is the time of the last write, in seconds since 1970; reading a run does not count.
    `others` are the relative paths of what no run creates: other files, empty folders, links.
    """

    size: int
    written: float
    marks: bool
    others: tuple[str, ...]


def run_contents(run: RunFolder) -> RunContents:
    """Inspect every file in the folder of `run`, without following links.

    Raises `StoreError` if any part cannot be read.
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
    """Yield the entries below `folder` with their relative paths; folders only if empty."""
    with os.scandir(folder) as entries:
        for entry in entries:
            name = f"{above}{entry.name}"
            inner = []
            if entry.is_dir(follow_symlinks=False):
                inner = list(_files(Path(entry.path), f"{name}/"))
            yield from inner or ((name, entry),)


def remove_run(run: RunFolder, *, still: Callable[[], bool] = lambda: True) -> bool:
    """Delete the folder of `run` with everything in it; return whether it was deleted.

    Links are deleted, but not their targets. A run on which another process works is kept.

    Raises `StoreError` if a process works on the run, or its folder cannot be renamed or deleted.

    `still` is called once the run is locked, and returns whether it should still be deleted.
    """
    with ExitStack() as stack:
        stack.enter_context(RunLock(lock_of(run)))
        if not still():
            return False
        if sys.platform == "win32":  # a folder with an open file cannot be renamed there
            stack.close()
        renamed = _renamed(run.path)
    remove_leftover(renamed)
    return True


def lock_of(run: RunFolder) -> Path:
    """Return the lock file held by the process that works on `run`."""
    return run.memory.with_name(f"{run.memory.name}.lock")


def leftovers(folder: Path) -> Iterator[Path]:
    """Yield the folders left by interrupted removals in `folder`, sorted by name."""
    for path in sorted(folder.glob(f"{REMOVED}*")) if folder.is_dir() else ():
        if path.is_dir() and not path.is_symlink():
            yield path


def remove_leftover(path: Path) -> None:
    """Delete a renamed folder; raise `StoreError` if any part cannot be deleted."""
    try:
        shutil.rmtree(path, onerror=_unless_gone)
    except OSError as error:
        raise StoreError(f"{error.filename}: cannot be deleted: {error.strerror}") from error


def _renamed(path: Path) -> Path:
    names = (path.with_name(f"{REMOVED}{number}-{path.name}") for number in count(1))
    free = next(name for name in names if not os.path.lexists(name))
    with _failing(path, "deleted"):
        return path.rename(free)


def _unless_gone(_: object, __: str, problem: tuple[object, BaseException, object]) -> None:
    """Raise the error of a deletion, unless another process has deleted the file."""
    if not isinstance(problem[1], FileNotFoundError):
        raise problem[1]
