"""Sentences whose pieces may be bold, italic or code, independent of the format."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

Style = Literal["plain", "strong", "emphasis", "code"]

_MARKUP = re.compile(
    r"\*\*(?P<strong>.+?)\*\*|\*(?P<emphasis>.+?)\*|`(?P<code>.+?)`|(?P<value>\{\})"
)


@dataclass(frozen=True, slots=True)
class Styled:
    """A piece of text in one style."""

    text: str
    style: Style = "plain"


Prose = str | Styled | tuple[str | Styled, ...]
"""Text, or consecutive pieces of text."""


def code(text: str) -> Styled:
    """Return `text` as code: a signature, a path, a name in a program."""
    return Styled(text, "code")


def strong(text: str) -> Styled:
    """Return `text` in bold."""
    return Styled(text, "strong")


def emphasis(text: str) -> Styled:
    """Return `text` in italics."""
    return Styled(text, "emphasis")


def prose(template: str, /, *values: str | float | Styled) -> tuple[str | Styled, ...]:
    """Return a sentence in which bold, italics and code are written as in Markdown.

    Parameters
    ----------
    template
        A constant; ``{}`` stands for the next value. It must not contain foreign text.
    values
        Shown literally.

    Examples
    --------
    >>> prose("**Bold**: in {}", "*a*")
    (Styled(text='Bold', style='strong'), ': in ', '*a*')
    """
    pieces: list[str | Styled] = []
    given, end = iter(values), 0
    for match in _MARKUP.finditer(template):
        pieces.append(template[end : match.start()])
        pieces.append(_piece(match, given))
        end = match.end()
    return tuple(piece for piece in (*pieces, template[end:]) if piece != "")


def _piece(match: re.Match[str], values: Iterator[str | float | Styled]) -> str | Styled:
    match match.lastgroup:
        case "strong":
            return strong(match["strong"])
        case "emphasis":
            return emphasis(match["emphasis"])
        case "code":
            return code(match["code"])
        case _:
            value = next(values)
            return value if isinstance(value, Styled) else str(value)


def named(names: Sequence[str], *, most: int = 5) -> str:
    """Return names as a part of a sentence; beyond `most`, the rest are counted.

    Examples
    --------
    >>> named(["gemma"]), named(["gemma", "qwen", "nemotron"]), named(["a", "b", "c"], most=1)
    ('gemma', 'gemma, qwen and nemotron', 'a and 2 more')
    """
    shown = list(names[:most])
    if len(names) > most:
        shown.append(f"{len(names) - most} more")
    *first, last = shown or [""]
    return f"{', '.join(first)} and {last}" if first else last


def parts(text: Prose) -> Iterator[Styled]:
    """Yield the pieces of `text`."""
    for piece in text if isinstance(text, tuple) else (text,):
        yield Styled(piece) if isinstance(piece, str) else piece
