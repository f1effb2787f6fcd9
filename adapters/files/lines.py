"""The numbered lines of a file, packed or not, as they are read."""

import codecs
import gzip
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from spanjury.judges.core import DataError

__all__ = ["Line", "read_lines"]

_GZIP_MAGIC = b"\x1f\x8b"


class Line(NamedTuple):
    """One physical line, its end included.

    `fault` says what is wrong with it, if anything is; `text` then is the nearest that
    can be read, or empty.
    """

    number: int
    text: str
    fault: str = ""


def read_lines(path: Path) -> Iterator[Line]:
    """Yield the lines of `path`, numbered from 1; UTF-8, with or without a byte order mark.

    A file is unpacked if it is gzip by its first bytes, whatever its name. Where reading
    fails midway, the last line yielded says so.

    Raises
    ------
    DataError
        If there is no such file, it is a folder or empty, it cannot be read, or it is
        named ``.gz`` and is not gzip; the message names the file.
    """
    number = 0
    try:
        with _opened(path) as file:
            for number, raw in enumerate(file, start=1):
                yield _decoded(raw, number=number)
    except (OSError, EOFError, zlib.error, ValueError) as error:
        problem = f"cannot be read: {_words(error)}"
        if number == 0:
            raise DataError(f"{path}: {problem}") from error
        yield Line(number + 1, "", f"the rest of the file {problem}")
    if number == 0:
        raise DataError(f"{path}: is empty")


@contextmanager
def _opened(path: Path) -> Iterator[Iterable[bytes]]:
    """Own the file, and what unpacks it."""
    with ExitStack() as stack:
        file = stack.enter_context(path.open("rb"))
        if file.peek(2).startswith(_GZIP_MAGIC):
            # As it is: a buffer around it would lose what comes before a broken end.
            yield stack.enter_context(gzip.GzipFile(fileobj=file))
            return
        if path.suffix == ".gz" and file.peek(1):
            raise gzip.BadGzipFile("its name ends in .gz, but it is not gzip")
        yield file


def _decoded(raw: bytes, *, number: int) -> Line:
    """Decode one line; of a bad one, keep what can be read."""
    if number == 1:
        raw = raw.removeprefix(codecs.BOM_UTF8)
    try:
        return Line(number, raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        fault = f"not UTF-8: byte 0x{raw[error.start]:02x} at byte {error.start + 1} of the line"
        return Line(number, raw.decode("utf-8", "replace"), fault)


def _words(error: Exception) -> str:
    """Return what the operating system or the unpacker says, without the path."""
    return getattr(error, "strerror", None) or str(error)
