"""The pruning of runs: which ones are old enough to be deleted, and what protects the others."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from spanjury.judges.core import ConfigError
from spanjury.orchestration.services.runs.run_list import RunEntry, read_entry
from spanjury.orchestration.wiring.runs import leftovers, remove_leftover, remove_run

_AGE = re.compile(r"(\d{1,5})([hdw])", re.ASCII)
_HOURS = {"h": 1, "d": 24, "w": 24 * 7}
_NAMED = 5
"""The most files of others that are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneRule:
    """A rule about which runs are deleted.

    Parameters
    ----------
    before
        Runs that were begun or written to last before this.
    keep
        How many of the newest runs are kept, however old they are.
    takes_open
        Whether runs that have not come to their end are deleted, too.
    takes_marks
        Whether runs that people marked are deleted, too.
    takes_others
        Whether runs are deleted, too, that hold files which no run makes.
    """

    before: datetime
    keep: int = 0
    takes_open: bool = False
    takes_marks: bool = False
    takes_others: bool = False

    def protection(self, entry: RunEntry) -> str:
        """Say what protects a run, whatever its age; empty if nothing does."""
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
    """A run that is old enough, and what protects it."""

    entry: RunEntry
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneChoice:
    """The runs that a rule deletes, and those that it would if nothing protected them."""

    chosen: tuple[RunEntry, ...]
    protected: tuple[Protected, ...]


def parse_age(text: str) -> timedelta:
    """Read an age, as ``30d``; raise `ConfigError` if it is none."""
    match = _AGE.fullmatch(text)
    if match is None:
        raise ConfigError(
            f"--older-than takes hours, days or weeks, as 12h, 30d or 2w, not {text!r}"
        )
    return timedelta(hours=int(match[1]) * _HOURS[match[2]])


def choose(entries: Sequence[RunEntry], rule: PruneRule) -> PruneChoice:
    """Return what `rule` deletes of runs that are sorted, the newest first."""
    old = [entry for entry in entries[rule.keep :] if entry.written < rule.before]
    reasons = [(entry, rule.protection(entry)) for entry in old]
    return PruneChoice(
        chosen=tuple(entry for entry, reason in reasons if not reason),
        protected=tuple(Protected(entry, reason) for entry, reason in reasons if reason),
    )


def prune(entry: RunEntry, rule: PruneRule) -> bool:
    """Delete a run, if `rule` still does; return whether it was deleted.

    Raise `StoreError` if a process works on it by now, or its folder cannot be deleted.
    """

    def is_still_chosen() -> bool:
        now = read_entry(entry.run, is_ours=True)
        return now.written < rule.before and not rule.protection(now)

    return remove_run(entry.run, still=is_still_chosen)


def finish_removals(folder: Path) -> int:
    """Delete what an earlier pruning of `folder`, that broke off, has left; return how many runs.

    Raise `StoreError` if something cannot be deleted.
    """
    left = list(leftovers(folder))
    for path in left:
        remove_leftover(path)
    return len(left)


def others_named(entry: RunEntry) -> str:
    """Name the first files in the folder of a run that no run makes."""
    names = entry.contents.others
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"
