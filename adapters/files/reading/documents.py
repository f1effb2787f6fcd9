"""Documents that contain all their rows: JSON files, and the logs of Inspect."""

import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from spanjury.adapters.files.limits import USUAL, DataLimits
from spanjury.adapters.files.lines import read_lines
from spanjury.adapters.files.reading.column_map import AS_NAMED, ColumnMap
from spanjury.adapters.files.reading.sources import segments_of
from spanjury.adapters.files.reading.trajectories import is_conversation
from spanjury.adapters.files.strict_json import parse_json
from spanjury.judges.core import DataError, Segment

_LISTS = (
    *("results", "samples", "rows", "data", "examples", "items", "runs", "traces"),
    *("observations", "test_cases", "testCases", "test_results", "evaluation_results"),
)
"""Keys whose value may be the list of rows, the most likely first."""
_SAMPLES = "samples/"
_UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, UnicodeDecodeError, RuntimeError)
"""Errors of one member of an archive; a RuntimeError is that of an encrypted one."""


def read_json(
    path: Path, /, *, columns: ColumnMap = AS_NAMED, limits: DataLimits = USUAL
) -> Iterator[Segment | DataError]:
    """Read a JSON document, plain or gzip.

    It is a list of rows; an object that contains such a list, as written by promptfoo and Inspect;
    an object of columns; or one row. It is held in memory as a whole.

    Raises `DataError` at once if the file does not exist, cannot be read, or has no rows.
    """
    texts: list[str] = []
    length = 0
    for line in read_lines(path, limits=replace(limits, row=limits.document)):
        if line.fault:
            raise DataError(f"{path}, line {line.number}: {line.fault}")
        length += len(line.text)
        if length > limits.document:
            raise limits.exceeded("document", f"{path}: the document is too long")
        texts.append(line.text)
    try:
        document = parse_json("".join(texts), depth=limits.depth)
    except DataError as error:
        raise DataError(
            f"{path}: {error}; if the file has one object per line, name it .jsonl"
        ) from error
    return segments_of(path, enumerate(_rows(document), start=1), columns=columns, unit="row")


def _rows(document: object) -> Sequence[object]:
    """Return the rows of a document."""
    if is_conversation(document):
        return [{"messages": document}]
    if isinstance(document, list):
        return document
    if not isinstance(document, Mapping) or is_conversation(document.get("messages")):
        return [document]
    for key in _LISTS:
        inner = document.get(key)
        if isinstance(inner, Mapping):  # promptfoo nests results in results
            inner = inner.get(key)
        if isinstance(inner, list) and inner and all(isinstance(row, dict) for row in inner):
            return inner
    columns = [_cells(column) for column in document.values()]
    lengths = {len(column) for column in columns if isinstance(column, list)}
    if len(lengths) == 1 and all(isinstance(column, list) for column in columns):
        return [dict(zip(document, cells, strict=True)) for cells in zip(*columns, strict=True)]
    return [document]


def _cells(column: object) -> object:
    """Return the cells of a column; pandas writes them as an object of index and cell."""
    if isinstance(column, Mapping) and column and all(map(str.isdecimal, column)):
        return [*column.values()]
    return column


def read_eval(
    path: Path, /, *, columns: ColumnMap = AS_NAMED, limits: DataLimits = USUAL
) -> Iterator[Segment | DataError]:
    """Read a log of Inspect: a ZIP archive with one JSON document per sample.

    Raises `DataError` at once if the file does not exist, is not an archive, or has no samples.
    """
    return segments_of(
        path, enumerate(_samples(path, limits), start=1), columns=columns, unit="sample"
    )


def _samples(path: Path, limits: DataLimits) -> Iterator[object]:
    """Yield each sample, or a `DataError` for an unreadable one, sorted by file name."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = [
                member
                for member in archive.infolist()
                if member.filename.startswith(_SAMPLES) and member.filename.endswith(".json")
            ]
            if sum(member.file_size for member in members) > limits.unpacked:
                raise limits.exceeded("unpacked", f"{path}: it unpacks to too many bytes")
            for member in sorted(members, key=lambda member: member.filename):
                yield _sample(archive, member, limits)
    except (OSError, zipfile.BadZipFile) as error:
        raise DataError(f"{path}: cannot be read as a log of Inspect: {error}") from error


def _sample(archive: zipfile.ZipFile, member: zipfile.ZipInfo, limits: DataLimits) -> object:
    """Return one sample, unpacking no more than the limit of a row."""
    try:
        with archive.open(member) as opened:
            raw = opened.read(limits.row + 1)
        if len(raw) > limits.row:
            return limits.exceeded("row", f"{member.filename} is too long")
        return parse_json(raw.decode("utf-8"), depth=limits.depth)
    except NotImplementedError:
        return DataError(
            f"{member.filename} is packed in a way that cannot be read here: convert the log"
            " with 'inspect log convert --to json'"
        )
    except _UNREADABLE as error:
        return DataError(f"{member.filename} cannot be read: {error}")
    except DataError as error:
        return DataError(f"{member.filename}: {error}")
