"""Support of numbers: whether the source states them, or they follow from stated ones.

They may follow from the other numbers or words of their sentence and the source's numbers: "three
tickets cost 36 euros" from a price of 12 euros, "480 euros a year" from 40 euros a month, and "for
8 people take 400 g" from a recipe for 4 with 200 g.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import permutations
from math import isclose, isinf
from operator import attrgetter

from spanjury.judges.rules.conversions import is_converted, shifted_times
from spanjury.judges.rules.counted_days import is_counted_on, is_gap
from spanjury.judges.rules.derived_numbers import (
    LEAST,
    MOST_STATED,
    is_count,
    is_derived,
    is_percentage,
    is_share,
    is_years_after,
)
from spanjury.judges.rules.quantities import (
    ABOUT,
    HEDGES,
    Quantity,
    hours_after_noon,
    other_readings,
    quantities,
    readings,
    spoken_times,
    unit,
    whole_number,
)
from spanjury.judges.rules.source_index import SourceIndex
from spanjury.judges.rules.units import PERIOD, PERIODIC, SIZES, rate_factors
from spanjury.judges.text.kept import KeptByText
from spanjury.judges.text.numbers import SHORT_SCALES, Number, numbers
from spanjury.judges.text.stems import stem
from spanjury.judges.text.words import Word

_AT_LEAST = frozenset(("above", "beyond", "exceed", "exceeding", "least", "over", "than", "up"))
_AT_MOST = frozenset(("almost", "below", "fewer", "less", "nearly", "than", "under", "up"))
_NEARLY = ABOUT | {"almost", "nearly"}
_FEWER = frozenset(("fewer", "less"))
_GREATER = frozenset(("more", "greater", "larger", "longer", "higher"))
_LOWER = frozenset(("above", "beyond", "exceeding", "least", "over"))
_UPPER = frozenset(("below", "most", "under"))
_BOUNDED = re.compile(
    r"\b(?:(?P<least>at least)|than|most|over|under|above|below|up to|minimum|maximum)"
    r"\s(?:of\s)?[$£€¥]?$",
    re.IGNORECASE,
)
"""Words that make a number of the source a bound."""
_CHANGE = re.compile(
    r"\b(?:increas|ris(?:e|ing)|rose|gr[eo]w|gain|jump|climb|f[ae]ll|drop|declin|decreas|reduc|cut"
    r"|lower|higher|more|less|fewer|up\b|down\b|shr[aiu]nk|los[est]|cheaper|dearer|surg|plung)",
    re.IGNORECASE,
)
"""Words that make a percentage one of a change."""
_ROUNDING = 0.1  # maximum relative distance of a hedged number from the source's
_BOUND = 0.25  # the same for a bound: "more than 40" of 45; an upper limit for all rounding
_DIGITS = 3  # maximum significant digits of a rounded number
_LAST_DAY = 31
_NEAR = 60  # code points around a number that may say what it is
_REACH = 3  # words before a number that are searched for a hedge
_YEARS = (1900, 2100)
_LONGEST = 30  # maximum code points of a word, or of adjacent numerals
_BESIDE = 300  # code points on either side of a number that are searched for what it counts
_NOON = 12
_TIME_IN_DIGITS = re.compile(r"(\d\d?)(?::(\d\d))?(?: ?([ap])\.?m\b)?(?!\d)", re.IGNORECASE)
_AFTER = 5  # code points after a number that may say in which half of the day it is
_BLANK_GROUPS = re.compile(
    "(?<![\\d.,])[1-9]\\d{0,2}(?:(?:, |[\u00a0\u202f ])\\d{3})+(?!\\d|[.,]\\d)"
)
"""Thousands that a space groups, or in tokenised data a comma and a space."""
_CENTURY = 100
lowered = KeptByText(str.lower)
"""Return a source in lower case."""
_MOST = 12  # maximum numbers of a sentence that are combined
_MOST_STATED = 60  # the same for a source
_MOST_SCALED = 40  # maximum numbers of a text whose amounts may be scaled
_MOST_TIMES = 100  # maximum count that a price or an amount is multiplied by
_FACTORS = (0.25, 1 / 3, 0.5, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
"""Factors by which a recipe is scaled."""
_SCALED = 2  # minimum numbers with one factor, if a word says that amounts are scaled
_ALL_SCALED = 3  # the same without such a word
_SCALING = re.compile(
    r"\b(?:doubl\w*|twice|tripl\w*|quadrupl\w*|hal(?:f|ve\w*)|times|scal\w*|\w+fold|instead)\b",
    re.IGNORECASE,
)
_INSTEAD = re.compile(r"\b(?:instead of|rather than|not)\s$", re.IGNORECASE)
_MOST_PRICES = 6  # maximum prices of which two are added
_FAR = 60  # maximum code points between a count and a product
_AROUND = 24  # code points on either side of a number that may name the period of a rate
_RATE = re.compile(
    rf"\b(?:(?:an?|per|each|every|one)\s(?P<noun>{PERIOD})|(?P<adverb>{PERIODIC}))\b"
    rf"|/\s?(?P<sign>{PERIOD})\b",
    re.IGNORECASE,
)


def is_stated(words: Sequence[Word], index: SourceIndex, *, number: Number, text: str) -> bool:
    """Return whether the source states a number, in any notation.

    A string too long for a number, or not a number (a version), is looked up word by word.
    """
    stating = words[number.first : number.stop]
    bare = len(stating) == 1 or stating[-1].folded in SHORT_SCALES
    return (
        index.states(number.value)
        or (isinf(number.value) and all(stem(word.folded) in index.where for word in stating))
        or (bare and stem(stating[0].folded) in index.where)
        or (len(stating) > 1 and _is_torn(stating, index))
        or (stating[0].text[-1].isalpha() and number.value in index.ordinals)
        or any(map(index.states, _readings_around(stating, text)))
        or _is_derived_time(stating, text, index)
    )


def _is_derived_time(stating: Sequence[Word], text: str, index: SourceIndex) -> bool:
    """Return whether a number is part of a time in digits that follows from the source.

    The source states it in words, or a length of time leads to it.
    """
    start, end = whole_number(text, stating[0].start, stating[-1].end)
    time = _TIME_IN_DIGITS.match(text, start, end + _AFTER)
    if not time or not (time[2] or time[3]):
        return False
    hour, minute = int(time[1]), int(time[2] or 0)
    if time[3]:
        hour = hour % _NOON + (_NOON if time[3] in "pP" else 0)
    minutes = hour % 24 * 60 + minute
    return minutes in spoken_times(index.text) or minutes in shifted_times(index.text)


def _is_torn(stating: Sequence[Word], index: SourceIndex) -> bool:
    """Return whether the source has the scale of a number and, in another notation, its numeral."""
    numeral, *scales = stating
    if not numeral.text[0].isdecimal() or numeral.folded.count(".") > 1:
        return False
    stated = float(numeral.folded) in readings(index.text)
    return stated and all(stem(word.folded) in index.where for word in scales)


def _readings_around(stating: Sequence[Word], text: str) -> Iterator[float]:
    """Yield the other possible readings of adjacent numerals: 8,4 or 1.200 or 15:30."""
    start, end = stating[0].start, stating[-1].end
    before = text[max(0, start - 1) : start]
    first, last = max(0, start - _LONGEST), min(len(text), end + _LONGEST)
    while start > first and (text[start - 1].isdigit() or text[start - 1] in ".,:'’/"):
        start -= 1
    while end < last and (text[end].isdigit() or text[end] in ".,:'’/"):
        end += 1
    if end - start > stating[-1].end - stating[0].start or "." in stating[0].text:
        yield from other_readings(text[start:end].strip(".,:'’/"))
    for group in _BLANK_GROUPS.finditer(text, first, last):
        if group.start() <= stating[0].start < group.end():
            yield float(re.sub(r"\D", "", group.group()))
    after = text[stating[-1].end : stating[-1].end + 5].lower()
    if not stating[0].text.isdecimal():
        return
    value = float(stating[0].text)
    if re.match(r" ?p\.?m\b", after):
        yield value + _NOON
    if value < _CENTURY and (after[:1] == "s" or before in {"'", "’"}):
        yield from (1900 + value, 2000 + value)


def may_be_time(numeral: Word, index: SourceIndex, *, value: float) -> bool:
    """Return whether a number and one of the source may be times of one hour: 4.05 and 16.50."""
    stated = hours_after_noon(index.text)
    own = hours_after_noon(numeral.text)
    return value in stated or not own.isdisjoint(stated) or any(map(index.states, own))


def is_glued(numeral: Word, text: str) -> bool:
    """Return whether a numeral is part of a word: COVID-19, Q3, T20, 4Q."""
    before = text[max(0, numeral.start - 2) : numeral.start]
    after = text[numeral.end : numeral.end + 2]
    return bool(re.search(r"[A-Za-z]$|[A-Za-z][-‐]$", before)) or bool(re.match(r"[A-Z]\b", after))


def is_in_word(numeral: Word, index: SourceIndex, *, text: str) -> bool:
    """Return whether the source has the word that contains a numeral, or the quarter of a year."""
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


def is_rounded(words: Sequence[Word], index: SourceIndex, *, number: Number, text: str) -> bool:
    """Return whether a number is one of the source's, hedged or with fewer digits, or its bound."""
    value = number.value
    near = [candidate for candidate in index.near(value, share=_BOUND) if not _is_year(candidate)]
    hedges = _before(words, number)
    if _is_hedged(value, hedges=hedges, within=near) or _is_rounding(value, near):
        return True
    counted = unit(words, number, text=text)
    return _is_bound(value, counted, hedges=hedges, source=index.text)


