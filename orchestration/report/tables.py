"""Tables: columns, rows, and cells with a number, its interval and its meaning.

Every number of a report is formatted here, so that a missing one is `-`.
"""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Literal, NamedTuple, Protocol

from spanjury.orchestration.report.prose import Prose


def figure(value: float | None, spec: str = "") -> str:
    """Format a number; `-` if there is none.

    Parameters
    ----------
    value
        None and NaN count as missing.
    spec
        As in `format`; by default two decimals for floats and all digits for integers.

    Examples
    --------
    >>> figure(0.125, ".0%"), figure(0.25, "+.3f"), figure(math.nan), figure(12), figure(0.5)
    ('12%', '+0.250', '-', '12', '0.50')
    """
    if value is None or math.isnan(value):
        return "-"
    return format(value, spec or _usual(value))


def bracketed(interval: tuple[float, float], spec: str = "") -> str:
    """Format an interval in brackets; empty if it has no ends.

    Examples
    --------
    >>> bracketed((-0.1, 0.25), "+.2f")
    '[-0.10, +0.25]'
    """
    low, high = interval
    if math.isnan(low) and math.isnan(high):
        return ""
    return f"[{figure(low, spec)}, {figure(high, spec)}]"


def between(low: float | None, high: float | None, spec: str = "") -> str:
    """Format an interval with *to* between its ends; `-` if an end is missing.

    Examples
    --------
    >>> between(0.1, 0.25), between(None, 0.25)
    ('0.10 to 0.25', '-')
    """
    ends = figure(low, spec), figure(high, spec)
    return "-" if "-" in ends else " to ".join(ends)


def defined(value: float) -> float | None:
    """Return a number for JSON: None if it is undefined or infinite."""
    return float(value) if math.isfinite(value) else None


def _usual(value: object) -> str:
    return ".2f" if isinstance(value, float) else ""


Medium = Literal["page", "terminal"]
Mark = Literal["good", "bad", "unsure", "failed"]
"""The meaning of a cell: as wanted, not as wanted, undecided, not measured."""
Value = str | float | None


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    A terminal wraps its cells if `wrap`; by default text is wrapped, numbers are not. There it has
    at most `max_width` characters.
    """

    heading: str
    align: Literal["left", "right"] = "left"
    _: KW_ONLY
    wrap: bool | None = None
    max_width: int | None = None
    only: Medium | None = None

    @property
    def wraps(self) -> bool:
        """True if a terminal wraps its cells."""
        return self.align == "left" if self.wrap is None else self.wrap


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table.

    A missing number, None or NaN, is shown as `-`, and others in the format `spec` of `figure`.
    `note` is a remark after the value, such as `(20)`.
    """

    value: Value
    spec: str = ""
    _: KW_ONLY
    interval: tuple[float, float] | None = None
    mark: Mark | None = None
    bold: bool = False
    note: str = ""

    @property
    def figure(self) -> str:
        """The value as text."""
        return self.value if isinstance(self.value, str) else figure(self.value, self.spec)

    @property
    def remainder(self) -> str:
        """The interval, if there is a value, and the note."""
        shown = bracketed(self.interval, self.spec) if self.interval and self.figure != "-" else ""
        return " ".join(filter(None, (shown, self.note)))

    @property
    def text(self) -> str:
        """The value, the interval and the note as text."""
        return " ".join(filter(None, (self.figure, self.remainder)))


class Bounded(Protocol):
    """A value with the ends of its interval; each may be NaN."""

    @property
    def value(self) -> float:
        """The value."""

    @property
    def low(self) -> float:
        """The low end of its interval."""

    @property
    def high(self) -> float:
        """The high end of its interval."""


def estimate_cell(estimate: Bounded | None, spec: str = "", *, note: str = "") -> Cell:
    """Return the cell of a value with its interval; `-` if there is no estimate."""
    if estimate is None:
        return Cell(None)
    interval = (estimate.low, estimate.high)
    return Cell(estimate.value, spec, interval=interval, note=note)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of a table: its cells, whether it is dimmed, and whether a rule follows it."""

    cells: tuple[Cell, ...]
    faint: bool = False
    ruled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table; `table` builds one from simpler values.

    `title` and `note` are above and below it; on a terminal a table without a title has that of its
    section. Raises `ValueError` if the cells of a row do not match the columns.
    """

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    title: Prose = ""
    note: Prose = ""
    only: Medium | None = None

    def __post_init__(self) -> None:
        for number, entry in enumerate(self.rows):
            if len(entry.cells) != len(self.columns):
                raise ValueError(
                    f"row {number} has {len(entry.cells)} cells, expected {len(self.columns)}"
                )

    def columns_on(self, medium: Medium) -> tuple[Column, ...]:
        """Return the columns that `medium` shows."""
        return tuple(column for column in self.columns if column.only in (None, medium))

    def to_dicts(self) -> list[dict[str, Value]]:
        """Return each row of a page as heading -> number or text, without intervals and notes.

        An undefined number is None. Repeated headings are numbered, as in ``texts (2)``.
        """
        names = numbered(column.heading for column in self.columns_on("page"))
        return [
            {
                name: defined(cell.value) if isinstance(cell.value, float) else cell.value
                for name, cell in zip(names, self.cells_on("page", entry), strict=True)
            }
            for entry in self.rows
        ]

    def cells_on(self, medium: Medium, line: Row) -> tuple[Cell, ...]:
        """Return the cells of a row that `medium` shows."""
        paired = zip(self.columns, line.cells, strict=True)
        return tuple(cell for column, cell in paired if column.only in (None, medium))


