"""`spanjury marks`: people's marks of a run, out and in, and how far annotators agree."""

from pathlib import Path
from typing import Annotated

import typer

from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import Flag
from spanjury.orchestration.cli.exits import say

with lazily():
    from spanjury.orchestration.cli import console
    from spanjury.orchestration.services.marks import (
        comparison,
        exporting,
        importing,
        marked_run,
        readings,
        verdicts,
    )
    from spanjury.orchestration.studies.agreement import people_tables
    from spanjury.orchestration.studies.agreement.spans import estimates

_NAMED = 10
"""Marks that fit no row and are named one by one."""
_ENDINGS = {".factgenie.jsonl": "factgenie", ".mqm.tsv": "mqm"}

RunArgument = Annotated[
    Path,
    typer.Argument(metavar="RUN", help="Folder or name of a run, or a file of results."),
]
TextsFlag = Annotated[Path | None, Flag("The texts of a bare file of results.", "FILE")]


def list_marks(*, run: RunArgument) -> None:
    """Say who marked how many texts of a run."""
    marks = marked_run.MarkedRun(run).marks
    people, damaged = readings.progress(marks)
    if people:
        console.print_table(
            ("annotator", "marks", "done", "spans"),
            ([one.annotator, *map(str, (one.marks, one.done, one.spans))] for one in people),
        )
        say(f"{len(people)} annotator{'' if len(people) == 1 else 's'} in {marks}")
    else:
        say(f"no one has marked {run}: mark its texts with 'spanjury view {run}'")
    _say_damaged(damaged)


def export(
    *,
    run: RunArgument,
    output: Annotated[Path, Flag("The file to write.", "FILE", also="-o")],
    form: Annotated[
        str | None,
        Flag("rows, factgenie or mqm; by default as FILE ends, else rows.", "FORM"),
    ] = None,
    annotator: Annotated[
        tuple[str, ...], Flag("Whose marks; everyone's by default; repeatable.", "NAME")
    ] = (),
    unfinished: Annotated[bool, Flag("Write marks that are not done, too.")] = False,
    data: TextsFlag = None,
) -> None:
    """Write people's marks as rows of data, as factgenie's lines or as an MQM table."""
    read = readings.read_readings(marked_run.MarkedRun(run, data=data))
    chosen = read.chosen(annotators=annotator, with_unfinished=unfinished)
    endings = (known for ending, known in _ENDINGS.items() if output.name.endswith(ending))
    lines = exporting.write_marks(output, chosen, form=form or next(endings, "rows"))
    say(f"{len(chosen)} marks are in {output}, in {lines} lines")
    if (unsaid := len(read.readings) - len(chosen)) and not annotator:
        say(f"{unsaid} marks are not done and were not written (--unfinished writes them)")
    if read.other_versions:
        say(f"{read.other_versions} marks are of texts, or versions of texts, that are not there")
    _say_damaged(read.damaged)


def import_marks(
    *,
    run: RunArgument,
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Marked texts: rows, .factgenie.jsonl or .mqm.tsv."),
    ],
    annotator: Annotated[
        str | None, Flag("Whose marks they are; by default whose the file says.", "NAME")
    ] = None,
    aspect: Annotated[str | None, Flag("The aspect of marks that name none.", "NAME")] = None,
    replace: Annotated[bool, Flag("Replace other marks of the same person and row.")] = False,
    data: TextsFlag = None,
) -> None:
    """Take people's marks of the same texts into a run; what fits no row is named."""
    named = marked_run.MarkedRun(run, data=data)
    done = importing.import_marks(named, file, annotator=annotator, aspect=aspect, replaces=replace)
    say(f"{done.marks} marks were taken into {named.marks}; {done.unchanged} were there already")
    _say_each(done.kept, "marks differ from those of the run, which were kept (--replace)")
    _say_each(done.unmatched, "marks do not fit the run and were left out")


def agreement(
    *,
    run: RunArgument,
    draws: Annotated[int, Flag("Draws of the bootstrap; 0: no intervals.", min=0)] = 1000,
    seed: Annotated[int, Flag("Seed of the draws.")] = 1,
    json: Annotated[bool, Flag("Print JSON, not a table.")] = False,
    data: TextsFlag = None,
) -> None:
    """Say how far annotators agree with each other, and which share of judges' spans they keep."""
    marked = marked_run.MarkedRun(run, data=data)
    found = comparison.people_agreement(marked, settings=estimates.Settings(seed=seed, draws=draws))
    judged = verdicts.judges_spans(marked)
    if json:
        console.print_json(
            {
                "aspects": people_tables.people_json(found.aspects),
                "judges": people_tables.judges_json(judged.judges),
                "stale_marks": judged.stale,
                "note": found.note,
            }
        )
        return
    if found.aspects or judged.judges:
        title = "Agreement of annotators"
        console.print_report(
            people_tables.people_report(found.aspects, judges=judged.judges, title=title)
        )
    if found.note:
        say(found.note)
    if judged.stale:
        say(
            f"{judged.stale} finished marks are in no share of judges' spans: the results have"
            " other spans by now"
        )


def _say_each(names: list[str], what: str) -> None:
    if names:
        say(f"{len(names)} {what}:")
        for name in names[:_NAMED]:
            say(f"  {name}")
        if len(names) > _NAMED:
            say(f"  and {len(names) - _NAMED} more")


def _say_damaged(damaged: int) -> None:
    if damaged:
        say(f"{damaged} marks are damaged and were left out")
