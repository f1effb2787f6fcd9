"""Texts as a page shows them: words where they stand, nothing that hides or cannot be encoded."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from spanjury.judges.core import shown

__all__ = ["JsonText", "MarkedText", "marked_json", "tokens_json"]

JsonText = dict[str, list[str]]
"""``words``, and ``gaps``: what stands before each of them and after the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedText:
    """A text and its words.

    Parameters
    ----------
    text
        Any text.
    words
        Half-open offsets in code points, ascending; words neither overlap nor are empty.

    Raises
    ------
    ValueError
        If the words are not so.
    """

    text: str
    words: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        last = 0
        for start, end in self.words:
            if not last <= start < end <= len(self.text):
                raise ValueError(
                    f"a word at {start}:{end} does not follow {last} in {len(self.text)} characters"
                )
            last = end


def marked_json(marked: MarkedText) -> JsonText:
    """Return a text as the script of a page reads it."""
    edges = [0, *(edge for word in marked.words for edge in word), len(marked.text)]
    pieces = [shown(marked.text[a:b]) for a, b in pairwise(edges)]
    return {"words": pieces[1::2], "gaps": pieces[0::2]}


def tokens_json(tokens: Sequence[str]) -> JsonText:
    """Return tokens as the script of a page reads them, with a space between each two."""
    gaps = ["", *[" "] * len(tokens)]
    return {"words": [shown(token) for token in tokens], "gaps": gaps}
