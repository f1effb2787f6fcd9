"""Proper names of an English text, and the kind of each."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from spanjury.judges.text import sentences
from spanjury.perturbations.text.clusters import masked
from spanjury.perturbations.text.wordlists import lists

Sort = Literal["person", "place", "organisation", "acronym", "other"]

_CAPITAL = r"[A-ZÀ-ÖØ-Þ]"
_NAME_WORD = re.compile(
    rf"\b(?:(?:St|Mt|Ft)\.(?= {_CAPITAL})|(?:{_CAPITAL}[’'])?{_CAPITAL}[\w&]*(?:-\w+)*)"
)
# Before a word whose capital proves nothing: the mark of a list item, heading or quotation, or the
# beginning of direct speech or emphasis.
_OPENING = re.compile(
    r"(?:^(?:[^\S\n]*(?:[-*•#>]+|\d{1,3}[.)])(?=\s))+\s*[\"“‘'«*_]*"
    r"|(?:^|[.,:;!?…][\"”’)]*\s)[\"“‘'«*_]+)(?=\w)",
    re.MULTILINE,
)
_AFTER_SPEAKER = re.compile(r"^[^\n:]{1,30}:[^\S\n]+(?P<word>[\w’']+)", re.MULTILINE)
_JOINED = re.compile(r" (?:(?:of|de|van|von|bin|al) )?")
_LOCATING = re.compile(r"\b(?:in|near|across|outside) $")
_REACH = 10  # code points before a name that contain such a word
_LONGEST_ACRONYM = 5


class Name(NamedTuple):
    """A mention of a name: half-open offsets, its words as written, and its kind."""

    start: int
    end: int
    text: str
    sort: Sort


@lru_cache(maxsize=16)  # a few texts, which several rules use
def names(text: str) -> tuple[Name, ...]:
    """Find the names of `text`, in order.

    Names are recognized by their capitals. So a word that begins a sentence, a list item or direct
    speech counts only if it is a known name, part of a longer name, or capitalized elsewhere, too.
    Nationalities, days, months and single letters do not count. The kind follows from titles, known
    given names and places, and endings such as ``University``. A surname is that of a person if the
    full name occurs in the text.
    """
    mask = masked(text)
    firsts = openings(text)
    inner = {m.group() for m in _NAME_WORD.finditer(mask) if m.start() not in firsts}
    mentions = [
        Name(start, end, text[start:end], "person" if titled else _sort(text, start, end))
        for run in _runs(mask)
        for start, end, titled in _pieces(run, firsts, inner)
        if end - start > 1
    ]
    surnames = {name.text.split()[-1] for name in mentions if name.sort == "person"}
    return tuple(
        name._replace(sort="person") if name.sort == "other" and name.text in surnames else name
        for name in mentions
    )


def openings(text: str) -> set[int]:
    """Return where sentences, list items, direct speech and what a speaker says begin."""
    mask = masked(text)
    starts = {sentence.start for sentence in sentences(text)}
    starts.update(match.end() for match in _OPENING.finditer(mask))
    starts.update(
        match.start("word")
        for match in _AFTER_SPEAKER.finditer(mask)
        if match["word"].lower().replace("’", "'") in lists("known")["openers"]
    )
    return starts


def _runs(mask: str) -> Iterator[list[re.Match[str]]]:
    """Yield runs of capitalized words with nothing but a space between them."""
    run: list[re.Match[str]] = []
    for match in _NAME_WORD.finditer(mask):
        if run and not _JOINED.fullmatch(mask, run[-1].end(), match.start()):
            yield run
            run = []
        run.append(match)
    if run:
        yield run


def _pieces(
    run: Sequence[re.Match[str]], firsts: set[int], inner: set[str]
) -> Iterator[tuple[int, int, bool]]:
    """Yield the interval of each part of `run` that is a name, and whether a title precedes it."""
    wordlists = lists("known")
    titled = False
    piece: list[re.Match[str]] = []
    for match in run:
        word = match.group()
        begins = match.start() in firsts
        certain = word in inner or word in wordlists["given"] or word in wordlists["places"]
        if word in wordlists["titles"] or word in wordlists["never"] or (begins and not certain):
            if piece:
                yield piece[0].start(), piece[-1].end(), titled
            piece, titled = [], word in wordlists["titles"]
        else:
            piece.append(match)
    if piece:
        yield piece[0].start(), piece[-1].end(), titled


def _sort(text: str, start: int, end: int) -> Sort:
    wordlists = lists("known")
    words = text[start:end].split()
    if words[-1] in wordlists["organisation_parts"]:
        return "organisation"
    if text[start:end] in wordlists["places"] or words[-1] in wordlists["place_parts"]:
        return "place"
    if words[0] in wordlists["given"]:
        return "person"
    if len(words) == 1 and words[0].isupper() and 1 < len(words[0]) <= _LONGEST_ACRONYM:
        return "acronym"
    if _LOCATING.search(text[max(0, start - _REACH) : start]):
        return "place"
    return "person" if len(words) == 2 else "other"  # noqa: PLR2004 - a given name and a surname
