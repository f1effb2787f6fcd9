"""A report on a terminal: short tables, averages and cautions, without title and facts."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from rich.console import Group, RenderableType
from rich.text import Text

from spanjury.orchestration.report.document import (
    Block,
    Bullets,
    Paragraph,
    Picture,
    Report,
    Section,
    Tone,
    opening,
    shown_on,
)
from spanjury.orchestration.report.fitted_table import FittedColumn, FittedTable
from spanjury.orchestration.report.plot import Plot
from spanjury.orchestration.report.prose import Prose, parts
from spanjury.orchestration.report.tables import Cell, Mark, Table

_TONES: Mapping[Tone, str] = MappingProxyType(
    {"plain": "", "strong": "bold", "caution": "magenta", "faint": "dim"}
)
_MARKS: Mapping[Mark | None, str] = MappingProxyType(
    {None: "", "good": "green", "bad": "red", "unsure": "yellow", "failed": "magenta"}
)
_STYLES = MappingProxyType({"plain": "", "strong": "bold", "emphasis": "italic", "code": ""})


def report_view(report: Report) -> RenderableType:
    """Return the part of `report` that a terminal shows."""
    blocks = shown_on("terminal", (*opening(report), *report.sections))
    return Group(*(view for block in blocks for view in _views(block, title="")))


def _views(block: Block, *, title: str) -> Iterator[RenderableType]:
    match block:
        case Paragraph():
            yield _prose(block.text, style=_TONES[block.tone])
        case Bullets():
            for item in block.items:
                yield Text("- ", _TONES[block.tone]) + _prose(item, style=_TONES[block.tone])
        case Table():
            yield _table(block, title=block.title or title)
        case Section():
            for inner in shown_on("terminal", block.blocks):
                yield from _views(inner, title=block.title)
        case Picture() | Plot():
            pass


def _table(table: Table, *, title: Prose) -> FittedTable:
    rows = [table.cells_on("terminal", row) for row in table.rows]
    return FittedTable(
        columns=[
            FittedColumn(
                heading=Text(column.heading, "table.header"),
                cells=[_cell(row[number]) for row in rows],
                justify=column.align,
                wraps=column.wraps,
                max_width=column.max_width,
            )
            for number, column in enumerate(table.columns_on("terminal"))
        ],
        styles=["dim" if row.faint else "" for row in table.rows],
        ruled=[row.ruled for row in table.rows],
        title=_prose(title, style="table.title") if title else None,
        caption=_prose(table.note, style="table.caption") if table.note else None,
    )


def _cell(cell: Cell) -> Text:
    text = Text(cell.figure, "bold" if cell.bold else "")
    if cell.remainder:
        text.append(f" {cell.remainder}" if cell.figure else cell.remainder)
    text.stylize(_MARKS[cell.mark])
    return text


def _prose(text: Prose, *, style: str) -> Text:
    written = Text(style=style)
    for piece in parts(text):
        written.append(piece.text, _STYLES[piece.style])
    return written
