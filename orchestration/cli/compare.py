"""`spanjury compare`: two runs on the same texts."""

from pathlib import Path
from typing import Annotated

import typer

from spanjury.judges.core import DataError
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import Flag

with lazily():
    from spanjury.orchestration.cli import console
    from spanjury.orchestration.report import json as values
    from spanjury.orchestration.services import scorers
    from spanjury.orchestration.studies.comparison import runs as study


def compare(
    *,
    first: Annotated[
        Path, typer.Argument(help="results.jsonl, the folder of a run, scores of metrics.")
    ],
    second: Annotated[Path, typer.Argument(help="The same of another run.")],
    seed: Annotated[int, Flag("Seed of the draws.")] = 1,
    draws: Annotated[int, Flag("Draws of the bootstrap.", min=1)] = 2000,
    json: Annotated[bool, Flag("Print JSON, not a table.")] = False,
) -> None:
    """Compare the scores of two runs on the same texts, text by text."""
    found = study.differences(
        scorers.read_scorers([first]), scorers.read_scorers([second]), seed=seed, draws=draws
    )
    if not found:
        raise DataError(f"{first} and {second} have no scorer and aspect in common")
    if json:
        console.print_json(values.plain(found, digits=None))
    else:
        report = study.differences_report(found, first=str(first), second=str(second))
        console.print_report(report)
