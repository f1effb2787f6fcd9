"""Tables with named columns (CSV, TSV): their records, and the native row of each."""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from threading import Lock
from typing import Any

from spanjury.adapters.files.lines import Line
from spanjury.adapters.files.reading.column_map import AS_NAMED, ColumnMap
from spanjury.adapters.files.reading.rows import INPUT_HEADER
from spanjury.adapters.files.strict_json import parse_json
from spanjury.judges.core import DataError

__all__ = ["MAX_CELL", "Columns", "read_header", "read_records"]

MAX_CELL = 2**24
"""Characters that one cell may hold; an unclosed quote is noticed here at the latest."""

_FIELD_LIMIT = Lock()
_JSON_COLUMNS = frozenset({"references", "spans", "meta"})
_OUTPUT = ("output",)
_REFERENCE = re.compile(r"reference(_\d+)?")


def read_records(
    lines: Iterable[Line], *, delimiter: str
) -> Iterator[tuple[int, list[str] | DataError]]:
    """Yield each record that is not blank with the number of the line where it begins.

    Quoted cells may hold delimiters, line ends and doubled quotes. A record that cannot
    be read is a `DataError` in its place.
    """
    faults: list[str] = []

    def texts() -> Iterator[str]:
        for line in lines:
            if line.fault:
                faults.append(f"{line.fault} (line {line.number})")
            yield line.text

    reader = csv.reader(texts(), delimiter=delimiter, strict=True)
    while True:
        begin = reader.line_num + 1
        try:
            cells = _next_record(reader)
        except csv.Error as error:
            faults.append(f"not a row of a table: {error}")
            cells = []
        if cells is None:
            return
        if faults:
            yield begin, DataError(faults[0])
            faults.clear()
        elif cells:
            yield begin, cells


def _next_record(reader: Iterator[list[str]]) -> list[str] | None:
    """Advance `reader` with room for large cells, or return None at its end.

    The limit belongs to the whole process, so it is given back after every record.
    """
    with _FIELD_LIMIT:
        before = csv.field_size_limit(MAX_CELL)
        try:
            return next(reader, None)
        finally:
            csv.field_size_limit(before)


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Where the cells of a table belong in a native row.

    Parameters
    ----------
    names
        What the columns are called.
    places
        For each column the keys that lead to its place, as ``("human", "fluency")``;
        empty for a column without a name, which is not read.
    """

    names: tuple[str, ...]
    places: tuple[tuple[str, ...], ...]

    def row(self, cells: Sequence[str]) -> dict[str, Any]:
        """Return the native row that `cells` describe; an empty cell is nothing, or no output.

        Raises
        ------
        DataError
            If there are more or fewer cells than columns, or one should be JSON and is not.
        """
        if len(cells) != len(self.names):
            raise DataError(
                f"got {len(cells)} cells, expected {len(self.names)}: {', '.join(self.names)}"
            )
        row: dict[str, Any] = {}
        for place, cell in zip(self.places, cells, strict=True):
            if place == _OUTPUT or (place and cell):
                *outer, last = place
                group = row
                for key in outer:
                    group = group.setdefault(key, {})
                group[last] = _value(cell, place=place)
        if "reference" in row:
            row["reference"] = list(row["reference"].values())
        return row


def read_header(header: Sequence[str], *, called: ColumnMap = AS_NAMED) -> Columns:
    """Return the columns that the first record of a table names.

    Raises
    ------
    DataError
        If none is, or is `called`, ``output``, two of them would fill the same place, or
        one that is `called` something is not there.
    """
    names = tuple(name.strip() for name in header)
    columns = Columns(names=names, places=tuple(map(_place, called.header(names))))
    if _OUTPUT not in columns.places:
        raise DataError(f"there is no column output, only {', '.join(filter(None, names))}")
    for first, second in combinations(filter(None, columns.places), 2):
        if first[: len(second)] == second[: len(first)]:
            raise DataError(f"two columns are for {'.'.join(filter(None, first))}")
    return columns


def _place(name: str) -> tuple[str, ...]:
    """Return the keys that lead to what the column `name` holds."""
    head, _, tail = name.partition(".")
    if head in {"input", "inputs"} or (head == "source" and tail):
        return ("inputs", tail or INPUT_HEADER)
    if head in {"human", "scores"} and tail:
        aspect, _, rater = tail.partition(".")
        return (head, aspect, rater)
    if head == "meta" and tail:
        return (head, tail)
    if _REFERENCE.fullmatch(name):
        return ("reference", name)
    return (name,) if name else ()


def _value(cell: str, *, place: tuple[str, ...]) -> object:
    """Read a cell as what its place asks for; text that is no number is told of later."""
    if len(place) == 1 and place[0] in _JSON_COLUMNS:
        try:
            return parse_json(cell)
        except DataError as error:
            raise DataError(f"column {place[0]}: {error}") from error
    if place[0] not in {"human", "scores"}:
        return cell
    try:
        return float(cell)
    except ValueError:
        return cell
