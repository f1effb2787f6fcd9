"""What `spanjury compare` does once its flags are read."""

import math
from dataclasses import asdict
from pathlib import Path

from rich.table import Table

from spanjury.judges.core import DataError
from spanjury.orchestration.cli.console import CleanConsole
from spanjury.orchestration.cli.metric_cards import print_json
from spanjury.orchestration.services.scorers import read_scorers
from spanjury.orchestration.studies.comparison.runs import Difference, differences

__all__ = ["compare_runs"]

_LEVEL = 0.05


def compare_runs(*, first: Path, second: Path, seed: int, draws: int, json: bool) -> None:
    """Compare two runs, scorer by scorer and aspect by aspect."""
    found = differences(read_scorers([first]), read_scorers([second]), seed=seed, draws=draws)
    if not found:
        raise DataError(f"{first} and {second} have no scorer and aspect in common")
    if json:
        print_json([_plain(one) for one in found])
    else:
        CleanConsole().print(_table(found))


def _table(found: tuple[Difference, ...]) -> Table:
    told = "second less first over the texts that both scored; * p < .05 (Holm)"
    table = Table(caption=told, caption_justify="left")
    table.add_column("scorer", overflow="fold")
    table.add_column("aspect", overflow="fold")
    for heading in ("first", "second", "difference", "95 %", "higher", "lower", "texts"):
        table.add_column(heading, justify="right")
    for one in found:
        table.add_row(one.scorer, one.aspect, *_cells(one))
    return table


def _cells(one: Difference) -> tuple[str, ...]:
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


def _plain(one: Difference) -> dict[str, object]:
    """Return a difference for JSON; None for what is undefined."""
    return {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in asdict(one).items()
    }
