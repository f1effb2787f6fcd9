"""Where a run goes, what it may take, and how it is taken up again."""

from pathlib import Path
from typing import Annotated, Literal

import typer

__all__ = [
    "DamagedRun",
    "DryRun",
    "Engine",
    "ExportForm",
    "ExportOutput",
    "ExportRows",
    "ExportedRun",
    "Folder",
    "MaxCost",
    "MaxOutage",
    "MaxSeconds",
    "MaxTokensTotal",
    "MergeOutput",
    "NoMemory",
    "NoPreflight",
    "OtherOutput",
    "Output",
    "Parts",
    "RayAddress",
    "RayWorkers",
    "RetryFailed",
    "Run",
    "RunDir",
]

Output = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        envvar="SPANJURY_OUTPUT",
        help="Where the results go; results.jsonl by default, here or in the run's folder.",
    ),
]
RunDir = Annotated[
    str | None,
    typer.Option(
        envvar="SPANJURY_RUN_DIR", help="Folder of the run; one among the user's data by default."
    ),
]
NoMemory = Annotated[
    bool,
    typer.Option(
        "--no-memory", envvar="SPANJURY_NO_MEMORY", help="Keep nothing that a resume could use."
    ),
]
MaxCost = Annotated[
    float | None,
    typer.Option(
        envvar="SPANJURY_MAX_COST", min=1e-9, help="Stop with 4 when this many dollars are spent."
    ),
]
MaxTokensTotal = Annotated[
    int | None,
    typer.Option(
        envvar="SPANJURY_MAX_TOKENS_TOTAL",
        min=1,
        help="Stop with 4 when prompts and replies have this many tokens.",
    ),
]
MaxSeconds = Annotated[
    float | None,
    typer.Option(envvar="SPANJURY_MAX_SECONDS", min=0.1, help="Stop with 4 after this time."),
]
MaxOutage = Annotated[
    float | None,
    typer.Option(
        envvar="SPANJURY_MAX_OUTAGE",
        min=0.0,
        help="Stop with 1 when a model does not answer for so many seconds; 60 by default.",
    ),
]
NoPreflight = Annotated[
    bool,
    typer.Option(
        "--no-preflight",
        envvar="SPANJURY_NO_PREFLIGHT",
        help="Skip the small question that each model is asked first.",
    ),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run", envvar="SPANJURY_DRY_RUN", help="Judge a sample; print what all would take."
    ),
]
Engine = Annotated[
    Literal["local", "ray"],
    typer.Option(envvar="SPANJURY_ENGINE", help="'ray' judges on a cluster; needs --run-dir."),
]
RayAddress = Annotated[
    str | None,
    typer.Option(envvar="RAY_ADDRESS", help="A running cluster; this machine by default."),
]
RayWorkers = Annotated[
    int | None,
    typer.Option(envvar="SPANJURY_RAY_WORKERS", min=1, help="Panels at once; one a core."),
]
Run = Annotated[Path, typer.Argument(metavar="RUN", help="Folder or name of the run.")]
DamagedRun = Annotated[
    Path, typer.Argument(metavar="RUN", help="Folder or name of a run, or the file of a memory.")
]
RetryFailed = Annotated[
    bool,
    typer.Option(
        "--retry-failed", envvar="SPANJURY_RETRY_FAILED", help="Ask again where a seat failed."
    ),
]
OtherOutput = Annotated[
    Path | None,
    typer.Option("-o", "--output", help="Where the results go, if not to the run's folder."),
]
ExportedRun = Annotated[
    Path, typer.Argument(metavar="RUN", help="Folder or name of a run, or a file of results.")
]
ExportOutput = Annotated[
    Path | None,
    typer.Option("-o", "--output", help="FILE.csv, .tsv or .jsonl; '-' prints, CSV by default."),
]
ExportForm = Annotated[
    str | None,
    typer.Option("--form", help="jsonl, csv, tsv, mqm or factgenie, whatever the file is called."),
]
ExportRows = Annotated[
    str, typer.Option("--rows", help="A row for each of the 'assessments', or of the 'spans'.")
]
Parts = Annotated[
    list[Path],
    typer.Argument(
        metavar="PARTS", help="Result files of all shards, or the folder that holds them."
    ),
]
MergeOutput = Annotated[
    Path | None,
    typer.Option("-o", "--output", help="Where the results go; beside the shards by default."),
]
Folder = Annotated[
    Path | None,
    typer.Argument(metavar="FOLDER", help="Where run folders lie, if not among the user's data."),
]
