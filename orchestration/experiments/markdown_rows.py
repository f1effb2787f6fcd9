"""Rows of a table in Markdown."""

from collections.abc import Iterator

__all__ = ["head", "row"]


def head(*names: str) -> Iterator[str]:
    """Yield the two lines above a table."""
    yield row(*names)
    yield "|" + "---|" * len(names)


def row(*texts: str) -> str:
    """Return a line of a table; nothing in a text can end its cell."""
    told = (" ".join(text.split()).replace("|", "\\|") for text in texts)
    return "| " + " | ".join(told) + " |"
