"""Plain texts as segments: a line each, or a file each."""

from collections.abc import Iterator
from pathlib import Path

from spanjury.adapters.files.limits import USUAL, DataLimits
from spanjury.adapters.files.lines import read_lines
from spanjury.judges.core import DataError, Segment

__all__ = ["read_folder", "read_txt"]


def read_txt(path: Path, /, *, limits: DataLimits = USUAL) -> Iterator[Segment | DataError]:
    """Read a file with one text a line, an empty one from an empty line.

    Parameters
    ----------
    path
        UTF-8 with or without a byte order mark, plain or gzip.
    limits
        How much the file may hold.

    Returns
    -------
    Iterator
        One segment or fault a line, in order, called ``line-N``, counted from 1.

    Raises
    ------
    DataError
        If there is no such file, it cannot be read, or it is empty.
    """
    for line in read_lines(path, limits=limits):
        if line.fault:
            yield DataError(f"{path}, line {line.number}: {line.fault}")
        else:
            yield Segment(segment_id=f"line-{line.number}", output=line.text.rstrip("\r\n"))


def read_folder(path: Path, /, *, limits: DataLimits = USUAL) -> Iterator[Segment | DataError]:
    """Read a folder with one text a file.

    Parameters
    ----------
    path
        Its files end in ``.txt`` and are UTF-8; hidden ones are passed over. Files in a folder
        within it are the texts of one system, which is called as that folder is.
    limits
        How much each of the files may hold.

    Returns
    -------
    Iterator
        One segment or fault a file, sorted by path, and called by its path within the folder.

    Raises
    ------
    DataError
        If there is no such folder, or no such file in it.
    """
    files = sorted(file for file in path.rglob("*.txt") if not _is_hidden(file.relative_to(path)))
    if not files:
        raise DataError(f"{path}: is no folder with .txt files")
    return (_read(file, file.relative_to(path), limits) for file in files)


def _read(file: Path, name: Path, limits: DataLimits) -> Segment | DataError:
    try:
        with file.open(encoding="utf-8-sig") as opened:
            text = opened.read(limits.row + 1)
        if len(text) > limits.row:
            raise limits.exceeded("row", "the file is too long")
    except (OSError, UnicodeDecodeError, DataError) as error:
        return DataError(f"{file}: cannot be read: {error}")
    system = name.parent.as_posix() if name.parent.parts else ""
    return Segment(segment_id=name.as_posix(), output=text.rstrip("\r\n"), system=system)


def _is_hidden(name: Path) -> bool:
    return any(part.startswith(".") for part in name.parts)
