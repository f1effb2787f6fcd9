"""Passages: the sentences of a text, next to which others may be inserted."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from spanjury.judges.text import sentences
from spanjury.perturbations.edits import Edit
from spanjury.perturbations.text.clusters import masked
from spanjury.perturbations.text.wordlists import lists

_BLANKLESS = tuple("。！？।」』")  # ends of sentences that are not followed by a space
_TOKENISED = re.compile(r"\w [.,!?](?:\s|$)")
_CLOSING = re.compile(r"(?<=\w)(?=[.,:;!?]+(?:[\s)]|$))")
_FIRST = re.compile(r"(?P<first>[A-Z]\w+)(?: (?P<second>[A-Z]\w))?")
_FIRST_WORD = re.compile(r"[\w’']+(?=[ ,])")
_NO_SENTENCE = re.compile(r"[\W_]*(?:\b(?:\d{1,3}|[A-Za-z])[.)])?[\W_]*")
"""The number of a list item, or signs only, as under the head of a table."""


class Passage(NamedTuple):
    """A sentence of a text: ``text[start:end]``, without white space at its ends."""

    start: int
    end: int
    text: str


def passages(text: str) -> list[Passage]:
    """Return the sentences of `text`, without splitting a grapheme cluster.

    The number of a list item belongs to the sentence after it, and so does a line of signs.
    """
    mask = masked(text)
    cut: list[Passage] = []
    for sentence in sentences(mask):
        start, end = sentence.start, sentence.end
        splits_cluster = mask[start] != text[start]
        if cut and (splits_cluster or _is_number(text, cut[-1])):
            start = cut.pop().start
        cut.append(Passage(start, end, text[start:end]))
    return cut


def _is_number(text: str, passage: Passage) -> bool:
    """Return whether `passage` is only the number or the signs that begin a line."""
    begins_line = not text[: passage.start].rpartition("\n")[2].strip()
    return begins_line and bool(_NO_SENTENCE.fullmatch(passage.text))


def inserted_after(text: str, existing: Sequence[Passage], added: str, *, index: int) -> Edit:
    """Insert the sentence `added` after the one at `index`, with the gap that others have."""
    end = existing[index].end
    gap = "" if existing[index].text.endswith(_BLANKLESS) else " "
    if len(existing) > 1:  # the gap after the sentence, or before it if it is the last
        before = min(index, len(existing) - 2)
        gap = text[existing[before].end : existing[before + 1].start]
    return Edit(start=end, end=end, text=gap + added)


def continued(text: str, passage: Passage) -> str:
    """Return an English sentence as it continues after other words; empty if that is unclear.

    A first word that begins many sentences loses its capital. A name keeps it: a word that is
    capitalized inside the text, too, or that precedes another capitalized word. A question does not
    continue after a statement.
    """
    sentence = passage.text
    if sentence.endswith("?"):
        return ""
    word = _FIRST_WORD.match(sentence)
    if word and word.group().lower().replace("’", "'") in lists("known")["openers"]:
        return sentence[0].lower() + sentence[1:]
    first = _FIRST.match(sentence)
    if first is None:
        return ""
    name = first["second"] or re.search(rf"[a-z,] {first['first']}\b", text)
    return sentence if name else ""


def spaced_like(added: str, text: str) -> str:
    """Put spaces before the punctuation of `added` if `text`, being tokenized, has them.

    Examples
    --------
    >>> spaced_like("Needless to say, it rained.", "Ann left , alone .")
    'Needless to say , it rained .'
    """
    return _CLOSING.sub(" ", added) if _TOKENISED.search(text) else added
