"""Rows of a table in Markdown, in which names from outside are names and no markup."""

from collections.abc import Iterator

from spanjury.judges.core import markdown

__all__ = ["Marked", "bold", "head", "row"]


class Marked(str):
    """A text that is Markdown already, and is not escaped again."""

    __slots__ = ()


def bold(text: str, *, after: str = "") -> Marked:
    r"""Return `text` in bold, and `after`, which is Markdown.

    Examples
    --------
    >>> print(bold("a*b", after=" [.4, .6]"))
    **a\*b** [.4, .6]
    """
    return Marked(f"**{markdown(text)}**{after}")


def head(*names: str) -> Iterator[str]:
    """Yield the two lines above a table."""
    yield row(*names)
    yield "|" + "---|" * len(names)


def row(*texts: str) -> str:
    """Return a line of a table; what is not `Marked` is shown as it is, and ends no cell."""
    cells = (text if isinstance(text, Marked) else markdown(text) for text in texts)
    return "| " + " | ".join(cells) + " |"
