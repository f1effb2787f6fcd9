"""Names of people, places and organisations in a text, and whether its source has them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from itertools import islice
from types import MappingProxyType

from spanjury.judges.rules.quantities import CURRENCY_CODES
from spanjury.judges.rules.source_index import SourceIndex
from spanjury.judges.text.lexicon import FUNCTION_WORDS, GIVEN_NAMES, MONTHS, WEEKDAYS
from spanjury.judges.text.stems import stem
from spanjury.judges.text.words import Word, words

TITLES = frozenset(
    """mr mrs ms miss dr prof professor sir dame lord lady king queen prince princess president
    minister secretary senator governor mayor judge justice captain coach manager chief executive
    director chairman chairwoman chair officer general colonel sergeant bishop pope father
    sister brother saint st former ex vice deputy prime head detective inspector herr herrn frau
    monsieur madame senor senora""".split()  # noqa: SIM905
)
"""Words next to a name that are not part of it."""

COMMON_CAPITALS = frozenset(
    """TV CEO CFO COO CTO DNA PM AM OK ID IT PC UK US USA EU UN MP MPs PhD DVD CD FAQ PDF URL API
    AI HR PR VIP YoY KB MB GB TB II III IV VI VII VIII IX XI XII UNK SEP PAD
    CLS""".split()  # noqa: SIM905
)
"""Words in capitals that are used as common words, and numerals."""

_PEOPLES = """afghanistan:afghan albania:albanian algeria:algerian argentina:argentine,argentinian
    australia:australian,aussie austria:austrian bangladesh:bangladeshi belgium:belgian
    bolivia:bolivian brazil:brazilian,brasil britain:british,briton,britons,uk bulgaria:bulgarian
    canada:canadian,canadians chile:chilean china:chinese colombia:colombian croatia:croatian,croat
    cuba:cuban cyprus:cypriot czechia:czech denmark:danish,dane,danes egypt:egyptian
    england:english estonia:estonian ethiopia:ethiopian europe:european,eu finland:finnish,finn
    france:french,frenchman frankreich:franzosisch germany:german deutschland:deutsch
    ghana:ghanaian greece:greek holland:dutch,netherlands hungary:hungarian iceland:icelandic
    india:indian indonesia:indonesian iran:iranian iraq:iraqi ireland:irish,irishman israel:israeli
    italy:italian jamaica:jamaican japan:japanese jordan:jordanian kenya:kenyan korea:korean
    kuwait:kuwaiti latvia:latvian lebanon:lebanese libya:libyan lithuania:lithuanian
    malaysia:malaysian mali:malian malta:maltese mexico:mexican morocco:moroccan
    myanmar:burmese,burma nepal:nepalese netherlands:dutch,holland nigeria:nigerian
    norway:norwegian oman:omani
    pakistan:pakistani palestine:palestinian panama:panamanian peru:peruvian
    philippines:filipino,philippine,filipina poland:polish,pole,poles portugal:portuguese
    qatar:qatari romania:romanian russia:russian scotland:scottish,scots,scot serbia:serbian,serb
    singapore:singaporean slovakia:slovak slovenia:slovenian somalia:somali spain:spanish,spaniard
    sudan:sudanese sweden:swedish,swede switzerland:swiss syria:syrian taiwan:taiwanese
    tanzania:tanzanian thailand:thai tunisia:tunisian turkey:turkish,turk,turkiye uganda:ugandan
    ukraine:ukrainian venezuela:venezuelan vietnam:vietnamese wales:welsh yemen:yemeni
    zambia:zambian zimbabwe:zimbabwean cornwall:cornish quebec:quebecois"""
_REQUESTS = frozenset(
    """ask book buy call choose click consult contact dial download email e-mail enter find follow
    install invite join meet message notify open order phone press read ring see select tell thank
    try use visit watch write""".split()  # noqa: SIM905
)
"""Verbs that begin a request."""
PARTICLES = frozenset(
    "of de del della der den van von la le al el bin ibn da do dos y".split()  # noqa: SIM905
)
"""Lower-case words within a name."""
_GLUE = re.compile(r"(?: ?[-‐–.&/'’] ?| )")
_TITLE_CASE = 0.9  # share of capitals above which they do not distinguish names
_SHORTEST, _HEADING = 3, 4  # minimum letters, and minimum number, of words for this share
_LOWER = frozenset(
    "and the for with from into over per via but nor than off out upon onto".split()  # noqa: SIM905
)
"""Words that a heading writes without a capital."""
_GERMAN = frozenset(
    """der die das und ist nicht ein eine mit den von im zu auf dem des sich wurde auch
    fur als bei nach am""".split()  # noqa: SIM905 - a list this long reads best so
)
_SPARSE = 12  # words from which a text without capitals within sentences does not capitalise names
_WEAK = frozenset(":;.!?\n\"'“”‘’«»(-–—•*#|`>")  # a word after these may be capitalised anyway
_CLOSED = re.compile('["”] $')  # a quotation that ends
ACRONYM = re.compile(r"[A-Z]{2,6}s?")
_DATES = frozenset((*MONTHS, *WEEKDAYS, *(f"{day}s" for day in WEEKDAYS)))
_LETTERS = re.compile(r"[^\W\d_]+")
_SMALL = frozenset("of for the and in on de to".split())  # noqa: SIM905
_WORD_BEFORE = re.compile(r"\b([A-Z][\w’'-]+) [\w’'-]+\Z")
_LONGEST = 30  # maximum letters of a given name
_MOST = 50  # maximum occurrences of a name that are examined
_FAR = 200_000  # code points of a source that are searched for a similar name
_LONG = 6  # minimum letters of a name to recognise a derived form by its beginning


def _countries() -> dict[str, tuple[str, ...]]:
    groups = [entry.replace(":", ",").split(",") for entry in _PEOPLES.split()]
    named: dict[str, tuple[str, ...]] = {}
    for group in groups:
        for word in group:
            named[word] = (*named.get(word, ()), *(other for other in group if other != word))
    return named


COUNTRIES = MappingProxyType(_countries())
"""Country, or its people -> the other words for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """A name in a sentence.

    Parameters
    ----------
    first, stop
        Half-open range of its words within their sentence.
    parts
        Its words without titles and function words.
    request
        Index of the capitalised verb before it that begins a request; None if there is none.
    """

    first: int
    stop: int
    parts: tuple[Word, ...]
    request: int | None = None


