"""Columns of numbers in tables and lists of objects: their totals, means and lengths."""

import csv
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from spanjury.judges.rules.alignment.record import records
from spanjury.judges.text.kept import KeptByText

_NUMBER = re.compile(r"[$£€]?\s*(\d[\d,]*(?:\.\d+)?)\s*[%A-Za-z]{0,12}")
_SEPARATORS = ",;\t"
_LEAST = 3  # minimum lines of a table that separators form
_MOST = 2000  # maximum lines of such a table


def _columns(text: str) -> tuple[Sequence[float], ...]:
    columns: Mapping[object, list[float | None]] = defaultdict(list)
    for record in records(text).records:
        for field in record.fields:
            columns[record.group, field.key].append(_value(field.value))
    cells = [*columns.values(), *_separated(text)]
    numbers = ([value for value in column if value is not None] for column in cells)
    return tuple(
        column for column, held in zip(numbers, cells, strict=True) if len(column) == len(held) > 1
    )


columns = KeptByText(_columns)
"""Return the columns of numbers of a text: the values of one key or of one place in all rows."""


def _value(cell: str) -> float | None:
    """Return the number of a cell, which may have a unit, or None."""
    match = _NUMBER.fullmatch(cell.strip())
    return float(match[1].replace(",", "")) if match else None


def _separated(text: str) -> Iterator[list[float | None]]:
    """Yield the columns of consecutive lines with equally many separators, without a header."""
    for separator in _SEPARATORS:
        if text.count(separator) < _LEAST:
            continue
        for count, group in groupby(text.splitlines(), key=lambda line: line.count(separator)):
            lines = [*group]
            if not count or not _LEAST <= len(lines) <= _MOST:
                continue
            try:
                rows = [*csv.reader(lines, delimiter=separator, skipinitialspace=True)]
            except csv.Error:  # a cell that is too long
                continue
            for column in zip(*rows, strict=False):
                first, *others = map(_value, column)
                yield others if first is None else [first, *others]
