"""A comparison of two judges on a terminal: tables, a conclusion, and what to beware of."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from spanjury.orchestration.studies.comparison.comparison import (
    Compared,
    Comparison,
    Preference,
)
from spanjury.orchestration.studies.comparison.readings import (
    conclusion,
    preferred,
    remarks,
    what_was_done,
)
from spanjury.orchestration.studies.comparison.sharing import Place

__all__ = ["comparison_view"]


def comparison_view(comparison: Comparison, *, judges: Sequence[str]) -> RenderableType:
    """Show a comparison of two judges, A and B, in 80 characters' width."""
    falling = [told for told in comparison.by_place if told[0].expected != "unchanged"]
    steady = [told for told in comparison.by_place if told[0].expected == "unchanged"]
    named = (Text(f"{name}: {judge}") for name, judge in zip("AB", judges, strict=True))
    told = (Text(f"- {remark}", "magenta") for remark in remarks(comparison))
    return Group(
        *named,
        _table("Where scores should fall (*), or may: P(drop) - P(rise)", falling),
        _table("Where scores should stay: P(drop) + P(rise), less is better", steady),
        Text(conclusion(comparison), "bold"),
        *told,
    )


def _table(title: str, told: Sequence[tuple[Place, Compared]]) -> RenderableType:
    table = Table(title_justify="left", title=title, pad_edge=False)
    table.add_column("treatment", overflow="fold")
    table.add_column("aspect", overflow="fold")
    for heading in ("A", "B"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("A less B, 95 %", no_wrap=True)
    table.add_column("p", justify="right", no_wrap=True)
    table.add_column("verdict", overflow="fold")
    for place, compared in told:
        shown = compared.preference is not Preference.NOT_SHOWN
        table.add_row(
            Text(what_was_done(place)),
            Text(f"{place.aspect}{'*' if place.expected == 'falls' else ''}"),
            f"{compared.first:+.2f}",
            f"{compared.second:+.2f}",
            Text(f"[{compared.low:+.2f}, {compared.high:+.2f}]"),
            f"{compared.adjusted:.2g}",
            Text(preferred(place, compared), "green" if shown else ""),
        )
    return table
