"""Other sources of rows: plain text files, rows in memory, and the lines on which rows begin."""

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

from spanjury.adapters.files.limits import USUAL, DataLimits
from spanjury.adapters.files.lines import filled_lines, read_lines
from spanjury.adapters.files.reading.tables import read_records
from spanjury.judges.core import DataError, Segment

_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
_DELIMITERS = {"csv": ",", "tsv": "\t"}


def read_txt(path: Path, /, *, limits: DataLimits = USUAL) -> Iterator[Segment | DataError]:
    """Read a file with one text per line; an empty line is an empty text.

    The file is UTF-8 with or without a byte order mark, plain or gzip. Yields one segment or fault
    per line, in order, called ``line-N``, counted from 1.

    Raises `DataError` if the file does not exist, cannot be read, or is empty.
    """
    for line in read_lines(path, limits=limits):
        if line.fault:
            yield DataError(f"{path}, line {line.number}: {line.fault}")
        else:
            yield Segment(segment_id=f"line-{line.number}", output=line.text.rstrip("\r\n"))


def read_folder(path: Path, /, *, limits: DataLimits = USUAL) -> Iterator[Segment | DataError]:
    """Read a folder with one text per file, each within the limits.

    Its files end in ``.txt`` and are UTF-8; hidden ones are skipped. The files of a subfolder are
    texts of one system, named after the subfolder. Links that lead out of the folder are not
    followed, and special files are not opened.

    Yields one segment or fault per file, sorted by path, called by its path within the folder. If
    any were skipped, a fault with their number comes first.

    Raises `DataError` if the folder does not exist or has no such files.
    """
    listed = _listed(path)
    if not listed.files:
        raise DataError(f"{path}: is not a folder with .txt files{listed.skipped}")
    return _segments(path, listed, limits)


class _Listing(NamedTuple):
    """The text files in a folder, and a suffix for messages that counts what must not be read."""

    files: tuple[Path, ...]
    skipped: str


def _listed(folder: Path) -> _Listing:
    """List `folder` and its subfolders, without following links to folders."""
    root = folder.resolve()
    files, outside, special = [], 0, 0
    for directory, folders, names in os.walk(folder):
        # `walk` does not follow links to folders; those inside this one would duplicate texts.
        folders[:] = [name for name in folders if not name.startswith(".")]
        outside += sum(_leads_out(Path(directory, name), root) for name in folders)
        for name in names:
            file = Path(directory, name)
            if name.startswith(".") or file.suffix != ".txt":
                continue
            if _leads_out(file, root):
                outside += 1
            elif file.is_file():
                files.append(file)
            else:
                special += 1
    parts = [f"{outside} links lead out of the folder and are not followed"] if outside else []
    parts += [f"{special} entries are not files and were not opened"] if special else []
    return _Listing(tuple(sorted(files)), f"; skipped: {', '.join(parts)}" if parts else "")


def _leads_out(path: Path, root: Path) -> bool:
    return path.is_symlink() and not path.resolve().is_relative_to(root)


def _segments(path: Path, listed: _Listing, limits: DataLimits) -> Iterator[Segment | DataError]:
    if listed.skipped:
        yield DataError(f"{path}: {len(listed.files)} texts{listed.skipped}; copy them into it")
    for file in listed.files:
        yield _read(file, file.relative_to(path), limits)


def _read(file: Path, name: Path, limits: DataLimits) -> Segment | DataError:
    try:
        # The file may since have become a pipe; a blocking open would wait forever.
        with os.fdopen(os.open(file, os.O_RDONLY | _NO_WAIT), encoding="utf-8-sig") as opened:
            text = opened.read(limits.row + 1)
        if len(text) > limits.row:
            raise limits.exceeded("row", "the file is too long")
    except (OSError, UnicodeDecodeError, DataError) as error:
        return DataError(f"{file}: cannot be read: {error}")
    system = name.parent.as_posix() if name.parent.parts else ""
    return Segment(segment_id=name.as_posix(), output=text.rstrip("\r\n"), system=system)


@runtime_checkable
class _PolarsFrame(Protocol):
    def iter_rows(self, *, named: bool) -> Iterator[dict[str, object]]: ...


@runtime_checkable
class _PandasFrame(Protocol):
    iloc: object  # a Dataset of Hugging Face has a `to_dict` of another kind

    def to_dict(self, orient: str) -> list[dict[str, object]]: ...


def frame_rows(data: object) -> Iterator[object] | None:
    """Return the rows of `data`, or None if it has none; neither library is imported.

    Missing values of a data frame (None, NaN, NaT) are None in its rows.
    """
    if isinstance(data, _PolarsFrame):
        return map(_frame_row, data.iter_rows(named=True))
    if isinstance(data, _PandasFrame):
        return map(_frame_row, data.to_dict("records"))
    if isinstance(data, str | bytes | Mapping) or not isinstance(data, Iterable):
        return None
    return iter(data)


def _frame_row(row: Mapping[str, object]) -> dict[str, object]:
    return {name: None if _is_missing(value) else value for name, value in row.items()}


def _is_missing(value: object) -> bool:
    # The libraries' own missing values are recognised by name, without importing the libraries.
    is_nan = isinstance(value, float) and math.isnan(value)
    return is_nan or type(value).__name__ in {"NAType", "NaTType"}


def read_texts(path: Path) -> Iterator[str]:
    """Yield all texts of all rows of a JSON Lines file.

    A text that is itself JSON is not parsed.

    Raises `DataError` if the file cannot be read, or a line is not JSON.
    """
    for number, text in filled_lines(path):
        if isinstance(text, DataError):
            raise DataError(f"{path}, line {number}: {text}")
        try:
            row = json.loads(text)
        except ValueError as error:
            raise DataError(f"{path}, line {number}: not JSON: {error}") from error
        yield from _texts(row)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)


def row_lines(path: Path, form: str) -> Iterator[int]:
    """Yield the line of each row of a file, which is ``jsonl``, ``csv``, ``tsv`` or ``txt``.

    Yields nothing for a format whose rows do not begin on lines, or for a compressed file, whose
    lines no page can show.

    Raises `DataError` if the file cannot be read.
    """
    if path.suffix == ".gz":
        return
    if form == "txt":
        yield from (line.number for line in read_lines(path))
    elif form == "jsonl":
        yield from (number for number, _ in filled_lines(path))
    elif form in _DELIMITERS:
        records = read_records(read_lines(path), delimiter=_DELIMITERS[form])
        next(records, None)  # the header
        yield from (number for number, _ in records)
