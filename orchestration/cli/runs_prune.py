"""`spanjury runs prune`: delete the runs that are old."""

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated

import typer

from spanjury.judges.core import ConfigError, StoreError
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import Flag
from spanjury.orchestration.cli.exits import ERROR, INTERRUPTED, say
from spanjury.orchestration.cli.listing import ListFlags, print_listing
from spanjury.orchestration.cli.runs import Home, counted, listing_of

with lazily():
    from spanjury.orchestration.services.runs import pruning, run_list


def prune(
    *,
    folder: Home = None,
    older_than: Annotated[
        str, Flag("Delete runs that were not written to for this long: 12h, 30d or 2w.", "AGE")
    ],
    keep: Annotated[int, Flag("Keep the N newest runs, whatever their age.", min=0)] = 0,
    open: Annotated[bool, Flag("Also delete unfinished runs.")] = False,  # noqa: A002  the flag is --open
    with_marks: Annotated[
        bool, Flag("Also delete runs that people marked, with their marks.")
    ] = False,
    with_other_files: Annotated[
        bool, Flag("Also delete runs whose folders hold other files, with those files.")
    ] = False,
    dry_run: Annotated[bool, Flag("Show the runs to delete, but delete nothing.")] = False,
    yes: Annotated[bool, Flag("Delete without asking.")] = False,
) -> None:
    """Delete the folders of old runs, with all stored replies.

    The command lists the runs and asks first. Files that a run wrote elsewhere with -o stay. A
    run is never deleted while a process works on it.
    """
    before = _before(older_than)
    if not (yes or dry_run or sys.stdin.isatty()):
        raise ConfigError(
            "prune asks before it deletes, but there is no terminal to answer on: give --yes, or"
            " --dry-run to see what it would delete"
        )
    rule = pruning.PruneRule(
        before=before,
        keep=keep,
        takes_open=open,
        takes_marks=with_marks,
        takes_others=with_other_files,
    )
    home, entries = run_list.runs_in(folder)
    if not dry_run and (left := pruning.finish_removals(home)):
        say(f"deleted: the rest of {left} runs that an earlier prune began to delete")
    choice = pruning.choose(entries, rule)
    for kept in choice.protected:
        say(f"kept: {kept.entry.run.path.name}: {kept.reason}")
    if not choice.chosen:
        say(f"nothing to delete: {counted(entries)} in {home}")
        return
    _show(choice.chosen)
    if dry_run:
        say(f"would delete {counted(choice.chosen)}")
        return
    if yes or _agreed(choice.chosen):
        _delete(choice.chosen, rule)
    else:
        say("nothing is deleted")


def _before(older_than: str) -> datetime:
    try:
        return datetime.now(UTC) - pruning.parse_age(older_than)
    except OverflowError:  # before the year 1: nothing is as old
        return datetime.min.replace(tzinfo=UTC)


def _show(chosen: "Sequence[run_list.RunEntry]") -> None:
    print_listing(listing_of(chosen), ListFlags())
    for entry in chosen:
        if entry.contents.marks:
            say(f"{entry.run.path.name} also holds, and will lose: people's marks")
        if entry.contents.others:
            others = ", ".join(entry.contents.others)
            say(f"{entry.run.path.name} also holds, and will lose: {others}")


def _agreed(chosen: "Sequence[run_list.RunEntry]") -> bool:
    """Ask; exit where the question is broken off."""
    sys.stdout.flush()
    try:
        return typer.confirm(f"delete {counted(chosen)} for good?", err=True)
    except typer.Abort:
        typer.echo(err=True)  # ends the line of the question
        say("nothing is deleted")
        raise typer.Exit(INTERRUPTED) from None


def _delete(chosen: "Sequence[run_list.RunEntry]", rule: "pruning.PruneRule") -> None:
    """Delete runs one by one: what cannot be deleted stops none of the others."""
    deleted: list[run_list.RunEntry] = []
    failed = False
    try:
        for entry in chosen:
            try:
                if pruning.prune(entry, rule):
                    deleted.append(entry)
                else:
                    say(f"kept: {entry.run.path.name}: it was written to just now")
            except StoreError as error:
                failed = True
                say(f"spanjury: {error}")
    except KeyboardInterrupt:
        say(f"deleted: {counted(deleted)}; the next prune deletes what is left of another")
        raise typer.Exit(INTERRUPTED) from None
    say(f"deleted: {counted(deleted)}" if deleted else "nothing is deleted")
    if failed:
        raise typer.Exit(ERROR)
