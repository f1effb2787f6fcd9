"""How error lists are changed, and which record of changes is analysed."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "FaithfulnessOutput",
    "OptionalData",
    "Perturbations",
    "Replay",
    "WriterBaseUrls",
    "WriterName",
]

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
WriterName = Annotated[
    str | None,
    typer.Option(
        "--writer",
        envvar="SPANJURY_WRITER",
        help="Has a model write explanations and false errors; else all is worded by rules.",
    ),
]
WriterBaseUrls = Annotated[
    list[str] | None,
    typer.Option(
        "--writer-base-url",
        envvar="SPANJURY_WRITER_BASE_URL",
        help="Where that model's server answers; repeatable for several servers of it.",
    ),
]
Replay = Annotated[
    Path | None,
    typer.Option(help="A record of scores before and after, JSONL or .gz: no judge is asked."),
]
FaithfulnessOutput = Annotated[
    Path, typer.Option("-o", "--output", help="A folder for what is found, and for resuming.")
]
