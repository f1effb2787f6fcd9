"""Claims: the least parts of a text that a source can support, and whether it does."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isinf
from typing import Literal

from spanjury.judges.rules.numbers import SHORT_SCALES, Number, numbers
from spanjury.judges.rules.source_index import SourceIndex
from spanjury.judges.text.lexicon import FUNCTION_WORDS, GIVEN_NAMES, MONTHS, SAME, WEEKDAYS
from spanjury.judges.text.stems import stem
from spanjury.judges.text.words import Word

Sort = Literal["number", "date", "name", "wording"]

_DAYS = frozenset((*MONTHS, *WEEKDAYS))
_YEARS = range(1500, 2100)
_HEDGES = frozenset(
    ("about", "almost", "approximately", "around", "least", "nearly", "over", "roughly", "than")
)
_ROUNDING = 0.1  # how far a hedged number may be from the source's, as a share of it
_TITLE_CASE = 0.6  # share of capitals above which they do not tell names


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A number, or a word that is not a function word.

    Parameters
    ----------
    first, stop
        Half-open range of its words within their sentence.
    number
        The number it states; None for a word.
    """

    first: int
    stop: int
    sort: Sort
    number: Number | None = None
    known: bool


def tells_names(words: Sequence[Word]) -> bool:
    """Whether capitals tell names from other words in a text made of `words`."""
    capitals = sum(word.text[0].isupper() for word in words)
    return 0 < capitals <= _TITLE_CASE * len(words)


def claims(words: Sequence[Word], index: SourceIndex, *, cased: bool) -> Iterator[Claim]:
    """Yield the claims of a sentence, in order.

    Parameters
    ----------
    cased
        Whether capitals tell names.
    """
    stated = {number.first: number for number in numbers([word.folded for word in words])}
    stop = 0
    for at, word in enumerate(words):
        if at in stated:
            yield _number_claim(words, index, number=stated[at])
            stop = stated[at].stop
        elif at >= stop and word.folded not in FUNCTION_WORDS:
            known = index.knows(stem(word.folded))
            sort = _sort(words, at, cased=cased)
            yield Claim(first=at, stop=at + 1, sort=sort, known=known)


def _number_claim(words: Sequence[Word], index: SourceIndex, *, number: Number) -> Claim:
    """Look a number up, and the numeral that it begins with if no word makes it greater.

    What is too long for a number, or no number (a version), is looked up word by word.
    """
    stating = words[number.first : number.stop]
    numeral = stating[0]
    bare = len(stating) == 1 or stating[-1].folded in SHORT_SCALES
    known = (
        index.states(number.value)
        or (isinf(number.value) and all(stem(word.folded) in index.where for word in stating))
        or (bare and numeral.folded in index.where)
        or _is_rounded(words[max(0, number.first - 2) : number.first], index, number=number)
    )
    year = numeral.text.isdecimal() and number.value in _YEARS
    return Claim(
        first=number.first,
        stop=number.stop,
        sort="date" if year else "number",
        number=number,
        known=known,
    )


def _is_rounded(before: Sequence[Word], index: SourceIndex, *, number: Number) -> bool:
    """Whether a number is said to be rounded and is near one of the source."""
    if _HEDGES.isdisjoint(word.folded for word in before):
        return False
    nearest = index.nearest(number.value)
    return nearest is not None and abs(number.value - nearest) <= _ROUNDING * abs(nearest)


def _sort(words: Sequence[Word], at: int, *, cased: bool) -> Sort:
    """Tell dates and names from other words."""
    word = words[at]
    capital = word.text[0].isupper()
    if SAME.get(word.folded, word.folded) in _DAYS and word.text != "march":  # as to walk
        return "date"
    if word.folded in GIVEN_NAMES and (capital or not cased):
        return "name"
    if not (cased and capital):
        return "wording"
    # The first word of a sentence is a name only if it is one with the next word.
    following = words[at + 1 : at + 2]
    first_of_name = any(word_.text[0].isupper() for word_ in following)
    return "name" if at > 0 or first_of_name else "wording"
