"""Names: where a text names people, places and organisations, and whether a source does."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from spanjury.judges.rules.lexicon import (
    COMMON_CAPITALS,
    COUNTRIES,
    FUNCTION_WORDS,
    GIVEN_NAMES,
    MONTHS,
    TITLES,
    WEEKDAYS,
)
from spanjury.judges.rules.source_index import SourceIndex
from spanjury.judges.rules.stems import stem
from spanjury.judges.text.words import Word, words

_PARTICLES = frozenset("of de del della der den van von la le al el bin ibn da do dos y".split())
"""Words in lower case that stand within a name."""
_GLUE = re.compile(r"(?: ?[-‐–.&/'’] ?| )")
_TITLE_CASE = 0.6  # share of capitals above which they do not tell names
_SPARSE = 12  # words of a text that has capitals but for the first words of sentences
_WEAK = frozenset(":;.!?\n\"'“”‘’«»(-–—•*#|`>")  # a word that follows may be capital for that
_ACRONYM = re.compile(r"[A-Z]{2,6}s?")
_LONG = 6  # letters of a name from which a derived form is told by its beginning
_DATES = frozenset((*MONTHS, *WEEKDAYS))


class Standing(Enum):
    """Standing of a name in the source."""

    KNOWN = "known"
    PARTLY = "partly"
    """Some of its words stand there, so that it may be the fuller form of a name there."""
    UNKNOWN = "unknown"
    CONTRADICTED = "contradicted"
    """The source calls this person otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """A name in a sentence.

    Parameters
    ----------
    first, stop
        Half-open range of its words within their sentence.
    parts
        Its words without titles and function words.
    """

    first: int
    stop: int
    parts: tuple[Word, ...]


def tells_names(sentences: Sequence[Sequence[Word]]) -> bool:
    """Whether capitals tell names from other words in a text of `sentences`.

    They do not where all words have them, and where only sentences begin with one.
    """
    inner = [word for sentence in sentences for word in sentence[1:]]
    capitals = sum(word.text[0].isupper() for word in inner)
    if capitals > _TITLE_CASE * len(inner):
        return False
    return capitals > 0 or len(inner) < _SPARSE


def find_names(
    sentence: Sequence[Word], *, text: str, source: str, cased: bool
) -> Iterator[Name]:
    """Yield the names of a sentence, each as a whole, in order.

    Parameters
    ----------
    text
        The text that the words stand in.
    source
        The text that may have the same names.
    cased
        Whether capitals tell names; where not, given names do.
    """
    capital = [cased and _is_capital(word, text) for word in sentence]
    if cased and sum(capital) > _TITLE_CASE * len(sentence) > 4 * _TITLE_CASE:
        return  # a heading
    at = 0
    while at < len(sentence):
        stop = _end_of_run(sentence, at, text=text, capital=capital)
        name = _name(sentence, at, stop, text=text, source=source, cased=cased) if stop > at else None
        if name:
            yield name
        at = max(stop, at + 1)


def _is_capital(word: Word, text: str) -> bool:
    # A word that a digit follows at once is part of one like Covid19.
    return (
        word.text[0].isupper()
        and word.folded not in _DATES
        and not text[word.end : word.end + 1].isdigit()
    )


def _end_of_run(
    sentence: Sequence[Word], at: int, *, text: str, capital: Sequence[bool]
) -> int:
    """Return where the run of capitals that begins at `at` ends; `at` where none begins."""
    if not capital[at] and not sentence[at].folded in GIVEN_NAMES:
        return at
    if not capital[at] and any(capital):
        return at
    stop = at + 1
    while stop < len(sentence):
        beyond = stop
        while (
            beyond < len(sentence)
            and sentence[beyond].text in _PARTICLES
            and beyond - stop < 2  # noqa: PLR2004
        ):
            beyond += 1
        if beyond == len(sentence) or not capital[beyond]:
            return stop
        joined = all(
            _GLUE.fullmatch(text, sentence[left].end, sentence[left + 1].start)
            for left in range(stop - 1, beyond)
        )
        if not joined:
            return stop
        stop = beyond + 1
    return stop


def _name(
    sentence: Sequence[Word], first: int, stop: int, *, text: str, source: str, cased: bool
) -> Name | None:
    """Make a name of a run of capitals, if it is one."""
    while first < stop and _leads(sentence[first]):
        first += 1
    if first == stop or _is_shouted(sentence[first:stop]):
        return None
    if not cased:
        stop = first + (2 if _goes_on(sentence, first, source=source) else 1)
    weak = first == 0 or text[: sentence[first].start].rstrip(" ")[-1:] in _WEAK
    if weak and stop == first + 1 and not _names_alone(sentence[first]):
        return None
    parts = tuple(
        word
        for word in sentence[first:stop]
        if word.folded not in FUNCTION_WORDS
        and word.folded not in _PARTICLES
        and word.folded not in TITLES
        and not word.text[0].isdecimal()
    )
    return Name(first=first, stop=stop, parts=parts) if parts else None


