"""Which metrics, and of what."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "AsJson",
    "AsMarkdown",
    "Available",
    "BySystem",
    "Category",
    "Dimension",
    "ForTask",
    "HtmlPage",
    "MetricName",
    "Metrics",
    "ReferenceFree",
    "References",
    "RowId",
    "ScoresOutput",
    "ShownMetric",
    "SourceTexts",
    "Texts",
    "Workers",
]

Texts = Annotated[Path, typer.Argument(help="Texts: JSONL, CSV, TSV, TXT, Parquet, a folder, hf:…")]
MetricName = Annotated[str, typer.Argument(help="Name of a metric.")]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        envvar="SPANJURY_METRIC",
        help="NAME or NAME:option=value,…; name=… renames its scores; repeatable.",
    ),
]
References = Annotated[
    list[Path] | None,
    typer.Option(
        "--reference", help="A file or folder with one reference for each text; repeatable."
    ),
]
SourceTexts = Annotated[
    Path | None, typer.Option("--source", help="A file or folder with one source for each text.")
]
ReferenceFree = Annotated[
    bool, typer.Option("--reference-free", help="Only those that take no references.")
]
Dimension = Annotated[
    str | None, typer.Option(help="Only those used for this quality, as factuality.")
]
Category = Annotated[str | None, typer.Option(help="Only those of this category, as readability.")]
ForTask = Annotated[str | None, typer.Option("--task", help="Only those used on this task.")]
Available = Annotated[
    bool, typer.Option("--available", help="Only those that can be run here as they are.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, not a table.")]
AsMarkdown = Annotated[bool, typer.Option("--markdown", help="Print a page in Markdown.")]
ScoresOutput = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Write a line of scores for each segment to this file."),
]
BySystem = Annotated[bool, typer.Option("--by-system", help="Print a row for each system, too.")]
Workers = Annotated[
    int | None,
    typer.Option(
        min=1, envvar="SPANJURY_WORKERS", help="Processes at once; one a core by default."
    ),
]
RowId = Annotated[str, typer.Option("--row", help="Id of the row.")]
ShownMetric = Annotated[
    str, typer.Option("--metric", help="NAME or NAME:option=value,… of one metric.")
]
HtmlPage = Annotated[Path, typer.Option("--output", "-o", help="The page: a file in .html.")]
