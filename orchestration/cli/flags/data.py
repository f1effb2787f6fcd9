"""What is judged: the flags of texts, tasks and aspects."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from spanjury.orchestration.cli.command import RARE, Flags

Task = Annotated[
    str | None,
    typer.Option(
        envvar="SPANJURY_TASK", metavar="NAME", help="The task of the texts, as summarization."
    ),
]
Aspects = Annotated[
    tuple[str, ...],
    typer.Option(
        "--aspect",
        envvar="SPANJURY_ASPECT",
        metavar="NAME",
        help="Aspect to judge, or 'all'; repeatable.",
    ),
]
AspectsFiles = Annotated[
    tuple[Path, ...],
    typer.Option(
        "--aspects-file",
        envvar="SPANJURY_ASPECTS_FILE",
        metavar="FILE",
        help="TOML file with more tasks and aspects; repeatable.",
    ),
    RARE,
]
Columns = Annotated[
    tuple[str, ...],
    typer.Option(
        "--column",
        envvar="SPANJURY_COLUMN",
        metavar="NAME=COLUMN",
        help="Column of a field: output=summary, inputs.Article=text; repeatable.",
    ),
]
RowLimit = Annotated[
    int | None,
    typer.Option(
        "--limit", envvar="SPANJURY_LIMIT", min=1, metavar="N", help="Take the first N rows only."
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFlags(Flags):
    """Which texts are judged, and on which aspects."""

    title: ClassVar[str] = "Texts and aspects"

    task: Task = None
    aspect: Aspects = ()
    aspects_file: AspectsFiles = ()
    column: Columns = ()
    limit: RowLimit = None