def _before(words: Sequence[Word], number: Number) -> frozenset[str]:
    """Return the folded words before a number that may hedge it."""
    return frozenset(word.folded for word in words[max(0, number.first - _REACH) : number.first])


def _is_hedged(value: float, *, hedges: frozenset[str], within: Sequence[float]) -> bool:
    """Return whether a number is hedged, or a bound, and a number of the source matches.

    `hedges` are the folded words before it, and `within` the numbers of the source near it.
    """
    if not hedges.isdisjoint(_NEARLY) and any(
        abs(value - number) <= _ROUNDING * abs(number) for number in within
    ):
        return True
    if not hedges.isdisjoint(_AT_LEAST) and hedges.isdisjoint(_FEWER):
        return any(value <= number <= (1 + _BOUND) * value for number in within)
    if not hedges.isdisjoint(_AT_MOST):
        return any((1 - _BOUND) * value <= number <= value for number in within)
    return False


def _is_rounding(value: float, within: Sequence[float]) -> bool:
    """Return whether a number of two or more digits is one of `within` with fewer digits."""
    if value < 10:  # noqa: PLR2004
        return False
    return any(
        number != value and float(f"{number:.{digits}g}") == value
        for number in within
        for digits in range(2, _DIGITS + 1)
        if abs(number - value) < _ROUNDING * value
    )