def _goes_on(sentence: Sequence[Word], first: int, *, source: str) -> bool:
    """Whether the source has a name in the next word of a text without capitals."""
    following = "".join(word.text for word in sentence[first + 1 : first + 2])
    return following.isalpha() and f" {following.capitalize()}" in source


def _leads(word: Word) -> bool:
    """Whether a capital word at the head of a run is no part of the name."""
    return (
        word.folded in FUNCTION_WORDS
        or word.folded in TITLES
        or word.text in COMMON_CAPITALS
        or len(word.text) == 1
    )


def _is_shouted(run: Sequence[Word]) -> bool:
    return len(run) > 1 and all(word.text.isupper() and len(word.text) > 1 for word in run)


def _names_alone(word: Word) -> bool:
    """Whether a word is a name even where any word has a capital."""
    return word.folded in GIVEN_NAMES or bool(_ACRONYM.fullmatch(word.text))


def standing(name: Name, index: SourceIndex) -> tuple[Standing, int]:
    """Return the standing of `name` in the source, and how many of its words are not there."""
    lacking = [word for word in name.parts if not _is_known(word, index)]
    if not lacking or _is_spelled_out(name, index):
        return Standing.KNOWN, 0
    if len(lacking) == len(name.parts) or _follows_a_role(name, lacking):
        return Standing.UNKNOWN, len(lacking)
    if len(lacking) == 1 and called_otherwise(name, index.text):
        return Standing.CONTRADICTED, 1
    return Standing.PARTLY, len(lacking)


def _follows_a_role(name: Name, lacking: Sequence[Word]) -> bool:
    """Whether the source has but the word that begins the sentence, which any capital fits."""
    return name.first == 0 and len(lacking) > 1 and list(name.parts[1:]) == lacking


def _is_known(word: Word, index: SourceIndex) -> bool:
    stemmed = stem(word.folded)
    if stemmed in index.where or (len(stemmed) >= _LONG and index.knows(stemmed)):
        return True
    if any(stem(same) in index.where for same in COUNTRIES.get(word.folded, ())):
        return True
    if word.text in COMMON_CAPITALS:
        return True
    return bool(_ACRONYM.fullmatch(word.text)) and spells(word.text.rstrip("s"), index.text)


def _is_spelled_out(name: Name, index: SourceIndex) -> bool:
    """Whether the source has the initials of the name."""
    if len(name.parts) < 2:  # noqa: PLR2004
        return False
    return "".join(word.folded[0] for word in name.parts) in index.where


def spells(acronym: str, source: str) -> bool:
    """Whether words in a row in `source` begin with the letters of `acronym`.

    Examples
    --------
    >>> spells("WHO", "The World Health Organization met."), spells("WHO", "He met whom?")
    (True, False)
    """
    gap = r"[ -](?:(?:of|for|the|and|in|on|de|to|&) ){0,2}"
    pattern = gap.join(rf"{letter}\w+" for letter in acronym)
    return bool(re.search(rf"\b{pattern}", source, re.IGNORECASE))


def called_otherwise(name: Name, source: str) -> list[re.Match[str]]:
    """Find where `source` has a name of two words that differs from `name` in one of them.

    That is another surname behind the first word, or another given name before the last;
    neither where the two begin alike, as short forms and spellings of one name do.
    """
    if len(name.parts) != 2 or not name.parts[0].text[0].isupper():  # noqa: PLR2004
        return []
    first, last = name.parts
    if f" {last.text}" not in source:
        behind = rf"\b{re.escape(first.text)} ([A-Z][\w’'-]+)"
        return [*_others(behind, last, source)]
    before = rf"\b([A-Z][\w’'-]+) {re.escape(last.text)}\b"
    called = [*_others(before, first, source)]
    people = first.folded in GIVEN_NAMES and any(m[1].lower() in GIVEN_NAMES for m in called)
    return called if people else []


def _others(pattern: str, word: Word, source: str) -> Iterator[re.Match[str]]:
    """Yield the matches whose group is a name other than `word`; none if one is like it."""
    matches = [
        match
        for match in re.finditer(pattern, source)
        if words(match[1]) and not _leads(words(match[1])[0])
    ]
    if not any(match[1][0].lower() == word.folded[0] for match in matches):
        yield from matches
