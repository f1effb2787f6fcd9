"""Plain texts as segments: a line each, or a file each."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from spanjury.adapters.files.limits import USUAL, DataLimits
from spanjury.adapters.files.lines import read_lines
from spanjury.judges.core import DataError, Segment

_NO_WAIT = getattr(os, "O_NONBLOCK", 0)


def read_txt(path: Path, /, *, limits: DataLimits = USUAL) -> Iterator[Segment | DataError]:
    """Read a file with one text a line, an empty one from an empty line.

    The file is UTF-8 with or without a byte order mark, plain or gzip. Yields one segment or fault
    a line, in order, called ``line-N``, counted from 1.

    Raises `DataError` if there is no such file, it cannot be read, or it is empty.
    """
    for line in read_lines(path, limits=limits):
        if line.fault:
            yield DataError(f"{path}, line {line.number}: {line.fault}")
        else:
            yield Segment(segment_id=f"line-{line.number}", output=line.text.rstrip("\r\n"))


def read_folder(path: Path, /, *, limits: DataLimits = USUAL) -> Iterator[Segment | DataError]:
    """Read a folder with one text a file, each within the limits.

    Its files end in ``.txt`` and are UTF-8; hidden ones are passed over. Files in a folder within
    it are the texts of one system, which is called as that folder is. Links that lead out of the
    folder are not followed, and what is no file is not opened.

    Yields one segment or fault a file, sorted by path, and called by its path within the folder;
    before them a fault that counts what was skipped, if anything was.

    Raises `DataError` if there is no such folder, or no such file in it.
    """
    listed = _Listing.of(path)
    if not listed.files:
        raise DataError(f"{path}: is not a folder with .txt files{listed.skipped}")
    return _segments(path, listed, limits)


class _Listing(NamedTuple):
    """The texts in a folder, and how many entries are none that may be read."""

    files: tuple[Path, ...]
    outside: int
    special: int

    @classmethod
    def of(cls, folder: Path) -> "_Listing":
        """List `folder` and the folders in it, without following a link to a folder."""
        root = folder.resolve()
        files, outside, special = [], 0, 0
        for directory, folders, names in os.walk(folder):
            # Links to folders are not walked into; within this one they would show texts twice.
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
        return cls(tuple(sorted(files)), outside, special)

    @property
    def skipped(self) -> str:
        """A phrase to be appended that counts what was skipped; empty if nothing was."""
        parts = [
            f"{count} {what}"
            for count, what in (
                (self.outside, "links lead out of the folder and are not followed"),
                (self.special, "entries are no files and are not opened"),
            )
            if count
        ]
        return f"; skipped: {', '.join(parts)}" if parts else ""


def _leads_out(path: Path, root: Path) -> bool:
    return path.is_symlink() and not path.resolve().is_relative_to(root)


def _segments(path: Path, listed: _Listing, limits: DataLimits) -> Iterator[Segment | DataError]:
    if listed.skipped:
        yield DataError(f"{path}: {len(listed.files)} texts{listed.skipped}; copy them into it")
    for file in listed.files:
        yield _read(file, file.relative_to(path), limits)


def _read(file: Path, name: Path, limits: DataLimits) -> Segment | DataError:
    try:
        # It may have become a pipe since it was listed: opening that would wait for ever.
        with os.fdopen(os.open(file, os.O_RDONLY | _NO_WAIT), encoding="utf-8-sig") as opened:
            text = opened.read(limits.row + 1)
        if len(text) > limits.row:
            raise limits.exceeded("row", "the file is too long")
    except (OSError, UnicodeDecodeError, DataError) as error:
        return DataError(f"{file}: cannot be read: {error}")
    system = name.parent.as_posix() if name.parent.parts else ""
    return Segment(segment_id=name.as_posix(), output=text.rstrip("\r\n"), system=system)
