"""`spanjury runs`, `export` and `merge`: list, delete, repair and export runs, and join shards."""

import shlex
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from spanjury.judges.core import ConfigError, StoreError, counted
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import Flag
from spanjury.orchestration.cli.exits import ERROR, INTERRUPTED, say, say_each, standard_output
from spanjury.orchestration.cli.flags.data import RunOrResults
from spanjury.orchestration.cli.lists import ListFlags, Listing, print_listing

with lazily():
    from spanjury.orchestration.services.runs import run_list
    from spanjury.orchestration.services.viewing import sources as viewed
    from spanjury.orchestration.wiring import cluster
    from spanjury.orchestration.wiring import read_results as exports
    from spanjury.orchestration.wiring import results as written
    from spanjury.orchestration.wiring import runs as run_folders

_KILO = 1000
_FEW = 10


Home = Annotated[
    Path | None,
    typer.Argument(
        metavar="FOLDER", help="Folder of runs; by default the one in your user data folder."
    ),
]
_DATASET = "hf"

WordT = TypeVar("WordT", bound=StrEnum)


def list_runs(*, folder: Home = None, form: ListFlags) -> None:
    """List the runs in your user data folder or in FOLDER, newest first.

    Age is the time since the last write to a run. Output to a file or a pipe has complete lines,
    with tabs between cells: run, state, age, rows, size, data, time of its start.
    """
    home, entries = run_list.runs_in(folder)
    print_listing(listing_of(entries), form)
    say(f"{runs_and_space(entries)} in {home}")
    for entry in entries:
        if entry.problem:
            say(f"spanjury: {entry.problem}")


def listing_of(entries: "Sequence[run_list.RunEntry]") -> Listing:
    """Return the listing of `entries` that all lists of runs use."""
    now = datetime.now(UTC)
    return Listing(
        headings=("run", "state", "age", "rows", "size", "data", "begun"),
        rows=[
            (
                entry.run.path.name,
                entry.state,
                shown_age(now - entry.written),
                _rows(entry),
                shown_size(entry.contents.size),
                entry.data,
                entry.begun.isoformat() if entry.begun else "",
            )
            for entry in entries
        ],
        brief=("run", "state", "age", "rows", "size", "data"),
        briefly={"data": lambda data: Path(data).name},
        right=frozenset({"age", "rows", "size"}),
        records=[_record(entry) for entry in entries],
    )


def repair(
    *,
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN", help="Folder or name of a run, or a file of its memory or marks."
        ),
    ],
) -> None:
    """Repair the damaged files of a run: save every value and mark that can still be read.

    The damaged file is kept beside the new one. `spanjury resume` asks again for lost values. Lost
    marks are named, and the command exits with 1.
    """
    lost = False
    for path in run_folders.find_databases(run):
        repaired = run_folders.repair(path)
        lost |= bool(repaired.names) or repaired.may_lack_others
        _say_repaired(path, repaired)
        if repaired.kept and path == run_folders.RunFolder(path.parent).memory:
            say(f"continue with: spanjury resume {shlex.quote(str(run))}")
    if lost:
        raise typer.Exit(ERROR)


def _say_repaired(path: Path, repaired: "run_folders.Repaired") -> None:
    rows = repaired.rows
    if repaired.kept is None:
        say(f"{path}: nothing is damaged, all {repaired.saved} {rows} are intact")
        return
    say(f"{path}: {repaired.saved} {rows} are saved, {repaired.lost} are known to be lost")
    say_each(repaired.names, f"{rows.removesuffix('s')} is lost", f"{rows} are lost")
    if repaired.may_lack_others:
        say(f"more {rows} may be lost in pages that cannot be read: there is no backup")
    say(f"the damaged file is kept as {repaired.kept}")


def runs_and_space(entries: "Sequence[run_list.RunEntry]") -> str:
    """Return the number of runs and their size."""
    runs = counted(len(entries), "run")
    return f"{runs} of {shown_size(sum(entry.contents.size for entry in entries))}"


def _rows(entry: "run_list.RunEntry") -> str:
    if entry.rows is None and entry.of is None:
        return ""
    rows = "?" if entry.rows is None else str(entry.rows)
    return rows if entry.of is None else f"{rows}/{entry.of}"


