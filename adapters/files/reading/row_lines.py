"""The lines on which the rows of a file begin, as `sources` counts its rows."""

from collections.abc import Iterator
from pathlib import Path

from spanjury.adapters.files.lines import read_lines
from spanjury.adapters.files.reading.tables import read_records

_DELIMITERS = {"csv": ",", "tsv": "\t"}


def row_lines(path: Path, form: str) -> Iterator[int]:
    """Yield the line of each row of `path`, readable or not, in the order in which it is read.

    Yields nothing for a form that has no lines of its own, and for a packed file, whose lines
    no page shows.

    Raises `DataError` if the file cannot be read.

    Parameters
    ----------
    form
        The name of its source: ``jsonl``, ``csv``, ``tsv`` or ``txt``.
    """
    if path.suffix == ".gz":
        return
    if form == "txt":
        yield from (line.number for line in read_lines(path))
    elif form == "jsonl":
        lines = read_lines(path)
        yield from (line.number for line in lines if line.fault or line.text.rstrip())
    elif form in _DELIMITERS:
        records = read_records(read_lines(path), delimiter=_DELIMITERS[form])
        next(records, None)  # the names of the columns
        yield from (number for number, _ in records)