def tells_names(sentences: Sequence[Sequence[Word]]) -> bool:
    """Return whether capitals distinguish names from other words in a text of `sentences`.

    They do not if all words have one, or only the first word of each sentence.
    """
    inner = [word for sentence in sentences for word in sentence[1:]]
    if not any(word.text[0].isupper() for word in inner):
        return len(inner) < _SPARSE
    return not _is_heading(inner)


def _is_heading(words: Sequence[Word]) -> bool:
    """Return whether nearly all words that may be capitalised are."""
    content = [
        word.text[0].isupper()
        for word in words
        if len(word.text) >= _SHORTEST and word.folded not in _LOWER
    ]
    return sum(content) > _TITLE_CASE * len(content) and len(content) >= _HEADING


def capital_nouns(sentences: Sequence[Sequence[Word]]) -> bool:
    """Return whether a text is in German, where nouns have capitals, too."""
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
        The text that contains the words.
    source
        The text that may have the same names.
    cased
        Whether capitals distinguish names; if not, given names do.
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
    # A word directly followed by a digit is part of a word such as Covid19.
    return (
        word.text[0].isupper()
        and word.folded not in _DATES
        and word.text not in CURRENCY_CODES
        and not text[word.end : word.end + 1].isdigit()
    )


def _end_of_run(
    sentence: Sequence[Word], at: int, *, text: str, capital: Sequence[bool], nouns: bool
) -> int:
    """Return the end of the run of capitals that begins at `at`; `at` if none begins there."""
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
            and sentence[beyond].text in PARTICLES
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
    """Return the name in a run of capitals, or None if it is not a name."""
    is_verb = first + 1 < stop and sentence[first].folded in _REQUESTS  # Contact Karl Meier
    request = first if is_verb and _is_weak(sentence, first, text) else None
    first += request is not None
    while first < stop and leads(sentence[first]):
        first += 1
    if first == stop or _is_shouted(sentence[first:stop]):
        return None
    if not cased:
        stop = first + (2 if _goes_on(sentence, first, source=source) else 1)
    word = sentence[first]
    is_known = word.folded in GIVEN_NAMES or ACRONYM.fullmatch(word.text)
    if _is_weak(sentence, first, text) and stop == first + 1 and not is_known:
        return None
    parts = tuple(
        word
        for word in sentence[first:stop]
        if word.folded not in FUNCTION_WORDS
        and word.folded not in PARTICLES
        and word.folded not in TITLES
        and not word.text[0].isdecimal()
    )
    return Name(first=first, stop=stop, parts=parts, request=request) if parts else None


