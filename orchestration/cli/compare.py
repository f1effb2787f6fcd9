"""`spanjury compare`: two runs on the same texts."""

from pathlib import Path
from typing import Annotated

import typer

from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import Flag

with lazily():
    from spanjury.orchestration.cli import console
    from spanjury.orchestration.services import run_comparison


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
    compared = run_comparison.compare_runs(first, second, seed=seed, draws=draws)
    if json:
        console.print_json(compared.values["differences"])
    else:
        console.print_report(compared.report)
