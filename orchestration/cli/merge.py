"""`spanjury merge`: one file of the results of all shards."""

from pathlib import Path
from typing import Annotated

import typer

from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import Flag
from spanjury.orchestration.cli.exits import say

with lazily():
    from spanjury.orchestration.wiring import cluster


def merge(
    *,
    parts: Annotated[
        tuple[Path, ...],
        typer.Argument(
            metavar="PARTS", help="Result files of all shards, or the folder that holds them."
        ),
    ],
    output: Annotated[
        Path | None, Flag("File for the results; by default beside the shards.", also="-o")
    ] = None,
) -> None:
    """Join the results of the shards of a run, in the order of the rows."""
    shards = cluster.find_parts(parts)
    target = output or shards[0].whole
    rows = cluster.merge_parts(shards, target)
    say(f"{rows} rows of {len(shards)} shards are in {target}")
