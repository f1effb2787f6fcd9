"""Every text in a file of JSON Lines, whatever its keys: for comparing files word by word."""

import json
from collections.abc import Iterator
from pathlib import Path

from spanjury.adapters.files.lines import read_lines
from spanjury.judges.core import DataError


def read_texts(path: Path) -> Iterator[str]:
    """Yield all texts of all rows.

    A value that is itself JSON in a text is read as the text that it is.

    Raises `DataError` if the file cannot be read, or a line is not JSON.
    """
    for line in read_lines(path):
        if line.fault:
            raise DataError(f"{path}, line {line.number}: {line.fault}")
        if not line.text.strip():
            continue
        try:
            row = json.loads(line.text)
        except ValueError as error:
            raise DataError(f"{path}, line {line.number}: not JSON: {error}") from error
        yield from _texts(row)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)
