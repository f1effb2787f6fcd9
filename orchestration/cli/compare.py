"""`spanjury compare`: two runs on the same texts."""

from pathlib import Path
from typing import Annotated

import typer

from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import Flag
from spanjury.orchestration.cli.exits import say
from spanjury.orchestration.cli.flags.run import Html

with lazily():
    from spanjury.orchestration.cli import console
    from spanjury.orchestration.report import destination
    from spanjury.orchestration.services import run_comparison


def compare(
    *,
    first: Annotated[
        Path, typer.Argument(help="Folder of a run, file of results, or file of metric scores.")
    ],
    second: Annotated[Path, typer.Argument(help="The same for another run.")],
    seed: Annotated[int, Flag("Seed for resampling.")] = 1,
    draws: Annotated[int, Flag("Number of bootstrap resamples.", min=1)] = 2000,
    output: Annotated[Path | None, Flag("Folder for pages and JSON.", "FOLDER", also="-o")] = None,
    html: Html = None,
    json: Annotated[bool, Flag("Print JSON instead of a table.")] = False,
) -> None:
    """Compare the scores of two runs on the same texts, text by text."""
    target = destination.Destination(folder=output, page=html)
    compared = run_comparison.compare_runs(first, second, seed=seed, draws=draws)
    if json:
        console.print_json(compared.values["differences"])
    else:
        console.print_report(compared.report)
    for path in target.write(lambda folder: run_comparison.write_run_comparison(folder, compared)):
        say(f"written: {path}")
