"""What a gate came to, on the screen."""

from rich.table import Table

from spanjury.orchestration.studies.card import Measure
from spanjury.orchestration.studies.gate.page import GateFindings
from spanjury.orchestration.studies.held_out.findings import split_name

__all__ = ["gate_view"]

_LARGE = 10


def gate_view(findings: GateFindings) -> Table:
    """Return the measures of all judges side by side, a section for each topic.

    A measure of a group of examples stands below that of all of them, under the group's name.
    """
    table = Table(title="Gate", title_justify="left")
    table.add_column("measure", no_wrap=True)
    for heading in (*findings.cards, "of"):
        table.add_column(heading, justify="right")
    topics: list[str] = []
    for row in findings.rows():
        figure, group = split_name(row.name)
        topic = figure.partition(".")[0]
        if topics[-1:] not in ([], [topic]):
            table.add_section()
        topics.append(topic)
        counts = dict.fromkeys(str(one.count) for one in row.measures if one is not None)
        name = f"  {group}" if group else figure
        table.add_row(name, *map(_cell, row.measures), ", ".join(counts))
    return table


def _cell(measure: Measure | None) -> str:
    """Format a measure with its interval, in few digits."""
    if measure is None or measure.value is None:
        return "-"
    if measure.low is None or measure.high is None:
        return _short(measure.value)
    return f"{_short(measure.value)} ({_short(measure.low)}…{_short(measure.high)})"


def _short(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= _LARGE else f"{value:.2f}"
