r"""Texts as MQM tables hold them: errors between ``<v>`` and ``</v>``, one record a line.

The format has no quoting. A tab, a line end and a backslash within a text are written as
``\t``, ``\n``, ``\r`` and ``\\``; a backslash before anything else stands for itself.
"""

import re
from collections.abc import Iterable
from itertools import accumulate
from types import MappingProxyType

from spanjury.judges.core import DataError

__all__ = ["Marked", "escaped", "mark", "unescaped", "unmark"]

_BEGIN, _END = "<v>", "</v>"
_MARK = re.compile(r"(</?v>)")
_TO_ESCAPES = MappingProxyType({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})
_FROM_ESCAPES = MappingProxyType({escape: text for text, escape in _TO_ESCAPES.items()})
_ESCAPABLE = re.compile(r"[\\\t\n\r]")
_ESCAPE = re.compile(r"\\[\\tnr]")

Marked = tuple[str, tuple[tuple[int, int], ...]]
"""A text without marks, and where they were: half-open offsets, empty ones included."""


def escaped(text: str) -> str:
    """Return `text` as a cell."""
    return _ESCAPABLE.sub(lambda found: _TO_ESCAPES[found[0]], text)


def unescaped(cell: str) -> str:
    """Return what a cell stands for."""
    return _ESCAPE.sub(lambda found: _FROM_ESCAPES[found[0]], cell)


def unmark(text: str) -> Marked:
    """Take the marks out of a text.

    Raises
    ------
    DataError
        If a mark is not closed, closed without being open, or within another one.

    Examples
    --------
    >>> unmark("a <v>b</v> c")
    ('a b c', ((2, 3),))
    """
    pieces = _MARK.split(text)
    for number, tag in enumerate(pieces[1::2]):
        if tag != (_BEGIN, _END)[number % 2]:
            raise DataError(f"got {tag} as mark {number + 1}, expected {_BEGIN} and {_END} in turn")
    edges = [*accumulate(len(piece) for piece in pieces[::2])][:-1]
    if len(edges) % 2:
        raise DataError(f"got {_BEGIN} without {_END}")
    return "".join(pieces[::2]), tuple(zip(edges[::2], edges[1::2], strict=True))


def mark(text: str, places: Iterable[tuple[int, int]]) -> str:
    """Put marks into a text, at places that follow one another.

    Raises
    ------
    DataError
        If the text has such marks of its own.
    """
    if _MARK.search(text):
        raise DataError(f"the text holds {_BEGIN} or {_END}, which marks errors in this format")
    pieces, done = [], 0
    for start, end in places:
        pieces += [text[done:start], _BEGIN, text[start:end], _END]
        done = end
    return "".join([*pieces, text[done:]])
