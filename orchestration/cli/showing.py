"""What a metric sees in a text, on the command line."""

from pathlib import Path

from spanjury.orchestration.cli.exits import say
from spanjury.orchestration.services.metric_pages import show_metric

__all__ = ["show_row"]


def show_row(*, data: Path, row: str, metric: str, column: list[str] | None, output: Path) -> None:
    """Write a page about one row."""
    show_metric(data, output, row=row, metric=metric, columns=tuple(column or ()))
    say(f"written: {output}")
