"""Sentences whose pieces may be bold, italic or code, independent of the format."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, cast

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


def prose(template: str, /, *values: Prose | float) -> tuple[str | Styled, ...]:
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
    remaining, end = iter(values), 0
    for match in _MARKUP.finditer(template):
        pieces += [template[end : match.start()], *_pieces(match, remaining)]
        end = match.end()
    return tuple(piece for piece in (*pieces, template[end:]) if piece != "")


def _pieces(match: re.Match[str], values: Iterator[Prose | float]) -> tuple[str | Styled, ...]:
    style = match.lastgroup
    if style != "value":
        return (Styled(match[style or 0], cast("Style", style)),)  # the groups have their names
    value = next(values)
    if isinstance(value, tuple):
        return value
    return (value if isinstance(value, Styled) else str(value),)


def joined(texts: Iterable[Prose]) -> tuple[str | Styled, ...]:
    """Return sentences one after the other, without empty ones.

    Examples
    --------
    >>> joined(["It fits.", prose("On *speed*, it fails.")])
    ('It fits.', ' ', 'On ', Styled(text='speed', style='emphasis'), ', it fails.')
    """
    pieces: list[str | Styled] = []
    for text in filter(None, texts):
        pieces += [" ", *(text if isinstance(text, tuple) else (text,))]
    return tuple(pieces[1:])


def named(names: Sequence[str], *, most: int = 5) -> str:
    """Return names as a part of a sentence; beyond `most`, the rest are counted.

    Examples
    --------
    >>> named(["gemma"]), named(["gemma", "qwen", "nemotron"]), named(["a", "b", "c"], most=1)
    ('gemma', 'gemma, qwen and nemotron', 'a and 2 more')
    """
    return plain_text(named_in_code(names, most=most))


def named_in_code(names: Sequence[str], *, most: int = 5) -> tuple[str | Styled, ...]:
    """Return names as `named` does, each as code.

    Examples
    --------
    >>> named_in_code(["gemma", "qwen"])
    (Styled(text='gemma', style='code'), ' and ', Styled(text='qwen', style='code'))
    """
    shown: list[str | Styled] = [*map(code, names[:most])]
    if len(names) > most:
        shown.append(f"{len(names) - most} more")
    links = [", "] * (len(shown) - 2) + [" and "]
    rest = (piece for pair in zip(links, shown[1:], strict=False) for piece in pair)
    return (*shown[:1], *rest)


def plain_text(text: Prose) -> str:
    """Return `text` without its styles."""
    return "".join(part.text for part in parts(text))


def parts(text: Prose) -> Iterator[Styled]:
    """Yield the pieces of `text`."""
    for piece in text if isinstance(text, tuple) else (text,):
        yield Styled(piece) if isinstance(piece, str) else piece
