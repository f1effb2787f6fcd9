"""An exam of faithfulness on a terminal: a table for each judge, and what to beware of."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from spanjury.orchestration.report.numbers import figure
from spanjury.orchestration.studies.faithfulness.averages import Average, averages
from spanjury.orchestration.studies.faithfulness.cautions import cautions
from spanjury.orchestration.studies.faithfulness.findings import Findings

__all__ = ["faithfulness_view"]

_HEADINGS = ("printed", "errors", "room", "toward", "against", "change", "-null")


def faithfulness_view(findings: Findings) -> RenderableType:
    """Show what an exam came to, in 80 characters' width, averaged over aspects."""
    told = (Text(f"- {caution}", "magenta") for caution in cautions(findings))
    return Group(*_tables(findings), *told)


def _tables(findings: Findings) -> Iterator[RenderableType]:
    groups: dict[tuple[str, str], list[Average]] = {}
    for one in averages(findings.findings):
        groups.setdefault((one.judge, one.dataset), []).append(one)
    for (judge, dataset), rows in groups.items():
        table = Table(title_justify="left", title=f"{judge} on {dataset}", pad_edge=False)
        table.add_column("treatment", overflow="fold")
        for heading in _HEADINGS:
            table.add_column(heading, justify="right", no_wrap=True)
        for one in rows:
            table.add_row(Text(one.condition), *_cells(one))
        yield table
    yield Text(
        "Shares of changed scores over all reports as the paper prints them, over those with "
        "errors, and over those with room to move; of these toward what the list says; against "
        "it, over those with room to move that way; mean change; changed, minus the null control."
    )


def _cells(one: Average) -> Iterator[str]:
    for share in (one.as_printed, one.with_errors, one.with_room, one.toward, one.against):
        yield figure(share, ".2f")
    yield figure(one.shift, "+.2f")
    yield figure(one.above_control, "+.2f")