def _record(entry: "run_list.RunEntry") -> dict[str, object]:
    return {
        "run": str(entry.run.path),
        "state": entry.state,
        "begun": entry.begun and entry.begun.isoformat(),
        "written": entry.written.isoformat(timespec="seconds"),
        "rows": entry.rows,
        "of": entry.of,
        "bytes": entry.contents.size,
        "data": entry.data,
        "marked": entry.contents.marks,
        "other_files": list(entry.contents.others),
        "problem": entry.problem,
    }


def shown_age(age: timedelta) -> str:
    """Return `age` in one unit, at most days; a future time counts as now."""
    seconds = max(0, int(age.total_seconds()))
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def shown_size(size: int) -> str:
    """Return a size, given in bytes, in a unit that leaves few digits."""
    if size < _KILO:
        return f"{size} B"
    amount = float(size)
    for unit in ("kB", "MB", "GB"):
        amount /= _KILO
        if round(amount) < _KILO:
            return f"{amount:.1f} {unit}" if round(amount, 1) < _FEW else f"{amount:.0f} {unit}"
    return f"{amount / _KILO:.1f} TB"


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

    The command lists the runs and asks before it deletes them. Files that a run wrote elsewhere
    with -o are kept. A run is never deleted while a process works on it.
    """
    before = _before(older_than)
    if not (yes or dry_run or sys.stdin.isatty()):
        raise ConfigError(
            "prune asks before it deletes, but there is no terminal to answer on: give --yes, or"
            " --dry-run to see what it would delete"
        )
    rule = run_list.PruneRule(
        before=before,
        keep=keep,
        takes_open=open,
        takes_marks=with_marks,
        takes_others=with_other_files,
    )
    home, entries = run_list.runs_in(folder)
    if not dry_run and (left := run_list.finish_removals(home)):
        say(f"deleted: the rest of {left} runs that an earlier prune began to delete")
    choice = run_list.choose(entries, rule)
    for kept in choice.protected:
        say(f"kept: {kept.entry.run.path.name}: {kept.reason}")
    if not choice.chosen:
        say(f"nothing to delete: {runs_and_space(entries)} in {home}")
        return
    _show(choice.chosen)
    if dry_run:
        say(f"would delete {runs_and_space(choice.chosen)}")
        return
    if yes or _agreed(choice.chosen):
        _delete(choice.chosen, rule)
    else:
        say("nothing is deleted")


def _before(older_than: str) -> datetime:
    try:
        return datetime.now(UTC) - run_list.parse_age(older_than)
    except OverflowError:  # before the year 1, so that no run is old enough
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
    standard_output().flush()
    try:
        return typer.confirm(f"delete {runs_and_space(chosen)} for good?", err=True)
    except typer.Abort:
        typer.echo(err=True)  # ends the line of the question
        say("nothing is deleted")
        raise typer.Exit(INTERRUPTED) from None


def _delete(chosen: "Sequence[run_list.RunEntry]", rule: "run_list.PruneRule") -> None:
    """Delete runs one by one; a failure does not stop the others."""
    deleted: list[run_list.RunEntry] = []
    failed = False
    try:
        for entry in chosen:
            try:
                if run_list.prune(entry, rule):
                    deleted.append(entry)
                else:
                    say(f"kept: {entry.run.path.name}: it was written to just now")
            except StoreError as error:
                failed = True
                say(f"spanjury: {error}")
    except KeyboardInterrupt:
        say(f"deleted: {runs_and_space(deleted)}; the next prune deletes what is left of another")
        raise typer.Exit(INTERRUPTED) from None
    say(f"deleted: {runs_and_space(deleted)}" if deleted else "nothing is deleted")
    if failed:
        raise typer.Exit(ERROR)


def export(
    *,
    run: RunOrResults,
    output: Annotated[
        Path | None,
        Flag(
            "File to write: .csv, .tsv or .jsonl; hf:FOLDER for a Hugging Face dataset; '-', the"
            " default, prints CSV.",
            "FILE",
            also=("-o", "--to"),
            dash=True,
        ),
    ] = None,
    form: Annotated[
        str | None,
        Flag("Format, regardless of the file's name: jsonl, csv, tsv, mqm or factgenie.", "FORM"),
    ] = None,
    rows: Annotated[
        str,
        Flag("Write one row per assessment ('assessments') or per error span ('spans').", "UNIT"),
    ] = "assessments",
    texts: Annotated[
        bool, Flag("Add the texts from the run's data: output, inputs and references.")
    ] = False,
) -> None:
    """Export the results of a run, finished or not, as JSON Lines, CSV or TSV."""
    target = None if output == Path("-") else output
    (named,) = viewed.find_runs((run,))
    if form is not None and form in exports.MARKED_FORMS:
        _export_marked(named, target, form)
        return
    folder = _dataset_folder(target, form)
    chosen = exports.Export(
        results=named.results,
        form=_word("--form", form, exports.ExportForm)
        if form
        else _form_of(None if folder else target),
        unit=_word("--rows", rows, exports.ExportUnit),
        texts=exports.JudgedTexts(_texts(named).segments) if texts else None,
    )
    count = _exported(chosen, target, folder=folder)
    if chosen.results.suffix == run_folders.PART:
        say(f"{chosen.results} belongs to an unfinished run: {count} so far")
    if chosen.texts is not None and (missing := chosen.texts.missing):
        say(
            f"{len(missing)} texts were left empty, the first {min(missing)!r}: the run's data no"
            " longer hold them as they were judged"
        )


def _exported(chosen: "exports.Export", target: Path | None, *, folder: Path | None) -> str:
    """Write the rows to where they go; return their number in words."""
    if folder is not None:
        count = chosen.to_dataset(folder)
    elif target is None:
        count = chosen.to_stream(standard_output().buffer)
    else:
        count = chosen.to_file(target)
    rows = counted(count, chosen.unit.removesuffix("s"))
    verb = "is" if count == 1 else "are"
    if folder is not None:
        say(f"{rows} {verb} in {folder}: datasets.load_from_disk({str(folder)!r})")
    elif target is not None:
        say(f"{rows} {verb} in {target}")
    return rows


def _dataset_folder(target: Path | None, form: str | None) -> Path | None:
    """Return the folder of a dataset if the target names one; None otherwise."""
    scheme, colon, folder = str(target).partition(":")
    if target is None or scheme != _DATASET or not colon:
        return None
    if form is not None or not folder:
        raise ConfigError(f"got {target}, expected hf:FOLDER without --form")
    return Path(folder)


def _texts(run: "viewed.ViewedRun") -> "viewed.Texts":
    if run.texts is None:
        raise ConfigError(
            f"it is unknown which data belong to {run.results}: name the folder of a run"
        )
    return run.texts


def _export_marked(run: "viewed.ViewedRun", target: Path | None, form: str) -> None:
    """Write error spans as an annotator's marks in the texts of the run's data."""
    if target is None:
        raise ConfigError(f"{form} needs an output file: name it with -o")
    marked = exports.marked_segments(_texts(run).segments(), run.results)
    lines = exports.MARKED_FORMS[form](target, marked)
    say(f"{counted(lines, 'line is', 'lines are')} in {target}")


def _form_of(target: Path | None) -> "exports.ExportForm":
    if target is None:
        return exports.ExportForm.CSV
    return _word(f"the ending of {target}", target.suffix.removeprefix("."), exports.ExportForm)


def _word(of: str, word: str, words: type[WordT]) -> WordT:
    try:
        return words(word)
    except ValueError as error:
        forms = ", ".join([*words, *(exports.MARKED_FORMS if words is exports.ExportForm else ())])
        raise ConfigError(f"{of} must be one of {forms}, not {word!r}") from error


def merge(
    *,
    parts: Annotated[
        tuple[Path, ...],
        typer.Argument(
            metavar="PARTS", help="Result files of all shards, or the folder that holds them."
        ),
    ],
    output: Annotated[
        Path | None, Flag("File for the results; by default beside the shards.", also="-o")
    ] = None,
) -> None:
    """Join the results of the shards of a run, in the order of the rows."""
    shards = cluster.find_parts(parts)
    target = output or shards[0].whole
    written.check_output(target)
    rows = cluster.merge_parts(shards, target)
    say(f"{rows} rows of {len(shards)} shards are in {target}")
    unnamed = sum(not shard.names_its_data for shard in shards)
    if unnamed and len(shards) > 1:
        say(
            f"{unnamed} of {len(shards)} shards have no run.json, which names their data: check "
            "that all shards are of the same file (merge compares the data of runs with --run-dir)"
        )