def numbered(names: Iterable[str]) -> list[str]:
    """Return `names`, with repeated ones numbered, as in ``texts (2)``."""
    seen: Counter[str] = Counter()
    distinct = []
    for name in names:
        seen[name] += 1
        distinct.append(f"{name} ({seen[name]})" if seen[name] > 1 else name)
    return distinct


def numeric(*headings: str) -> tuple[Column, ...]:
    """Return columns of numbers."""
    return tuple(Column(heading, "right") for heading in headings)


def row(*cells: Cell | Value, faint: bool = False, ruled: bool = False) -> Row:
    """Return a row of cells, or of values."""
    return Row(
        cells=tuple(cell if isinstance(cell, Cell) else Cell(cell) for cell in cells),
        faint=faint,
        ruled=ruled,
    )


def table(
    columns: Iterable[Column | str],
    rows: Iterable[Row | Iterable[Cell | Value]],
    *,
    title: Prose = "",
    note: Prose = "",
    only: Medium | None = None,
) -> Table:
    """Return a table; headings stand for text columns, values for cells."""
    return Table(
        columns=tuple(Column(column) if isinstance(column, str) else column for column in columns),
        rows=tuple(item if isinstance(item, Row) else row(*item) for item in rows),
        title=title,
        note=note,
        only=only,
    )


class Entry(NamedTuple):
    """A cell with its column."""

    column: Column
    cell: Cell


class Line(NamedTuple):
    """A row with the columns of its cells."""

    columns: tuple[Column, ...]
    row: Row


def left(
    heading: str,
    value: Cell | Value,
    *,
    wrap: bool | None = None,
    max_width: int | None = None,
    only: Medium | None = None,
) -> Entry:
    """Return an entry with text."""
    cell = value if isinstance(value, Cell) else Cell(value)
    return Entry(Column(heading, wrap=wrap, max_width=max_width, only=only), cell)


def right(
    heading: str,
    value: Cell | Value,
    spec: str = "",
    *,
    wrap: bool | None = None,
    only: Medium | None = None,
) -> Entry:
    """Return an entry with a number."""
    cell = value if isinstance(value, Cell) else Cell(value, spec)
    return Entry(Column(heading, "right", wrap=wrap, only=only), cell)


def spread(
    heading: str,
    estimate: Bounded | None,
    spec: str = "",
    *,
    wrap: bool | None = None,
    only: Medium | None = None,
) -> Entry:
    """Return an entry with a value and its interval."""
    return right(heading, estimate_cell(estimate, spec), wrap=wrap, only=only)


def apart(
    heading: str,
    estimate: Bounded,
    spec: str,
    *,
    only: Medium | None = None,
    ends_only: Medium | None = None,
) -> tuple[Entry, Entry]:
    """Return separate entries for a value and for its interval.

    `ends_only` is the medium of the interval; by default that of the value.
    """
    interval = between(estimate.low, estimate.high, spec)
    return (
        right(heading, estimate.value, spec, only=only),
        right("95 %", interval, only=ends_only or only),
    )


def line(*entries: Entry, faint: bool = False, ruled: bool = False) -> Line:
    """Return a row of entries."""
    cells = (entry.cell for entry in entries)
    return Line(tuple(entry.column for entry in entries), row(*cells, faint=faint, ruled=ruled))


def table_of(
    lines: Iterable[Line | Iterable[Entry]],
    *,
    title: Prose = "",
    note: Prose = "",
    only: Medium | None = None,
) -> Table:
    """Return a table with the columns of its rows; without rows it is not shown.

    Raise `ValueError` if two rows have different columns.
    """
    drawn = [each if isinstance(each, Line) else line(*each) for each in lines]
    columns, *others = dict.fromkeys(each.columns for each in drawn) or [()]
    if others:
        raise ValueError(f"expected rows with the same columns, got {columns!r} and {others[0]!r}")
    return table(columns, (each.row for each in drawn), title=title, note=note, only=only)
