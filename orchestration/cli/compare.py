"""`spanjury compare`: two runs on the same texts."""

import math
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from spanjury.judges.core import DataError
from spanjury.orchestration.cli.lazy import lazily

with lazily():
    from rich import table as tables

    from spanjury.orchestration.cli import console
    from spanjury.orchestration.services import scorers
    from spanjury.orchestration.studies.comparison import runs as study

__all__ = ["compare"]

_LEVEL = 0.05
_NOTE = "second minus first over the texts that both scored; * p < .05 (Holm)"


def compare(
    *,
    first: Annotated[
        Path, typer.Argument(help="results.jsonl, the folder of a run, scores of metrics.")
    ],
    second: Annotated[Path, typer.Argument(help="The same of another run.")],
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the draws.")] = 1,
    draws: Annotated[int, typer.Option(min=1, metavar="N", help="Draws of the bootstrap.")] = 2000,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, not a table.")] = False,
) -> None:
    """Compare the scores of two runs on the same texts, text by text."""
    found = study.differences(
        scorers.read_scorers([first]), scorers.read_scorers([second]), seed=seed, draws=draws
    )
    if not found:
        raise DataError(f"{first} and {second} have no scorer and aspect in common")
    if json:
        console.print_json([_plain(one) for one in found])
    else:
        console.print_view(_table(found))


def _table(found: "tuple[study.Difference, ...]") -> "tables.Table":
    table = tables.Table(caption=_NOTE, caption_justify="left")
    table.add_column("scorer", overflow="fold")
    table.add_column("aspect", overflow="fold")
    for heading in ("first", "second", "difference", "95 %", "higher", "lower", "texts"):
        table.add_column(heading, justify="right")
    for one in found:
        table.add_row(one.scorer, one.aspect, *_cells(one))
    return table


def _cells(one: "study.Difference") -> tuple[str, ...]:
    if not one.texts:
        return ("-", "-", "-", "", "0", "0", "0")
    mark = "*" if one.adjusted < _LEVEL else " "
    alone = one.only_first + one.only_second
    return (
        f"{one.first:.3f}",
        f"{one.second:.3f}",
        f"{one.difference:+.3f}{mark}",
        f"{one.low:+.3f} to {one.high:+.3f}",
        str(one.higher),
        str(one.lower),
        f"{one.texts} (+{alone} in one)" if alone else str(one.texts),
    )


def _plain(one: "study.Difference") -> dict[str, object]:
    """Return a difference for JSON; None for what is undefined."""
    return {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in asdict(one).items()
    }
