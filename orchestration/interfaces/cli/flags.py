"""The flags of the commands: each has a name on the command line, in the environment, in code."""

from pathlib import Path
from typing import Annotated

import typer

from spanjury.judges.core import VERSION

__all__ = [
    "Aggregate",
    "AsJson",
    "AskedModels",
    "AspectNames",
    "AspectsFiles",
    "Attempts",
    "BaseUrls",
    "Connections",
    "Consolidate",
    "Data",
    "Folder",
    "Judges",
    "Limit",
    "MinCoverage",
    "Models",
    "NoProgress",
    "Offline",
    "OtherAggregate",
    "OtherConsolidate",
    "OtherOutput",
    "Output",
    "PanelFile",
    "RequestsPerMinute",
    "RetryFailed",
    "Run",
    "RunDir",
    "Seed",
    "SkipBadRows",
    "TaskName",
    "Timeout",
    "TokensPerMinute",
    "Version",
]

Names = list[str]
AspectsFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--aspects-file",
        envvar="SPANJURY_ASPECTS_FILE",
        help="TOML of tasks and aspects; repeatable.",
    ),
]
BaseUrls = Annotated[
    Names | None,
    typer.Option(
        envvar="SPANJURY_MODEL_BASE_URL",
        help="Where the model's server answers; repeatable for several servers of it.",
    ),
]
TaskName = Annotated[str | None, typer.Option(envvar="SPANJURY_TASK", help="Name of a task.")]
Data = Annotated[Path, typer.Argument(metavar="DATA", help="JSONL, CSV or TSV file, also .gz.")]
AspectNames = Annotated[
    Names | None,
    typer.Option(envvar="SPANJURY_ASPECT", help="Aspect to judge, or 'all'; repeatable."),
]
Judges = Annotated[
    Names | None,
    typer.Option(envvar="SPANJURY_JUDGE", help="NAME or NAME:option=value,…; repeatable."),
]
PanelFile = Annotated[
    Path | None, typer.Option(envvar="SPANJURY_PANEL", help="TOML file that names the seats.")
]
Models = Annotated[
    Names | None,
    typer.Option(
        envvar="SPANJURY_MODEL",
        help="Any LiteLLM name (ollama/…, hosted_vllm/…, openai/…) or 'embedded'; repeatable.",
    ),
]
RequestsPerMinute = Annotated[
    int | None,
    typer.Option(envvar="SPANJURY_REQUESTS_PER_MINUTE", min=1, help="Limit for each model."),
]
TokensPerMinute = Annotated[
    int | None,
    typer.Option(envvar="SPANJURY_TOKENS_PER_MINUTE", min=1, help="Limit for each model."),
]
Timeout = Annotated[
    float | None,
    typer.Option(
        envvar="SPANJURY_TIMEOUT", min=0.1, help="Seconds a call may take; 120 by default."
    ),
]
Connections = Annotated[
    int | None,
    typer.Option(
        envvar="SPANJURY_CONNECTIONS", min=1, help="Calls at once per server; 8 by default."
    ),
]
Attempts = Annotated[
    int | None,
    typer.Option(envvar="SPANJURY_ATTEMPTS", min=1, help="Tries of a failing call; 4 by default."),
]
Aggregate = Annotated[
    str | None,
    typer.Option(
        envvar="SPANJURY_AGGREGATE", help="How seats' scores become one; mean by default."
    ),
]
Consolidate = Annotated[
    str | None,
    typer.Option(
        envvar="SPANJURY_CONSOLIDATE", help="How seats' spans are merged; rules by default."
    ),
]
Limit = Annotated[
    int | None, typer.Option(envvar="SPANJURY_LIMIT", min=1, help="Judge the first rows only.")
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
    Path | None,
    typer.Option(envvar="SPANJURY_RUN_DIR", help="Folder for a run that can be resumed."),
]
AsJson = Annotated[
    bool, typer.Option("--json", envvar="SPANJURY_JSON", help="Print result rows, not a report.")
]
NoProgress = Annotated[
    bool, typer.Option("--no-progress", envvar="SPANJURY_NO_PROGRESS", help="No progress bar.")
]
Seed = Annotated[
    int | None, typer.Option(envvar="SPANJURY_SEED", help="For judges that draw at random.")
]
SkipBadRows = Annotated[
    bool,
    typer.Option(
        "--skip-bad-rows", envvar="SPANJURY_SKIP_BAD_ROWS", help="Judge the readable rows."
    ),
]
MinCoverage = Annotated[
    float,
    typer.Option(
        envvar="SPANJURY_MIN_COVERAGE",
        min=0.0,
        max=1.0,
        help="Exit with 3 if a smaller share of assessments has a score.",
    ),
]
Run = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of the run.")]
RetryFailed = Annotated[
    bool,
    typer.Option(
        "--retry-failed", envvar="SPANJURY_RETRY_FAILED", help="Ask again where a seat failed."
    ),
]
OtherAggregate = Annotated[
    str | None, typer.Option(envvar="SPANJURY_AGGREGATE", help="Another way to make one score.")
]
OtherConsolidate = Annotated[
    str | None, typer.Option(envvar="SPANJURY_CONSOLIDATE", help="Another way to merge spans.")
]
OtherOutput = Annotated[
    Path | None,
    typer.Option("-o", "--output", help="Where the results go, if not to the run's folder."),
]
Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="Where run folders lie.")]
AskedModels = Annotated[
    Names | None,
    typer.Option(envvar="SPANJURY_MODEL", help="Ask this model for a word; repeatable."),
]
Offline = Annotated[
    bool,
    typer.Option(
        "--offline",
        envvar="SPANJURY_OFFLINE",
        help="Load everything and judge a sample with the network forbidden.",
    ),
]


def _show_version(wanted: bool) -> None:  # noqa: FBT001  a flag's callback is called so
    if wanted:
        typer.echo(f"spanjury {VERSION}")
        raise typer.Exit


Version = Annotated[
    bool,
    typer.Option("--version", help="Print the version.", callback=_show_version, is_eager=True),
]
