"""List runs, and find old ones to delete."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from spanjury.judges.core import ConfigError, StoreError
from spanjury.orchestration.services.judging.job import Job
from spanjury.orchestration.services.runs.run_folder import ASSESSMENTS, CLUSTER, job_of
from spanjury.orchestration.wiring.runs import (
    RunContents,
    RunFolder,
    count_lines,
    is_locked,
    leftovers,
    lock_of,
    part_of,
    remove_leftover,
    remove_run,
    run_contents,
    runs_home,
)

State = Literal["done", "open", "going on", "damaged"]

_AGE = re.compile(r"(\d{1,5})([hdw])", re.ASCII)
_HOURS = {"h": 1, "d": 24, "w": 24 * 7}
_NAMED = 5
"""Most foreign files that are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEntry:
    """A run in a list.

    `begun`, `rows` and `of` are None if they are unknown; `problem` is empty unless the run is
    damaged. `written` is the time of its start or of the last write. `rows` is the number of result
    rows so far, and `of` their total. `data` is the judged file, or why the run cannot be resumed.
    Machines of a cluster hold no lock.
    """

    run: RunFolder
    state: State
    begun: datetime | None = None
    written: datetime
    rows: int | None = None
    of: int | None = None
    data: str = ""
    contents: RunContents
    is_on_cluster: bool = False
    problem: str = ""


def runs_in(folder: Path | None) -> tuple[Path, list[RunEntry]]:
    """Return the folder of runs, by default that among the user's data, and its runs, newest first.

    Raises `StoreError` if there is no such folder, or a part of it cannot be read.
    """
    if folder is not None and not folder.is_dir():
        raise StoreError(f"there is no folder {folder}")
    home = folder or runs_home()
    entries = []
    for run in RunFolder.among(home):
        try:
            entries.append(read_entry(run))
        except StoreError:
            if run.path.exists():  # otherwise it was deleted meanwhile
                raise
    return home, sorted(entries, key=lambda entry: entry.written, reverse=True)


def read_entry(run: RunFolder, *, is_ours: bool = False) -> RunEntry:
    """Read the entry of `run`; raise `StoreError` if its folder cannot be read.

    `is_ours` says that this process holds the lock of the run, so no other works on it.
    """
    contents = run_contents(run)
    written = datetime.fromtimestamp(contents.written, UTC)
    try:
        manifest = run.manifest()
        is_on_cluster = CLUSTER in manifest
        job, data = _job_and_data(run, manifest)
    except StoreError as error:  # must not hide the other runs
        return RunEntry(
            run=run,
            state="damaged",
            written=written,
            contents=contents,
            problem=str(error),
        )
    begun = _time(manifest.get("begun"))
    state: State = "done" if run.is_done else "open"
    if not is_ours and is_locked(lock_of(run)):
        state = "going on"
    of = manifest.get(ASSESSMENTS)
    of = of if type(of) is int else None
    return RunEntry(
        run=run,
        state=state,
        begun=begun,
        written=max(written, begun) if begun else written,
        rows=of if state == "done" and of is not None else _rows(run, job, state=state),
        of=of,
        data=data,
        contents=contents,
        is_on_cluster=is_on_cluster,
    )


def _job_and_data(run: RunFolder, manifest: Mapping[str, object]) -> tuple[Job | None, str]:
    """Return the job of a run and its data, if it can be resumed; otherwise the reason."""
    job = manifest.get("job")
    if CLUSTER in manifest and isinstance(job, Mapping):
        return None, str(job.get("data"))
    try:
        declared = job_of(run)
    except ConfigError as error:
        return None, f"cannot be resumed: {error}"
    return declared, str(declared.data)


def _rows(run: RunFolder, job: Job | None, *, state: State) -> int | None:
    """Count the result rows; None if they may not belong to this run."""
    if job is None:
        return None
    part = part_of(job.output)
    if state != "going on" and job.output != run.results:
        return None if state == "done" else run.rows_at_stop
    is_part = state == "going on" or (state == "open" and part.exists())
    try:
        return count_lines(part if is_part else run.results)
    except OSError:
        return None


def _time(text: object) -> datetime | None:
    try:
        moment = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneRule:
    """A rule that selects runs to delete.

    It applies to runs that were last written before a time, except the `keep` newest. Open runs,
    marked runs and runs with foreign files are protected unless their field is True.
    """

    before: datetime
    keep: int = 0
    takes_open: bool = False
    takes_marks: bool = False
    takes_others: bool = False

    def protection(self, entry: RunEntry) -> str:
        """Return the reason why a run is kept whatever its age; empty if there is none."""
        is_open = entry.state == "open"
        grounds = (
            (entry.run.path.is_symlink(), "it is a link"),
            (entry.state == "going on", "a process works on it"),
            (entry.state == "damaged", "its manifest is damaged"),
            (
                is_open and entry.is_on_cluster,
                "it is open, and machines of a cluster may work on it",
            ),
            (is_open and not self.takes_open, "it is open; --open takes it"),
            (
                entry.contents.marks and not self.takes_marks,
                "people marked it; --with-marks takes it",
            ),
            (
                entry.contents.others and not self.takes_others,
                f"it holds {others_named(entry)}; --with-other-files takes them",
            ),
        )
        return next((reason for holds, reason in grounds if holds), "")


@dataclass(frozen=True, slots=True)
class Protected:
    """A run that is old enough to delete, and what protects it."""

    entry: RunEntry
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneChoice:
    """The runs that a rule deletes, and those that it would delete without their protection."""

    chosen: tuple[RunEntry, ...]
    protected: tuple[Protected, ...]


def parse_age(text: str) -> timedelta:
    """Parse an age, such as ``30d``; raise `ConfigError` if it is invalid."""
    match = _AGE.fullmatch(text)
    if match is None:
        raise ConfigError(
            f"--older-than takes hours, days or weeks, as 12h, 30d or 2w, not {text!r}"
        )
    return timedelta(hours=int(match[1]) * _HOURS[match[2]])


def choose(entries: Sequence[RunEntry], rule: PruneRule) -> PruneChoice:
    """Return the runs that `rule` deletes, given all runs sorted newest first."""
    old = [entry for entry in entries[rule.keep :] if entry.written < rule.before]
    reasons = [(entry, rule.protection(entry)) for entry in old]
    return PruneChoice(
        chosen=tuple(entry for entry, reason in reasons if not reason),
        protected=tuple(Protected(entry, reason) for entry, reason in reasons if reason),
    )


def prune(entry: RunEntry, rule: PruneRule) -> bool:
    """Delete a run if `rule` still applies; return whether it was deleted.

    Raise `StoreError` if a process works on it by now, or its folder cannot be deleted.
    """

    def is_still_chosen() -> bool:
        now = read_entry(entry.run, is_ours=True)
        return now.written < rule.before and not rule.protection(now)

    return remove_run(entry.run, still=is_still_chosen)


def finish_removals(folder: Path) -> int:
    """Delete the remains of an interrupted pruning of `folder`; return the number of runs.

    Raise `StoreError` if something cannot be deleted.
    """
    left = list(leftovers(folder))
    for path in left:
        remove_leftover(path)
    return len(left)


def others_named(entry: RunEntry) -> str:
    """Name the first foreign files in the folder of a run."""
    names = entry.contents.others
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"
