"""What is judged: data, tasks, aspects."""

from pathlib import Path
from typing import Annotated, Literal

import typer

__all__ = [
    "AspectNames",
    "AspectsFiles",
    "Columns",
    "Data",
    "DataLimits",
    "Limit",
    "Order",
    "ShardOf",
    "SkipBadRows",
    "TaskName",
]

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="JSONL, CSV or TSV file, also .gz; with --engine ray folders, globs and URLs, too.",
    ),
]
TaskName = Annotated[str | None, typer.Option(envvar="SPANJURY_TASK", help="Name of a task.")]
AspectNames = Annotated[
    list[str] | None,
    typer.Option(envvar="SPANJURY_ASPECT", help="Aspect to judge, or 'all'; repeatable."),
]
AspectsFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--aspects-file",
        envvar="SPANJURY_ASPECTS_FILE",
        help="TOML of tasks and aspects; repeatable.",
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        envvar="SPANJURY_COLUMN",
        metavar="NAME=COLUMN",
        help="What a column is called, as output=summary or inputs.Article=text; repeatable.",
    ),
]
DataLimits = Annotated[
    list[str] | None,
    typer.Option(
        "--data-limit",
        envvar="SPANJURY_DATA_LIMIT",
        metavar="NAME=NUMBER",
        help="Raise or lower a limit of data files, as row=200MB; repeatable, before the command."
        " Names: row, cell, columns, depth, unpacked, ratio.",
    ),
]
Limit = Annotated[
    int | None, typer.Option(envvar="SPANJURY_LIMIT", min=1, help="Judge the first rows only.")
]
ShardOf = Annotated[
    str | None,
    typer.Option(
        "--shard",
        envvar="SPANJURY_SHARD",
        help="Judge one part of the rows: 3/16; 16, where Kubernetes or Slurm says which; or auto.",
    ),
]
Order = Annotated[
    Literal["file", "source"],
    typer.Option(
        envvar="SPANJURY_ORDER", help="'source' judges rows with the same inputs in turn."
    ),
]
SkipBadRows = Annotated[
    bool,
    typer.Option(
        "--skip-bad-rows", envvar="SPANJURY_SKIP_BAD_ROWS", help="Judge the readable rows."
    ),
]