def _is_bound(value: float, counted: str, *, hedges: frozenset[str], source: str) -> bool:
    """Return whether a bound includes an exact number of the same unit, up to twice or half.

    ``More than 2`` includes a bound of the source, ``at least 3``, too.
    """
    above = not hedges.isdisjoint(_LOWER) or ("than" in hedges and not hedges.isdisjoint(_GREATER))
    below = not hedges.isdisjoint(_UPPER) or ("than" in hedges and not hedges.isdisjoint(_FEWER))
    stated = quantities(source)
    if not counted or above == below or len(stated) > MOST_STATED:
        return False
    for quantity in stated:
        other = quantity.value
        if quantity.unit != counted or other == value:
            continue
        bounded = _BOUNDED.search(source[max(0, quantity.start - _NEAR) : quantity.start])
        if bounded is None:
            if (value < other <= 2 * value) if above else (value / 2 <= other < value):
                return True
        elif above and bounded["least"] and "than" in hedges and other == value + 1:
            return True
    return False


def is_computed(words: Sequence[Word], index: SourceIndex, *, number: Number, text: str) -> bool:
    """Return whether a number follows from others that the source states."""
    value, start = number.value, words[number.first].start
    counted = unit(words, number, text=text)
    hedges = _before(words, number)
    if counted == "percent" and (
        index.states(value / 100)
        or is_share(value, index)
        or is_percentage(
            value,
            index.text,
            is_hedged=not hedges.isdisjoint(HEDGES),
            is_change=bool(_CHANGE.search(text, max(words[0].start, start - _NEAR), start + _NEAR)),
        )
    ):
        return True
    if value < 1 and index.states(round(100 * value, 6)):
        return True
    nearby = text[max(words[0].start, start - _BESIDE) : min(words[-1].end, start + _BESIDE)]
    return (
        is_count(value, nearby, index.text)
        or is_derived(value, counted, index.text)
        or is_converted(text, start, [index.text])
        or is_gap(value, counted, index.text)
        or start in following(text, words[0].start, words[-1].end, index.text)
        or (value <= _LAST_DAY and is_counted_on(text, start, index.text))
        or _is_age(words, number, text=text, source=index.text)
    )


def _is_age(words: Sequence[Word], number: Number, *, text: str, source: str) -> bool:
    """Return whether a number is an age in a year, or the year: ``He is 34 in 2024``.

    The other is in the same sentence, and the source dates the birth.
    """
    stated = [*numbers([word.folded for word in words])]
    years = [each.value for each in stated if _is_year(each.value)]
    ages = [each.value for each in stated if _may_be_age(words, each, text=text)]
    if _is_year(number.value):
        return any(is_years_after(age, number.value, source) for age in ages)
    return number.value in ages and any(
        is_years_after(number.value, year, source) for year in years
    )


def _may_be_age(words: Sequence[Word], number: Number, *, text: str) -> bool:
    counted = unit(words, number, text=text)
    return counted == "year" or (not counted and number.value >= LEAST)


