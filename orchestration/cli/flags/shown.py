"""What is shown of a run."""

from pathlib import Path
from typing import Annotated

import typer

from spanjury.judges.core import VERSION

__all__ = [
    "AsJson",
    "LogFile",
    "MinCoverage",
    "NoProgress",
    "Version",
]

AsJson = Annotated[
    bool, typer.Option("--json", envvar="SPANJURY_JSON", help="Print result rows, not a report.")
]
NoProgress = Annotated[
    bool,
    typer.Option("--no-progress", envvar="SPANJURY_NO_PROGRESS", help="No word of how far it is."),
]
LogFile = Annotated[
    Path | None,
    typer.Option(envvar="SPANJURY_LOG_FILE", help="Write a log of JSON Lines to this file."),
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


def _show_version(wanted: bool) -> None:  # noqa: FBT001  a flag's callback is called so
    if wanted:
        typer.echo(f"spanjury {VERSION}")
        raise typer.Exit


Version = Annotated[
    bool,
    typer.Option("--version", help="Print the version.", callback=_show_version, is_eager=True),
]
