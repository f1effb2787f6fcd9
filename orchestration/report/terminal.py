"""A report on a terminal: short tables, averages and cautions, without title and facts.

The lines of a table break between words, then within long names. If that is too wide still, each
row is shown as a list of its cells.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from textwrap import wrap
from typing import Literal

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table as RichTable
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
from spanjury.orchestration.report.plot import Plot
from spanjury.orchestration.report.prose import Prose, parts
from spanjury.orchestration.report.tables import Cell, Mark, Table

_TONES: Mapping[Tone, str] = {"plain": "", "strong": "bold", "caution": "magenta", "faint": "dim"}
_MARKS: Mapping[Mark | None, str] = {
    None: "",
    "good": "green",
    "bad": "red",
    "unsure": "yellow",
    "failed": "magenta",
}
_BETWEEN = 3
"""Blanks and rule between two columns."""
_NAME = 12
"""Characters of a name that stay together, if its column cannot hold all of it."""
_PAIR = 2
"""Columns of a list of cells: a heading and its value."""
_SPACE = re.compile(r"[\t\n\v\f\r]")
_STYLES = {"plain": "", "strong": "bold", "emphasis": "italic", "code": ""}


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


def _table(table: Table, *, title: Prose) -> RenderableType:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedColumn:
    """A column with its cells.

    `wraps`: whether its cells are broken into lines; its heading always is.
    `max_width`: in characters; a longer word has its own width.
    """

    heading: Text
    cells: Sequence[Text]
    justify: Literal["left", "right"] = "left"
    wraps: bool = True
    max_width: int | None = None

    @property
    def most(self) -> int:
        """The width in which no line is broken, limited by `max_width` but not within a word."""
        longest = max(map(_longest_line, (self.heading, *self.cells)))
        limited = longest if self.max_width is None else min(longest, self.max_width)
        return max(limited, self.least(at_hyphens=False))

    def least(self, *, at_hyphens: bool, wraps: bool = False) -> int:
        """Return the width in which no word is broken, or none but at its hyphens.

        `wraps`: whether the cells are broken into lines although the column does not want it.
        """
        wraps = wraps or self.wraps
        broken = (self.heading, *self.cells) if wraps else (self.heading,)
        words = max(_longest_word(text, at_hyphens=at_hyphens) for text in broken)
        return words if wraps else max((words, *map(_longest_line, self.cells)))


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedTable:
    """A table whose columns are as narrow as it takes, and no narrower than their words.

    rich narrows the widest columns first, whatever their words are.

    `styles`, `ruled`: of each row: its style, and whether a rule ends it.
    """

    columns: Sequence[FittedColumn]
    styles: Sequence[str]
    ruled: Sequence[bool]
    title: Text | None = None
    caption: Text | None = None
    has_header: bool = True

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the table for the width at hand, or its rows as lists if it does not fit."""
        widths = self._widths(options.max_width)
        if None in widths and len(self.columns) > _PAIR:
            yield self._as_lists()
            return
        table = RichTable(
            title=self.title,
            title_justify="left",
            caption=self.caption,
            caption_justify="left",
            pad_edge=False,
            show_header=self.has_header,
        )
        for column, width in zip(self.columns, widths, strict=True):
            table.add_column(
                _broken(column.heading, width),
                justify=column.justify,
                width=width,
                no_wrap=width is None and not column.wraps,
                overflow="fold" if column.wraps else "ellipsis",
                max_width=None if width else column.max_width,
            )
        for number, (style, ruled) in enumerate(zip(self.styles, self.ruled, strict=True)):
            row = (column.cells[number] for column in self.columns)
            table.add_row(*map(_broken, row, widths), style=style, end_section=ruled)
        yield table

    def _as_lists(self) -> "FittedTable":
        """Return a table of two columns that shows each row as headings and cells."""
        lines = [
            (column.heading, column.cells[number], number)
            for number in range(len(self.styles))
            for column in self.columns
            if column.cells[number].plain
        ]
        numbers = [number for *_, number in lines]
        return FittedTable(
            columns=[
                FittedColumn(heading=Text(), cells=[heading for heading, *_ in lines]),
                FittedColumn(heading=Text(), cells=[cell for _, cell, _ in lines]),
            ],
            styles=[self.styles[number] for number in numbers],
            ruled=[now != after for now, after in zip_longest(numbers, numbers[1:])],
            title=self.title,
            caption=self.caption,
            has_header=False,
        )

    def _widths(self, width: int) -> Sequence[int | None]:
        """Return the width of each column; None for all if the table does not fit."""
        room = width - _BETWEEN * len(self.columns) + 1
        # Names break at hyphens before numbers break before their intervals.
        for at_hyphens, wraps in ((False, False), (True, False), (True, True)):
            least = [column.least(at_hyphens=at_hyphens, wraps=wraps) for column in self.columns]
            if sum(least) <= room:
                return _narrowed([column.most for column in self.columns], least, room=room)
        least = [
            min(need, _NAME) if column.justify == "left" else need
            for column, need in zip(self.columns, least, strict=True)
        ]
        if sum(least) <= room:
            return _narrowed([column.most for column in self.columns], least, room=room)
        return [None] * len(self.columns)


def _narrowed(widths: list[int], least: Sequence[int], *, room: int) -> Sequence[int]:
    """Take from the widest columns, but not from what they need at least."""
    while sum(widths) > room:
        spare = [width if width > need else 0 for width, need in zip(widths, least, strict=True)]
        widths[spare.index(max(spare))] -= 1
    return widths


def _broken(text: Text, width: int | None) -> Text:
    """Break a text at hyphens where a word of it is wider than its column."""
    if width is None or _longest_word(text, at_hyphens=False) <= width:
        return text
    starts = [0]
    plain = _SPACE.sub(" ", text.plain)  # as `wrap` reads them, which drops some of them
    for line in wrap(plain, width, break_long_words=False):
        starts.append(plain.index(line, starts[-1]))
    pieces = [*text.divide(starts[2:])]
    for piece in pieces:
        piece.rstrip()
    return Text("\n").join(pieces)


def _longest_line(text: Text) -> int:
    return max(map(cell_len, text.plain.splitlines()), default=0)


def _longest_word(text: Text, *, at_hyphens: bool) -> int:
    words = text.plain.split()
    if at_hyphens:  # with no room for two pieces on a line, each stands alone
        words = [piece for word in words for piece in wrap(word, 1, break_long_words=False)]
    return max(map(cell_len, words), default=0)
