"""Changes as a file: a line that says what it holds, then a row for every report and condition.

A row is a JSON object with the fields of `Change`; what is null or has its default may be left
out, and so may the first line, so that anybody's record can be written this way.
"""

import gzip
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from spanjury.judges.core import VERSION, DataError
from spanjury.orchestration.report.files import write_whole
from spanjury.orchestration.studies.faithfulness.changes import Change

__all__ = ["CHANGES", "json_rows", "read_change_rows", "write_changes"]

CHANGES = "changes.jsonl"
"""Name of the file in an exam's folder."""

_FORMAT = 1
_ROW: TypeAdapter[Change] = TypeAdapter(Change)
_RENAMED = {"road": "method", "treatment": "condition"}
"""Names of fields until release 0.2, and from then on."""

Row = dict[str, object]


def write_changes(path: Path, changes: Sequence[Change]) -> None:
    """Write what an exam is made of, so that it can be analysed without a judge.

    Raises
    ------
    StoreError
        If the file cannot be written; what was there stays.
    """
    head = json.dumps({"format": _FORMAT, "spanjury": VERSION, "rows": len(changes)}).encode()
    lines = (head, *(_ROW.dump_json(change, exclude_defaults=True) for change in changes))
    write_whole(path, b"".join(line + b"\n" for line in lines))


def read_change_rows(rows: Iterable[tuple[str, Row]]) -> Iterator[Change]:
    """Read rows of our own format.

    Parameters
    ----------
    rows
        From `json_rows`.

    Raises
    ------
    DataError
        If a row is not as it should be, or the file is cut short; names the line.
    """
    promised: object = None
    read = 0
    for place, row in rows:
        if "format" in row:
            promised = _promised(row, place)
            continue
        yield _change(row, place)
        read += 1
    if isinstance(promised, int) and read != promised:
        raise DataError(f"the record is cut short: it has {read} of {promised} rows")


def json_rows(path: Path) -> Iterator[tuple[str, Row]]:
    """Yield each line of a JSONL file, or a gzipped one, with its place.

    Raises
    ------
    DataError
        If the file cannot be read, or a line is no JSON object; names the line.
    """
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield f"{path}:{number}", _object(line, f"{path}:{number}")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read: {error}") from error


def _object(line: str, place: str) -> Row:
    try:
        told = json.loads(line)
    except ValueError as error:
        raise DataError(f"{place}: no JSON: {error}") from error
    if not isinstance(told, dict):
        raise DataError(f"{place}: expected an object, got {type(told).__name__}")
    return told


def _promised(row: Row, place: str) -> object:
    if row["format"] != _FORMAT:
        raise DataError(f"{place}: format {row['format']!r}, expected {_FORMAT}")
    return row.get("rows")


def _change(row: Row, place: str) -> Change:
    for before, now in _RENAMED.items():
        if before in row:
            row[now] = row.pop(before)
    try:
        return _ROW.validate_python(row)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise DataError(f"{place}: {where}: {first['msg']}".replace(": :", ":")) from error
