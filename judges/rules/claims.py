"""Claims: the least parts of a text that a source can support, and whether it does."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isinf
from typing import Literal

from spanjury.judges.rules.dates import dates, weekdays
from spanjury.judges.rules.derived import is_count, is_derived, is_hedged, is_part, is_rounding
from spanjury.judges.rules.lexicon import FUNCTION_WORDS, MONTHS, SAME, WEEKDAYS
from spanjury.judges.rules.names import Name, Standing, find_names, standing
from spanjury.judges.rules.numbers import SHORT_SCALES, Number, numbers
from spanjury.judges.rules.quantities import (
    other_readings,
    quantities,
    readings,
    unit,
    with_decimals,
)
from spanjury.judges.rules.source_index import SourceIndex
from spanjury.judges.rules.stems import stem
from spanjury.judges.text.words import Word

Sort = Literal["number", "date", "name", "wording"]

_DAYS = frozenset((*MONTHS, *WEEKDAYS))
_YEARS = range(1500, 2100)
_REACH = 3  # words before a number in which a hedge may stand
_BOUND = 0.25
_NOON = 12
_CENTURY = 100
_ASIDE = re.compile(
    r"https?://\S+|www\.\S+|\S+@\S+\.\w+|\[\d{1,3}(?:[,;–-] ?\d{1,3})*\]|^[ \t]*\d{1,3}[.)](?=\s)"
    r"|^[ \t]*#{1,6}[ \t]|\[?UNK\]?|<\w{2,6}>|-l[rc]b-|-r[rc]b-",
    re.MULTILINE,
)
_ANSWER = frozenset(("yes", "no", "true", "false", "answer", "summary", "note"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A number, a name, or a word that is not a function word.

    Parameters
    ----------
    first, stop
        Half-open range of its words within their sentence.
    number
        The number it states; None for a word or a name.
    name
        The name it is; None for what is none.
    known
        Whether the source supports it.
    sure
        Whether what is not known is an error for sure enough to be reported.
    contradicted
        Whether the source has another name in its place.
    size, lacking
        How many words it has that count, and how many of them the source lacks.
    """

    first: int
    stop: int
    sort: Sort
    number: Number | None = None
    name: Name | None = None
    known: bool
    sure: bool = True
    contradicted: bool = False
    size: int = 1
    lacking: int = 0


def asides(text: str) -> Sequence[tuple[int, int]]:
    """Return where `text` has addresses, citations, marks of lists and the like: no claims."""
    return [match.span() for match in _ASIDE.finditer(text)]


def claims(
    words: Sequence[Word], index: SourceIndex, *, text: str, cased: bool, nouns: bool = False
) -> Iterator[Claim]:
    """Yield the claims of a sentence, in order.

    Parameters
    ----------
    text
        The text that the words stand in.
    cased
        Whether capitals tell names.
    nouns
        Whether nouns have capitals, too, as in German.
    """
    begun = _dated(words, index, text=text)
    for name in find_names(words, text=text, source=index.text, cased=cased, nouns=nouns):
        claim = _name_claim(words, name, index)
        begun.setdefault(claim.first, claim)
    taken = {at for claim in begun.values() for at in range(claim.first, claim.stop)}
    stop = 0
    for number in numbers([word.folded for word in words]):
        if number.first not in taken and number.first >= stop:
            whole = with_decimals(words, number, text=text)
            begun[whole.first] = _number_claim(words, index, number=whole, text=text)
            stop = whole.stop
    stop = 0
    for at, word in enumerate(words):
        if at < stop:
            continue
        claim = begun.get(at) or _word_claim(word, index, at=at)
        if claim:
            yield claim
            stop = claim.stop


def _dated(words: Sequence[Word], index: SourceIndex, *, text: str) -> dict[int, Claim]:
    """Look dates in digits up, by their first word."""
    found: dict[int, Claim] = {}
    start, end = words[0].start, words[-1].end
    if sum(word.text[0].isdecimal() for word in words) < 3:  # noqa: PLR2004 - day, month, year
        return found
    for match, readings in dates(text[start:end]):
        covered = [
            at
            for at, word in enumerate(words)
            if start + match.start() <= word.start and word.end <= start + match.end()
        ]
        known = any(all(index.knows(stem(word)) for word in said[:3]) for said in readings)
        if covered:
            found[covered[0]] = Claim(
                first=covered[0],
                stop=covered[-1] + 1,
                sort="date",
                known=known or match.group() in index.text,
                lacking=0 if known else 1,
            )
    return found


def _word_claim(word: Word, index: SourceIndex, *, at: int) -> Claim | None:
    if word.folded in FUNCTION_WORDS:
        return None
    known = index.knows(stem(word.folded))
    meant = SAME.get(word.folded, word.folded)
    day = meant in _DAYS and word.text not in {"march", "may"}
    known = known or (day and meant in WEEKDAYS and meant in weekdays(index.text))
    return Claim(
        first=at,
        stop=at + 1,
        sort="date" if day else "wording",
        known=known or word.folded in _ANSWER,
        lacking=int(not known),
    )


