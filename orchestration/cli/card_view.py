"""A judge's card on the screen."""

from rich.table import Table

from spanjury.orchestration.studies.card import Card
from spanjury.orchestration.studies.card_page import interval, number

__all__ = ["card_view"]


def card_view(card: Card) -> Table:
    """Return the measures of `card`, exam by exam."""
    table = Table(title="Judge card", title_justify="left")
    table.add_column("measure", overflow="fold")
    for heading in ("value", "95 %", "of"):
        table.add_column(heading, justify="right")
    table.add_column("what it is", overflow="fold")
    for record in card.records:
        for measure in record.measures:
            table.add_row(
                measure.name,
                number(measure.value),
                interval(measure),
                str(measure.count),
                measure.says,
            )
        table.add_section()
    return table
