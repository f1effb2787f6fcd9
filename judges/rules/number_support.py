"""Numbers of a text: whether the source states them, or they follow from what it states."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import isinf

from spanjury.judges.rules.conversions import is_converted
from spanjury.judges.rules.derived import is_count, is_derived, is_hedged, is_part, is_rounding
from spanjury.judges.rules.numbers import SHORT_SCALES, Number
from spanjury.judges.rules.quantities import other_readings, quantities, readings, unit
from spanjury.judges.rules.source_index import SourceIndex
from spanjury.judges.text.stems import stem
from spanjury.judges.text.words import Word

_REACH = 3  # words before a number in which a hedge may stand
_BOUND = 0.25  # distance of the numbers of the source that a number may be rounded from
_YEARS = (1900, 2100)
_LONGEST = 30  # code points of a word, or of numerals side by side
_BESIDE = 300  # code points on either side of a number in which what it counts is listed
_NOON = 12
_CENTURY = 100


def is_stated(words: Sequence[Word], index: SourceIndex, *, number: Number, text: str) -> bool:
    """Say whether the source states a number, in whatever way it is written.

    What is too long for a number, or no number (a version), is looked up word by word.
    """
    stating = words[number.first : number.stop]
    bare = len(stating) == 1 or stating[-1].folded in SHORT_SCALES
    return (
        index.states(number.value)
        or (isinf(number.value) and all(stem(word.folded) in index.where for word in stating))
        or (bare and stating[0].folded in index.where)
        or (len(stating) > 1 and _is_torn(stating, index))
        or (stating[0].text[-1].isalpha() and number.value in index.ordinals)
        or any(map(index.states, _readings_around(stating, text)))
    )


def _is_torn(stating: Sequence[Word], index: SourceIndex) -> bool:
    """Say whether the source has the scale of a number and, in another writing, its numeral."""
    numeral, *scales = stating
    if not numeral.text[0].isdecimal() or numeral.folded.count(".") > 1:
        return False
    stated = float(numeral.folded) in readings(index.text)
    return stated and all(stem(word.folded) in index.where for word in scales)


def _readings_around(stating: Sequence[Word], text: str) -> Iterator[float]:
    """Yield the other numbers that numerals side by side may be: 8,4 or 1.200 or 15:30."""
    start, end = stating[0].start, stating[-1].end
    before = text[max(0, start - 1) : start]
    first, last = max(0, start - _LONGEST), min(len(text), end + _LONGEST)
    while start > first and (text[start - 1].isdigit() or text[start - 1] in ".,:'’/"):
        start -= 1
    while end < last and (text[end].isdigit() or text[end] in ".,:'’/"):
        end += 1
    if end - start > stating[-1].end - stating[0].start or "." in stating[0].text:
        yield from other_readings(text[start:end].strip(".,:'’/"))
    following = text[stating[-1].end : stating[-1].end + 5].lower()
    if not stating[0].text.isdecimal():
        return
    value = float(stating[0].text)
    if re.match(r" ?p\.?m\b", following):
        yield value + _NOON
    if value < _CENTURY and (following[:1] == "s" or before in {"'", "’"}):
        yield from (1900 + value, 2000 + value)


def is_glued(numeral: Word, text: str) -> bool:
    """Say whether a numeral is a part of a word: COVID-19, Q3, T20, 4Q."""
    before, after = (
        text[max(0, numeral.start - 2) : numeral.start],
        text[numeral.end : numeral.end + 2],
    )
    return bool(re.search(r"[A-Za-z]$|[A-Za-z][-‐]$", before)) or bool(re.match(r"[A-Z]\b", after))


def is_in_word(numeral: Word, index: SourceIndex, *, text: str) -> bool:
    """Say whether the source has the word that a numeral is a part of, or the quarter of a year."""
    start, end = numeral.start, numeral.end
    first, last = max(0, start - _LONGEST), min(len(text), end + _LONGEST)
    while start > first and (text[start - 1].isalnum() or text[start - 1] in "-‐"):
        start -= 1
    while end < last and text[end].isalnum():
        end += 1
    whole = text[start:end].lower()
    if "q" in whole and len(whole) == 2:  # noqa: PLR2004
        value = float(numeral.folded)
        return value in index.ordinals or index.states(value) or "quarter" in index.text
    return whole in lowered(index.text) or whole.replace("-", "") in lowered(index.text)


def follows(words: Sequence[Word], index: SourceIndex, *, number: Number, text: str) -> bool:
    """Say whether a number that the source does not state follows from those it states."""
    value = number.value
    near = [candidate for candidate in index.near(value, share=_BOUND) if not _is_year(candidate)]
    before = frozenset(word.folded for word in words[max(0, number.first - _REACH) : number.first])
    if is_hedged(value, hedges=before, within=near):
        return True
    if is_rounding(value, near):
        return True
    counted = unit(words, number, text=text)
    if counted == "percent" and (
        index.states(value / 100) or is_part(value, counted, holds=index.where)
    ):
        return True
    start = words[number.first].start
    nearby = text[max(words[0].start, start - _BESIDE) : min(words[-1].end, start + _BESIDE)]
    stated = quantities(index.text)
    return (
        is_count(value, nearby, index.text)
        or is_derived(value, counted, stated, source=index.text)
        or is_converted(value, counted, stated, source=index.text)
    )


@lru_cache(maxsize=4)
def lowered(source: str) -> str:
    """Return `source` in lower case."""
    return source.lower()


def _is_year(value: float) -> bool:
    """Say whether a number is likelier a year than one that another is rounded from."""
    return _YEARS[0] <= value < _YEARS[1]