def _is_year(value: float) -> bool:
    """Return whether a number is more likely a year than one that another was rounded from."""
    return _YEARS[0] <= value < _YEARS[1]


@lru_cache(maxsize=4)
def following(text: str, start: int, end: int, source: str) -> AbstractSet[int]:  # noqa: PLR0917
    """Return the offsets of the numbers in a sentence of `text` that follow from each other.

    Parameters
    ----------
    start, end
        Half-open offsets of the sentence.
    """
    first, stop = (
        bisect_left(quantities(text), at, key=attrgetter("start")) for at in (start, end)
    )
    own = quantities(text)[first:stop]
    stated = quantities(source)
    if not own or len(own) > _MOST or len(stated) > _MOST_STATED:
        return frozenset()
    return frozenset(
        (
            *_products(own, stated, text=text),
            *_rates(own, stated, text=text, source=source),
            *_scaled(quantities(text), stated, text=text),
        )
    )


def _products(own: Sequence[Quantity], stated: Sequence[Quantity], *, text: str) -> Iterator[int]:
    """Yield a count and the product of it with a quantity that the source states.

    ``Two blocks of 60 kilos`` states no product.
    """
    for count, product in permutations(own, 2):
        is_count = count.value.is_integer() and 1 < count.value <= _MOST_TIMES
        if not is_count or not product.unit or count.unit == product.unit:
            continue
        if abs(count.start - product.start) > _FAR or text.endswith(" of ", 0, product.start):
            continue
        if any(
            each.unit == product.unit and isclose(count.value * each.value, product.value)
            for each in stated
        ):
            yield from (count.start, product.start)
    yield from _sums_of_products(own, stated)


def _sums_of_products(own: Sequence[Quantity], stated: Sequence[Quantity]) -> Iterator[int]:
    """Yield two counts and the sum of their products: two adults and three children pay 45."""
    counts = [each for each in own if each.value.is_integer() and 1 < each.value <= _MOST_TIMES]
    for total in own:
        prices = {each.value for each in stated if total.unit and each.unit == total.unit}
        if len(prices) > _MOST_PRICES:
            continue
        for first, second in permutations(counts, 2):
            if total not in {first, second} and any(
                isclose(first.value * price + second.value * other, total.value)
                for price, other in permutations(prices, 2)
            ):
                yield from (first.start, second.start, total.start)


def _rates(
    own: Sequence[Quantity], stated: Sequence[Quantity], *, text: str, source: str
) -> Iterator[int]:
    """Yield the rates that the source states for another period."""
    for rate in own:
        period = _period(text, rate)
        if period and any(
            isclose(rate.value, each.value * factor)
            for each in stated
            if each.unit == rate.unit
            for factor in rate_factors(period, _period(source, each))
        ):
            yield rate.start


def _period(text: str, quantity: Quantity) -> str:
    """Return the word for the period of a rate beside a quantity, or empty."""
    for match in _RATE.finditer(text, quantity.end, quantity.end + 2 * _AROUND):
        word = match["noun"] or match["sign"] or match["adverb"]
        return word.lower()
    before = [*_RATE.finditer(text, max(0, quantity.start - _AROUND), quantity.start)]
    words = [match["adverb"] or match["noun"] for match in before if not match["sign"]]
    return words[-1].lower() if words else ""


def _scaled(own: Sequence[Quantity], stated: Sequence[Quantity], *, text: str) -> Iterator[int]:
    """Yield the numbers of a text if all amounts that it shares with the source are scaled alike.

    A length of time need not be, because a larger cake does not bake much longer.
    """
    if len(own) > _MOST_SCALED:
        return
    least = _SCALED if _SCALING.search(text) else _ALL_SCALED
    amounts = [
        each for each in own if not _INSTEAD.search(text[max(0, each.start - _AROUND) : each.start])
    ]
    by_unit: dict[str, set[float]] = {}
    for each in stated:
        by_unit.setdefault(each.unit, set()).add(each.value)
    values = {each.value for each in stated}
    for factor in _FACTORS:
        scaled = [
            each
            for each in amounts
            if any(isclose(each.value, factor * value) for value in by_unit.get(each.unit, ()))
        ]
        if len(scaled) < min(least, _SCALED):
            continue
        starts = {each.start for each in scaled}
        counts = {
            each.start
            for each in amounts
            if each.unit not in by_unit
            and any(isclose(each.value, factor * value) for value in values)
        }
        kept = any(
            each.unit
            and each.unit in by_unit
            and each.start not in starts
            and SIZES.get(each.unit, ("", 0.0))[0] != "time"
            for each in amounts
        )
        if not kept and len(starts | counts) >= least:
            yield from starts | counts
            return