def _name_claim(words: Sequence[Word], name: Name, index: SourceIndex) -> Claim:
    stands, lacking = standing(name, index)
    first = words.index(lacking[0]) if stands is Standing.UNKNOWN else name.first
    return Claim(
        first=first,
        stop=name.stop,
        sort="name",
        name=name,
        known=stands is Standing.KNOWN,
        sure=stands is not Standing.PARTLY,
        contradicted=stands is Standing.CONTRADICTED,
        size=len(name.parts),
        lacking=len(lacking),
    )


def _number_claim(
    words: Sequence[Word], index: SourceIndex, *, number: Number, text: str
) -> Claim:
    """Look a number up, and the numeral that it begins with if no word makes it greater."""
    numeral = words[number.first]
    known = _is_stated(words, index, number=number, text=text)
    glued = _is_glued(numeral, text)
    if not known and glued:
        known = _is_in_word(numeral, index, text=text)
    if not known and not isinf(number.value):
        known = _follows(words, index, number=number, text=text)
    year = numeral.text.isdecimal() and number.value in _YEARS
    return Claim(
        first=number.first,
        stop=number.stop,
        sort="date" if year else "number",
        number=number,
        known=known,
        sure=not glued and not isinf(number.value),
        lacking=int(not known),
    )


def _is_stated(
    words: Sequence[Word], index: SourceIndex, *, number: Number, text: str
) -> bool:
    """Whether the source states a number, in whatever way it is written.

    What is too long for a number, or no number (a version), is looked up word by word.
    """
    stating = words[number.first : number.stop]
    bare = len(stating) == 1 or stating[-1].folded in SHORT_SCALES
    return (
        index.states(number.value)
        or (isinf(number.value) and all(stem(word.folded) in index.where for word in stating))
        or (bare and stating[0].folded in index.where)
        or (len(stating) > 1 and _is_torn(stating, index))
        or (stating[0].text[-1].isalpha() and number.value in index.places)
        or any(map(index.states, _readings_around(stating, text)))
    )


def _is_torn(stating: Sequence[Word], index: SourceIndex) -> bool:
    """Whether the source has the scale of a number and, in another writing, its numeral."""
    numeral, *scales = stating
    if not numeral.text[0].isdecimal() or numeral.folded.count(".") > 1:
        return False
    known = float(numeral.folded) in readings(index.text)
    return known and all(stem(word.folded) in index.where for word in scales)


def _readings_around(stating: Sequence[Word], text: str) -> Iterator[float]:
    """Yield the other numbers that numerals side by side may be: 8,4 or 1.200 or 15:30."""
    start, end = stating[0].start, stating[-1].end
    while start and (text[start - 1].isdigit() or text[start - 1] in ".,:'’/"):
        start -= 1
    while end < len(text) and (text[end].isdigit() or text[end] in ".,:'’/"):
        end += 1
    if end - start > stating[-1].end - stating[0].start or "." in stating[0].text:
        yield from other_readings(text[start:end].strip(".,:'’/"))
    following = text[stating[-1].end : stating[-1].end + 5].lower()
    if not stating[0].text.isdecimal():
        return
    value = float(stating[0].text)
    if re.match(r" ?p\.?m\b", following):
        yield value + _NOON
    if value < _CENTURY and (following[:1] == "s" or text[:start][-1:] in {"'", "’"}):
        yield from (1900 + value, 2000 + value)


def _is_glued(numeral: Word, text: str) -> bool:
    """Whether a numeral is a part of a word: COVID-19, Q3, T20, 4Q."""
    before, after = text[max(0, numeral.start - 2) : numeral.start], text[numeral.end :]
    return bool(re.search(r"[A-Za-z]$|[A-Za-z][-‐]$", before)) or bool(re.match(r"[A-Z]\b", after))


def _is_in_word(numeral: Word, index: SourceIndex, *, text: str) -> bool:
    """Whether the source has the word that a numeral is a part of, or the quarter of a year."""
    start, end = numeral.start, numeral.end
    while start and (text[start - 1].isalnum() or text[start - 1] in "-‐"):
        start -= 1
    while end < len(text) and text[end].isalnum():
        end += 1
    whole = text[start:end].lower()
    if "q" in whole and len(whole) == 2:  # noqa: PLR2004
        value = float(numeral.folded)
        return value in index.places or index.states(value) or "quarter" in index.text
    return whole in index.text.lower() or whole.replace("-", "") in index.text.lower()


def _follows(words: Sequence[Word], index: SourceIndex, *, number: Number, text: str) -> bool:
    """Whether a number that the source does not state follows from those it states."""
    value = number.value
    near = index.near(value, share=_BOUND)
    before = frozenset(word.folded for word in words[max(0, number.first - _REACH) : number.first])
    if is_hedged(value, hedges=before, nearest=index.nearest(value), within=near):
        return True
    if is_rounding(value, near):
        return True
    counted = unit(words, number, text=text)
    if counted == "percent" and (index.states(value / 100) or is_part(value, counted, holds=index.where)):
        return True
    said = text[words[0].start : words[-1].end]
    return is_count(value, said, index.text) or is_derived(value, counted, quantities(index.text))


def unclaimed(words: Sequence[Word], asides: Sequence[tuple[int, int]]) -> list[Word]:
    """Return the words that stand in none of the intervals `asides`."""
    if not asides:
        return [*words]
    return [
        word
        for word in words
        if not any(start <= word.start and word.end <= end for start, end in asides)
    ]


