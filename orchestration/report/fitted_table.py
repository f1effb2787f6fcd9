"""A table on a terminal whose lines break between words, as far as the width allows."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Literal

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

_BETWEEN = 3
"""Blanks and rule between two columns."""
_SPACE = re.compile(r"[\t\n\v\f\r]")


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
    pad_edge: bool = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the table for the width at hand; where no words fit, rich breaks them."""
        table = Table(
            title=self.title,
            title_justify="left",
            caption=self.caption,
            caption_justify="left",
            pad_edge=self.pad_edge,
        )
        widths = self._widths(options.max_width)
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

    def _widths(self, width: int) -> Sequence[int | None]:
        """Return the width of each column; None for all if no words fit."""
        edges = 2 if self.pad_edge else 0
        room = width - _BETWEEN * len(self.columns) + 1 - edges
        # Names break at hyphens before numbers break before their intervals.
        for at_hyphens, wraps in ((False, False), (True, False), (True, True)):
            least = [column.least(at_hyphens=at_hyphens, wraps=wraps) for column in self.columns]
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