def _is_weak(sentence: Sequence[Word], at: int, text: str) -> bool:
    """Return whether any word would have a capital at this position."""
    begin = sentence[at].start
    before = text[max(0, begin - 3) : begin]
    return at == 0 or (before.rstrip(" ")[-1:] in _WEAK and not _CLOSED.search(before))


def _names_a_person(sentence: Sequence[Word], at: int, name: Name) -> bool:
    """Return whether a run of capitals from `at` is a name in a text whose nouns have capitals."""
    titled = sentence[at].folded in TITLES
    return titled or (name.stop - name.first > 1 and sentence[name.first].folded in GIVEN_NAMES)


def _goes_on(sentence: Sequence[Word], first: int, *, source: str) -> bool:
    """Return whether the next word of a text without capitals belongs to the name."""
    following = "".join(word.text for word in sentence[first + 1 : first + 2])
    if not following.isalpha() or sentence[first + 1].folded in FUNCTION_WORDS:
        return False
    surname = f" {following.capitalize()}"
    verb = following.endswith(("ed", "s", "ing"))
    return surname in source or (not verb and following.lower() not in source.lower())


def leads(word: Word) -> bool:
    """Return whether a capitalised word at the beginning of a run is not part of the name."""
    return (
        word.folded in FUNCTION_WORDS
        or word.folded in TITLES
        or word.text in COMMON_CAPITALS
        or len(word.text) == 1
    )


def _is_shouted(run: Sequence[Word]) -> bool:
    return len(run) > 1 and all(word.text.isupper() and len(word.text) > 1 for word in run)


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
    initials = "".join(word.folded[0] for word in name.parts)
    if not lacking or (len(initials) > 1 and initials in index.where):
        return Standing.PRESENT, []
    # The source may have only the first word, a role whose capital may begin the sentence.
    is_role = name.first == 0 and len(lacking) > 1 and list(name.parts[1:]) == lacking
    if len(lacking) == len(name.parts) or is_role:
        return Standing.UNKNOWN, lacking
    if len(lacking) == 1 and called_otherwise(name, index.text):
        return Standing.CONTRADICTED, lacking
    return Standing.PARTLY, lacking


def _is_known(word: Word, index: SourceIndex) -> bool:
    stemmed = stem(word.folded)
    if stemmed in index.where or (len(stemmed) >= _LONG and index.knows(stemmed)):
        return True
    if any(stem(same) in index.where for same in COUNTRIES.get(word.folded, ())):
        return True
    if word.text in COMMON_CAPITALS:
        return True
    return bool(ACRONYM.fullmatch(word.text)) and spells(word.text.rstrip("s"), index.text)


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
