"""`spanjury exam compare` and `spanjury exam card`: exams of two judges, or of one, together."""

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
    from spanjury.orchestration.services import exam_card, exam_comparison
    from spanjury.orchestration.studies import card as study


def compare(
    *,
    first: Annotated[
        Path, typer.Argument(metavar="FOLDER_A", help="Output folder of one judge's exam.")
    ],
    second: Annotated[
        Path, typer.Argument(metavar="FOLDER_B", help="Output folder of another judge's exam.")
    ],
    output: Annotated[Path | None, Flag("Folder for pages and JSON.", "FOLDER", also="-o")] = None,
    html: Html = None,
    seed: Annotated[int, Flag("Seed for resampling.")] = 1,
    draws: Annotated[int, Flag("Number of resamples of the texts.", min=100)] = 10_000,
) -> None:
    """Compare two judges by the effects that their exams found on the same texts."""
    target = destination.Destination(folder=output, page=html)
    compared = exam_comparison.compare_folders((first, second), seed=seed, draws=draws)
    console.print_report(compared.report)
    for path in target.write(lambda folder: exam_comparison.write_comparison(folder, compared)):
        say(f"written: {path}")


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
    joined = exam_card.read_card(folders)
    # Before anything is shown or written: a name may be unknown.
    missed = [gate for gate in gates if not gate.is_passed(joined.measures)]
    console.print_report(study.card_report(joined, gates=gates))
    for path in target.write(lambda folder: exam_card.write_card(folder, joined, gates=gates)):
        say(f"written: {path}")
    exit_if_missed(gate.shortfall(joined.measures) for gate in missed)
