"""What is compared with people's scores, and how."""

from pathlib import Path
from typing import Annotated, Literal

import typer

__all__ = [
    "AsJson",
    "Categories",
    "ComparisonDraws",
    "CorrelationName",
    "DrawSeed",
    "Draws",
    "FirstRun",
    "Human",
    "LevelName",
    "PageOutput",
    "RatedAspects",
    "Results",
    "SecondRun",
]

Results = Annotated[
    list[Path], typer.Argument(help="results.jsonl, folders of runs, scores of metrics.")
]
Human = Annotated[
    Path, typer.Option("--human", help="The texts with people's scores: JSONL, CSV, TSV, …")
]
RatedAspects = Annotated[
    list[str] | None,
    typer.Option("--aspect", help="What people rated, all of it by default; repeatable."),
]
Categories = Annotated[
    list[str] | None,
    typer.Option(
        "--category",
        help="JUDGE=GOLD: a judge's category and the gold category that it means; repeatable.",
    ),
]
LevelName = Annotated[
    Literal["by-input", "pooled", "system"],
    typer.Option(help="Within each input over its systems, over all outputs, or of systems."),
]
CorrelationName = Annotated[
    Literal["pearson", "spearman", "tau-b", "tau-c"], typer.Option(help="Which correlation.")
]
Draws = Annotated[
    int, typer.Option(min=0, help="Of the bootstrap and of the permutation test; 0 for neither.")
]
DrawSeed = Annotated[int, typer.Option("--seed", help="Of what is drawn.")]
ComparisonDraws = Annotated[int, typer.Option("--draws", min=1, help="Of the bootstrap.")]
FirstRun = Annotated[Path, typer.Argument(help="results.jsonl, a run's folder, metric scores.")]
SecondRun = Annotated[Path, typer.Argument(help="The same of another run.")]
PageOutput = Annotated[
    Path | None, typer.Option("--output", "-o", help="A folder for the page and its pictures.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, not a table.")]
