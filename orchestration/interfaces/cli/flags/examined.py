"""How texts are damaged, and what judges are examined on."""

from pathlib import Path
from typing import Annotated, Literal

import typer

__all__ = [
    "DamagedOutput",
    "Demo",
    "ExamOutput",
    "ModeName",
    "OptionalTexts",
    "RecipeName",
    "Repeats",
    "TestName",
    "Texts",
    "Weights",
]

Texts = Annotated[Path, typer.Argument(metavar="DATA", help="Good texts: JSONL, CSV or TSV.")]
OptionalTexts = Annotated[
    Path | None, typer.Argument(metavar="[DATA]", help="Good texts: JSONL, CSV or TSV.")
]
Demo = Annotated[bool, typer.Option("--demo", help="Examine on texts that come with spanjury.")]
RecipeName = Annotated[
    str,
    typer.Option(envvar="SPANJURY_RECIPE", help="Name of a recipe, as dhp/summarization, or TOML."),
]
DamagedOutput = Annotated[
    Path, typer.Option("-o", "--output", help="A file for the damaged texts, JSONL.")
]
ExamOutput = Annotated[
    Path, typer.Option("-o", "--output", help="A folder for what is found, and for resuming.")
]
Weights = Annotated[
    Path | None,
    typer.Option(help="TOML: for each treatment, which aspects experts think it harms."),
]
Repeats = Annotated[
    int,
    typer.Option(
        envvar="SPANJURY_REPEATS", min=1, help="How often each is judged, if it differs at all."
    ),
]
ModeName = Annotated[
    Literal["calibrated", "wilson", "paper"],
    typer.Option(envvar="SPANJURY_MODE", help="How p-values are combined; 'paper' is as printed."),
]
TestName = Annotated[
    str, typer.Option(envvar="SPANJURY_TEST", help="A statistic in place of the mode's test.")
]
