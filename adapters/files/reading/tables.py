"""Tables with named columns (CSV, TSV): their records, and the native row for each."""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from threading import Lock
from typing import Any

from spanjury.adapters.files.limits import USUAL, DataLimits
from spanjury.adapters.files.lines import Line
from spanjury.adapters.files.reading.column_map import AS_NAMED, ColumnMap, column_path
from spanjury.adapters.files.reading.shapes import NATIVE, missing_output
from spanjury.adapters.files.strict_json import parse_json
from spanjury.judges.core import DataError

_FIELD_LIMIT = Lock()
_JSON_COLUMNS = frozenset({"references", "spans", "meta"})
_OTHER_DELIMITER = re.compile(r"[\t|,]")


def read_records(
    lines: Iterable[Line], *, delimiter: str, limits: DataLimits = USUAL
) -> Iterator[tuple[int, list[str] | DataError]]:
    """Yield each record that is not blank, with the number of the line on which it begins.

    Semicolons separate the cells if the first line has some, and none of the `delimiter`.
    Quoted cells may contain delimiters, line ends and doubled quotes. An unreadable record yields
    a `DataError`. Reading ends after a record that is too long: its quotes are probably not
    closed, and then the beginning of the next record is unknown.
    """
    header, lines = _with_header(lines)
    if ";" in header and delimiter not in header:  # as Excel writes where decimals have commas
        delimiter = ";"
    texts = _Texts(lines, delimiter=delimiter, limits=limits)
    reader = csv.reader(iter(texts), delimiter=delimiter, strict=True)
    while True:
        texts.begin = begin = reader.line_num + 1
        try:
            cells = _next_record(reader, limits=limits)
        except (csv.Error, DataError) as error:
            texts.faults.append(_problem_of(error, limits=limits))
            cells = []
        if cells is None:
            return
        if texts.faults:
            yield begin, DataError(texts.faults[0])
            texts.faults.clear()
        elif cells:
            yield begin, cells


def _with_header(lines: Iterable[Line]) -> tuple[str, Iterable[Line]]:
    """Return the text of the first line that is not blank, and all lines."""
    begun: list[Line] = []
    rest = iter(lines)
    for line in rest:
        begun.append(line)
        if line.text.strip():
            break
    return (begun[-1].text if begun else ""), chain(begun, rest)


class _Texts:
    """The lines of a table, and the faults in the lines of the current record."""

    def __init__(self, lines: Iterable[Line], *, delimiter: str, limits: DataLimits) -> None:
        self.faults: list[str] = []
        self.begin = 1  # line on which the record begins
        self._lines = lines
        self._delimiter = delimiter
        self._limits = limits

    def __iter__(self) -> Iterator[str]:
        size = 0
        for line in self._lines:
            size = len(line.text) + (size if line.number > self.begin else 0)
            if line.fault:
                where = f" (line {line.number})" if line.number > self.begin else ""
                self.faults.append(f"{line.fault}{where}")
            elif size > self._limits.row:
                raise self._limits.exceeded("row", "the record is too long")
            yield "\n" if self._has_too_many_cells(line.text) else line.text

    def _has_too_many_cells(self, text: str) -> bool:
        """Reject a line of very many cells before `csv` splits it."""
        if '"' in text or text.count(self._delimiter) < self._limits.columns:
            return False
        self.faults.append(str(self._limits.exceeded("columns", "there are too many cells")))
        return True


def _problem_of(error: Exception, *, limits: DataLimits) -> str:
    """Return the reason why a record is unreadable; an unclosed quote makes a cell too long."""
    if isinstance(error, DataError):
        return str(error)
    if "field larger than" in str(error):
        return str(limits.exceeded("cell", "a cell is too long, or its quotes are not closed"))
    return f"not a row of a table: {error}"


def _next_record(reader: Iterator[list[str]], *, limits: DataLimits) -> list[str] | None:
    """Return the next record, allowing large cells, or None at the end.

    `csv`'s limit of cells is global to the process, so it is restored after every record.
    """
    with _FIELD_LIMIT:
        before = csv.field_size_limit(limits.cell)
        try:
            return next(reader, None)
        finally:
            csv.field_size_limit(before)


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The columns of a table, and their paths in a native row.

    `paths` has for each column its path of keys, such as ``("human", "fluency")``; empty for a
    column without a name, which is ignored. For the paths in `outputs` an empty cell is a text.
    JSON in a cell may be nested `depth` deep.
    """

    names: tuple[str, ...]
    paths: tuple[tuple[str, ...], ...]
    outputs: frozenset[tuple[str, ...]]
    depth: int

    def row(self, cells: Sequence[str]) -> dict[str, Any]:
        """Return the native row of `cells`; an empty cell is left out, unless it is an output.

        Raises `DataError` if the number of cells is not that of the columns, or a cell should be
        JSON and is not.
        """
        if len(cells) != len(self.names):
            raise DataError(
                f"got {len(cells)} cells, expected {len(self.names)}: {', '.join(self.names)}"
            )
        row: dict[str, Any] = {}
        for path, cell in zip(self.paths, cells, strict=True):
            if path in self.outputs or (path and cell):
                *outer, last = path
                group = row
                for key in outer:
                    group = group.setdefault(key, {})
                group[last] = _value(cell, path=path, depth=self.depth)
        if isinstance(references := row.get("reference"), dict):
            row["reference"] = list(references.values())
        return row


def read_header(
    header: Sequence[str], *, called: ColumnMap = AS_NAMED, limits: DataLimits = USUAL
) -> Columns:
    """Return the columns named by the first record of a table.

    Raises `DataError` if they fit no shape, two of them have the same path, a column named in
    `called` is missing, or there are too many.
    """
    if len(header) > limits.columns:
        raise limits.exceeded("columns", f"there are {len(header)} columns")
    names = tuple(name.strip() for name in header)
    named = called.header(names)
    shape = called.shape_of({name.partition(".")[0] for name in named})
    if shape is None or (shape.name == NATIVE and "output" not in named):
        if len(names) == 1 and (other := _OTHER_DELIMITER.search(names[0])):
            raise DataError(
                f"got {other[0]!r} between columns ({names[0]}), expected ',' or ';' in .csv, or a"
                " tab in .tsv"
            )
        raise DataError(missing_output(names))
    is_native = shape.name == NATIVE
    columns = Columns(
        names=names,
        paths=tuple(map(column_path if is_native else _nested_path, named)),
        outputs=frozenset(map(_nested_path, shape.output)),
        depth=limits.depth,
    )
    for first, second in combinations(filter(None, columns.paths), 2):
        if first[: len(second)] == second[: len(first)]:
            raise DataError(f"two columns map to {'.'.join(filter(None, first))}")
    return columns


def _nested_path(name: str) -> tuple[str, ...]:
    """Return the path of another program's column; it writes objects as ``inputs.text``."""
    if name.startswith(("human.", "scores.", "meta.")):
        return column_path(name)
    return tuple(name.split(".", 1)) if name else ()


def _value(cell: str, *, path: tuple[str, ...], depth: int) -> object:
    """Parse a cell by its path; a score that is not a number is refused later."""
    if len(path) == 1 and path[0] in _JSON_COLUMNS:
        try:
            return parse_json(cell, depth=depth)
        except DataError as error:
            hint = "; a cell that holds one text is for the column 'reference'"
            is_text = path[0] == "references"
            raise DataError(f"column {path[0]}: {error}{hint if is_text else ''}") from error
    if path[0] not in {"human", "scores"}:
        return cell
    try:
        return cell if "_" in cell else float(cell)  # which would read 1_0 as 10
    except ValueError:
        return cell
