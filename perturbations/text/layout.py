"""Another layout of the same text: its blanks and how its punctuation is drawn."""

import re
from collections.abc import Iterator

from numpy.random import Generator

from spanjury.perturbations.edits import Edit
from spanjury.perturbations.perturbation import NothingToDamageError, text_perturbation
from spanjury.perturbations.text.clusters import masked
from spanjury.perturbations.text.places import chosen

__all__ = ["punctuation_style", "whitespace"]

_BLANK = re.compile(r"(?<=\S) (?=\S)")
_CURLY = {"“": '"', "”": '"', "‘": "'", "’": "'"}
_MARK = re.compile(r"(?P<curly>[“”‘’])|(?P<straight>[\"'])|\.\.\.|…| - | — | – |(?<=\w)—(?=\w)")
_OPENING = ("", *"([{—–-\"'")
_SHORTENED = re.compile(r"'(?:s|t|d|m|re|ve|ll)\b", re.IGNORECASE)  # cut off in tokenised text
_OTHER = {"...": "…", "…": "...", " - ": " – ", " — ": " – ", " – ": " — ", "—": " – "}


@text_perturbation(family="invariance", level="character", spares={"*"})
def whitespace(text: str, rng: Generator, *, k: int = 3) -> list[Edit]:
    """Double `k` of the blanks between words."""
    ends = [blank.end() for blank in _BLANK.finditer(masked(text))]
    drawn = chosen(len(ends), rng, k=k, what="single blanks between words")
    return [Edit(start=ends[index], end=ends[index], text=" ") for index in drawn.tolist()]


@text_perturbation(family="invariance", level="character", spares={"*"})
def punctuation_style(text: str, _: Generator) -> list[Edit]:
    """Draw quotation marks, apostrophes, dashes and dots the other way: curly or straight.

    All that there are, since a text in two styles would be a worse one.
    """
    edits = list(_redrawn(text))
    if not edits:
        raise NothingToDamageError("no quotation mark, apostrophe, dash or dots to draw anew")
    return edits


def _redrawn(text: str) -> Iterator[Edit]:
    mask = masked(text)
    curly = any(mark in mask for mark in _CURLY)
    for match in _MARK.finditer(mask):
        found = match.group()
        if match["curly"]:
            other = _CURLY[found]
        elif match["straight"]:
            if curly:
                continue  # straight ones beside curly ones: feet, minutes, code
            other = _curled(mask, match.start())
        else:
            other = _OTHER[found]
        yield Edit(start=match.start(), end=match.end(), text=other)


def _curled(text: str, index: int) -> str:
    """Return the curly form of the straight mark at `index`."""
    before, after = text[index - 1 : index], text[index + 1 : index + 2]
    opens = before in _OPENING or before.isspace()
    opens = opens and not (after.isspace() or _SHORTENED.match(text, index))
    if text[index] == '"':
        return "“" if opens else "”"
    return "‘" if opens else "’"
