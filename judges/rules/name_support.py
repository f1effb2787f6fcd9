"""Support of names: whether the source has a name, or another name for the person."""

import re
from collections.abc import Iterable, Sequence
from enum import Enum
from functools import lru_cache
from itertools import islice

from spanjury.judges.rules.names import ACRONYM, COMMON_CAPITALS, COUNTRIES, Name, leads
from spanjury.judges.rules.source_index import SourceIndex
from spanjury.judges.text.lexicon import GIVEN_NAMES
from spanjury.judges.text.stems import stem
from spanjury.judges.text.words import Word, words

_LETTERS = re.compile(r"[^\W\d_]+")
_SMALL = frozenset("of for the and in on de to".split())  # noqa: SIM905
_WORD_BEFORE = re.compile(r"\b([A-Z][\w’'-]+) [\w’'-]+\Z")
_LONGEST = 30  # maximum letters of a given name
_MOST = 50  # maximum occurrences of a name that are examined
_FAR = 200_000  # code points of a source that are searched for a similar name
_LONG = 6  # minimum letters of a name to recognise a derived form by its beginning


class Standing(Enum):
    """Relation of a name to the source."""

    PRESENT = "known"
    PARTLY = "partly"
    """Some of its words occur there, so it may be the fuller form of a name in the source."""
    UNKNOWN = "unknown"
    CONTRADICTED = "contradicted"
    """The source has another name for this person."""


def standing(name: Name, index: SourceIndex) -> tuple[Standing, Sequence[Word]]:
    """Return the standing of `name` in the source, and its words that are missing there."""
    lacking = [word for word in name.parts if not _is_known(word, index)]
    if not lacking or _is_spelled_out(name, index):
        return Standing.PRESENT, []
    if len(lacking) == len(name.parts) or _follows_a_role(name, lacking):
        return Standing.UNKNOWN, lacking
    if len(lacking) == 1 and called_otherwise(name, index.text):
        return Standing.CONTRADICTED, lacking
    return Standing.PARTLY, lacking


def _follows_a_role(name: Name, lacking: Sequence[Word]) -> bool:
    """Return whether the source has only the first word, whose capital may begin the sentence."""
    return name.first == 0 and len(lacking) > 1 and list(name.parts[1:]) == lacking


def _is_known(word: Word, index: SourceIndex) -> bool:
    stemmed = stem(word.folded)
    if stemmed in index.where or (len(stemmed) >= _LONG and index.knows(stemmed)):
        return True
    if any(stem(same) in index.where for same in COUNTRIES.get(word.folded, ())):
        return True
    if word.text in COMMON_CAPITALS:
        return True
    return bool(ACRONYM.fullmatch(word.text)) and spells(word.text.rstrip("s"), index.text)


def _is_spelled_out(name: Name, index: SourceIndex) -> bool:
    """Return whether the source has the initials of the name."""
    if len(name.parts) < 2:  # noqa: PLR2004
        return False
    return "".join(word.folded[0] for word in name.parts) in index.where


def spells(acronym: str, source: str) -> bool:
    """Return whether consecutive words in `source` begin with the letters of `acronym`.

    If the source has capitals, these words must have one.

    Examples
    --------
    >>> spells("WHO", "The World Health Organization met."), spells("WHO", "He met whom?")
    (True, False)
    """
    return acronym.lower() in _initials(source)


@lru_cache(maxsize=4)
def _initials(source: str) -> str:
    """Return the initials of the names of `source`, with a space for any other word."""
    runs = _LETTERS.findall(source[:_FAR])
    cased = any(word[0].isupper() for word in runs)
    content = (word for word in runs if word.lower() not in _SMALL)
    return "".join(word[0].lower() if word[0].isupper() or not cased else " " for word in content)


def called_otherwise(name: Name, source: str) -> list[re.Match[str]]:
    """Return matches of a name in `source` that differs from the two-word `name` in one word.

    This is another surname after the first word, or another given name before the last. Empty
    if any of them begins with the same letter, as it may be a spelling of the same name.
    """
    if len(name.parts) != 2 or not name.parts[0].text[0].isupper():  # noqa: PLR2004
        return []
    first, last = name.parts
    source = source[:_FAR]
    if f" {last.text}" not in source:
        behind = re.finditer(rf"{re.escape(first.text)} ([A-Z][\w’'-]+)", source)
        return _others(behind, last)
    # A pattern that begins with fixed text is fast, so the word before is checked afterwards.
    matches = re.finditer(rf" {re.escape(last.text)}\b", source)
    before = (
        _WORD_BEFORE.search(source, max(0, match.start() - _LONGEST), match.end())
        for match in islice(matches, _MOST)
    )
    called = _others((match for match in before if match), first)
    people = first.folded in GIVEN_NAMES and any(m[1].lower() in GIVEN_NAMES for m in called)
    return called if people else []


def _others(matches: Iterable[re.Match[str]], word: Word) -> list[re.Match[str]]:
    """Return the matches whose group is a name other than `word`; none if one is similar."""
    names = [
        match
        for match in islice(matches, _MOST)
        if (named := words(match[1])) and not leads(named[0])
    ]
    alike = any(match[1][0].lower() == word.folded[0] for match in names)
    return [] if alike else names
