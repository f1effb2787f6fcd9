"""Names: where a text names people, places and organisations, and whether a source does."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

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
_TITLE_CASE = 0.9  # share of capitals above which they do not tell names
_SHORTEST, _HEADING = 3, 4  # letters, and number, of the words that this share is of
_LOWER = frozenset(
    "and the for with from into over per via but nor than off out upon onto".split()  # noqa: SIM905
)
"""Words that a heading writes without a capital."""
_GERMAN = frozenset(
    """der die das und ist nicht ein eine mit den von im zu auf dem des sich wurde auch
    fur als bei nach am""".split()  # noqa: SIM905 - a list this long reads best so
)
_SPARSE = 12  # words of a text that has capitals but for the first words of sentences
_WEAK = frozenset(":;.!?\n\"'“”‘’«»(-–—•*#|`>")  # a word that follows may be capital for that
_ACRONYM = re.compile(r"[A-Z]{2,6}s?")
_FAR = 200_000  # code points of a source that are searched for the like of a name
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
    if not any(word.text[0].isupper() for word in inner):
        return len(inner) < _SPARSE
    return not _is_heading(inner)


def _is_heading(words: Sequence[Word]) -> bool:
    """Whether nearly all words have a capital that may have one."""
    content = [
        word.text[0].isupper()
        for word in words
        if len(word.text) >= _SHORTEST and word.folded not in _LOWER
    ]
    return sum(content) > _TITLE_CASE * len(content) and len(content) >= _HEADING


def capital_nouns(sentences: Sequence[Sequence[Word]]) -> bool:
    """Whether a text is in German, where nouns have capitals, too."""
    folded = [word.folded for sentence in sentences for word in sentence]
    german = sum(word in _GERMAN for word in folded)
    return german >= 2 and german * 8 >= len(folded) and "the" not in folded  # noqa: PLR2004


def find_names(
    sentence: Sequence[Word], *, text: str, source: str, cased: bool, nouns: bool = False
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
    nouns
        Whether nouns have capitals, too.
    """
    capital = [cased and _is_capital(word, text) for word in sentence]
    cased = any(capital)
    if cased and _is_heading(sentence):
        return
    at = 0
    while at < len(sentence):
        stop = _end_of_run(sentence, at, text=text, capital=capital, nouns=nouns)
        if stop > at:
            name = _name(sentence, at, stop, text=text, source=source, cased=cased)
            if name and (not nouns or _names_a_person(sentence, at, name)):
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
    sentence: Sequence[Word], at: int, *, text: str, capital: Sequence[bool], nouns: bool
) -> int:
    """Return where the run of capitals that begins at `at` ends; `at` where none begins."""
    if not capital[at] and sentence[at].folded not in GIVEN_NAMES:
        return at
    if not capital[at] and any(capital):
        return at
    stop = at + 1
    while stop < len(sentence):
        beyond = stop
        while (
            not nouns
            and beyond < len(sentence)
            and sentence[beyond].text in _PARTICLES
            and not (sentence[beyond].text == "of" and sentence[at].folded in GIVEN_NAMES)
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
    begin = sentence[first].start
    weak = first == 0 or text[max(0, begin - 3) : begin].rstrip(" ")[-1:] in _WEAK
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


def _names_a_person(sentence: Sequence[Word], at: int, name: Name) -> bool:
    """Whether a run of capitals from `at` on is a name where nouns have capitals, too."""
    titled = sentence[at].folded in TITLES
    return titled or (name.stop - name.first > 1 and sentence[name.first].folded in GIVEN_NAMES)


def _goes_on(sentence: Sequence[Word], first: int, *, source: str) -> bool:
    """Whether the source has a name in the next word of a text without capitals."""
    following = "".join(word.text for word in sentence[first + 1 : first + 2])
    if not following.isalpha() or sentence[first + 1].folded in FUNCTION_WORDS:
        return False
    surname = f" {following.capitalize()}"
    verb = following.endswith(("ed", "s", "ing"))
    return surname in source or (not verb and following.lower() not in source.lower())


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


def standing(name: Name, index: SourceIndex) -> tuple[Standing, Sequence[Word]]:
    """Return the standing of `name` in the source, and its words that are not there."""
    lacking = [word for word in name.parts if not _is_known(word, index)]
    if not lacking or _is_spelled_out(name, index):
        return Standing.KNOWN, []
    if len(lacking) == len(name.parts) or _follows_a_role(name, lacking):
        return Standing.UNKNOWN, lacking
    if len(lacking) == 1 and called_otherwise(name, index.text):
        return Standing.CONTRADICTED, lacking
    return Standing.PARTLY, lacking


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


@lru_cache(maxsize=1024)
def spells(acronym: str, source: str) -> bool:
    """Whether words in a row in `source` begin with the letters of `acronym`.

    Examples
    --------
    >>> spells("WHO", "The World Health Organization met."), spells("WHO", "He met whom?")
    (True, False)
    """
    gap = r"[ -](?:(?:of|for|the|and|in|on|de|to|&) ){0,2}"
    pattern = gap.join(rf"{letter}[\w.]*" for letter in acronym)
    return bool(re.search(rf"\b{pattern}", source[:_FAR], re.IGNORECASE))


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
        for match in re.finditer(pattern, source[:_FAR])
        if words(match[1]) and not _leads(words(match[1])[0])
    ]
    if not any(match[1][0].lower() == word.folded[0] for match in matches):
        yield from matches
