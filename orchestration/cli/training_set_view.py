"""A training set on a terminal: what it holds, who was an outlier, what was left out."""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from spanjury.orchestration.studies.distillation.summary import Inventory, TaskCounts

__all__ = ["training_set_view"]

_Cell = Callable[[TaskCounts], str]

_OVERVIEW: Mapping[str, _Cell] = MappingProxyType(
    {
        "sources": lambda counts: f"{len(counts.datasets):,}",
        "systems": lambda counts: f"{len(counts.systems):,}",
        "outputs": lambda counts: f"{len(counts.outputs):,}",
        "aspects": lambda counts: f"{len(counts.aspects):,}",
        "examples": lambda counts: f"{counts.examples:,}",
    }
)
_SPLITS: Mapping[str, _Cell] = MappingProxyType(
    {
        "inputs": lambda counts: f"{len(counts.inputs):,}",
        "train": lambda counts: f"{counts.splits['train']:,}",
        "validation": lambda counts: f"{counts.splits['validation']:,}",
        "test": lambda counts: f"{counts.splits['test']:,}",
        "error-free": lambda counts: f"{counts.error_free / counts.examples:.0%}",
    }
)


def training_set_view(inventory: Inventory) -> RenderableType:
    """Show the tables 2 and 12 of OpeNLGauge, and what to beware of."""
    return Group(
        _table(inventory, "Training set", _OVERVIEW),
        _table(inventory, "Where it goes", _SPLITS),
        *_outliers(inventory),
        *_remarks(inventory),
    )


def _table(inventory: Inventory, title: str, cells: Mapping[str, _Cell]) -> RenderableType:
    table = Table(title_justify="left", title=title, pad_edge=False)
    table.add_column("task", overflow="fold")
    for heading in cells:
        table.add_column(heading, justify="right", no_wrap=True)
    for name, counts in sorted(inventory.tasks.items()):
        table.add_row(name, *(cell(counts) for cell in cells.values()))
    return table


def _outliers(inventory: Inventory) -> Iterator[RenderableType]:
    cells = {(one.seat, one.task): one for one in inventory.seat_outliers()}
    if not cells:
        return
    tasks = sorted({task for _, task in cells})
    title = "Scores that were outliers, by seat"
    table = Table(title_justify="left", title=title, pad_edge=False)
    table.add_column("seat", overflow="fold")
    for task in tasks:
        table.add_column(task, justify="right")
    for seat in dict.fromkeys(seat for seat, _ in cells):
        found = [cells.get((seat, task)) for task in tasks]
        table.add_row(seat, *(f"{cell.share:.2%}" if cell else "-" for cell in found))
    yield table


def _remarks(inventory: Inventory) -> Iterator[RenderableType]:
    for reason, count in inventory.skipped.most_common():
        yield Text(f"skipped: {count} x {reason}", "dim")
    for caution in inventory.cautions():
        yield Text(f"- {caution}", "magenta")
