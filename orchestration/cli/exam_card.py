"""`spanjury exam card`: the exams of one judge on one page."""

from pathlib import Path
from typing import Annotated

import typer

from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import Flag
from spanjury.orchestration.cli.exits import say
from spanjury.orchestration.cli.flags.run import Html
from spanjury.orchestration.cli.study import Require, exit_if_missed

with lazily():
    from spanjury.orchestration.cli import console
    from spanjury.orchestration.report import destination
    from spanjury.orchestration.services.exams import study_report
    from spanjury.orchestration.studies import card as study


def card(
    *,
    folders: Annotated[
        tuple[Path, ...],
        typer.Argument(metavar="FOLDER", help="Output folders of one judge's exams."),
    ],
    require: Require = (),
    output: Annotated[
        Path | None, Flag("Folder for card.md, .html and .json.", "FOLDER", also="-o")
    ] = None,
    html: Html = None,
) -> None:
    """Combine the exams of one judge on one page, and check requirements."""
    target = destination.Destination(folder=output, page=html)
    gates = [study.parse_gate(text) for text in require]
    joined = study_report.read_card(folders)
    # Before anything is shown or written: a name may be unknown.
    missed = [gate for gate in gates if not gate.is_passed(joined.measures)]
    console.print_report(study.card_report(joined, gates=gates))
    for path in target.write(lambda folder: study_report.write_card(folder, joined, gates=gates)):
        say(f"written: {path}")
    exit_if_missed(gate.shortfall(joined.measures) for gate in missed)
