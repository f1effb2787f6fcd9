"""How error lists are changed, and which record of changes is analysed."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["FaithfulnessOutput", "OptionalData", "Perturbations", "Replay"]

OptionalData = Annotated[
    Path | None, typer.Argument(metavar="[DATA]", help="Texts: JSONL, CSV or TSV.")
]
Perturbations = Annotated[
    list[str] | None,
    typer.Option(
        "--perturbation",
        envvar="SPANJURY_EXPLANATION_PERTURBATION",
        help="NAME or NAME:option=value,…; repeatable. Without any, those of the paper.",
    ),
]
Replay = Annotated[
    Path | None,
    typer.Option(help="A record of scores before and after, JSONL or .gz: no judge is asked."),
]
FaithfulnessOutput = Annotated[
    Path, typer.Option("-o", "--output", help="A folder for what is found, and for resuming.")
]
