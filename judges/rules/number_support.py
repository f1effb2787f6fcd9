"""Support of numbers: whether the source states them, or they follow from stated ones."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, permutations
from math import isinf
from types import MappingProxyType

from spanjury.judges.rules.columns import columns
from spanjury.judges.rules.conversions import is_converted, shifted_times
from spanjury.judges.rules.counted_days import is_counted_on, is_gap
from spanjury.judges.rules.numbers import SHORT_SCALES, UNITS, Number
from spanjury.judges.rules.quantities import (
    ABOUT,
    Quantity,
    hours_after_noon,
    other_readings,
    quantities,
    readings,
    spoken_times,
    unit,
    whole_number,
)
from spanjury.judges.rules.sentence_numbers import following
from spanjury.judges.rules.source_index import SourceIndex
from spanjury.judges.text.lexicon import MONTHS
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
_ROUGHLY = ABOUT | {"almost", "nearly", "over", "under", "than", "just"}
_PERCENTAGE = 1.5  # maximum percentage points of a hedged percentage from the computed one
_COMPARED_COUNTS = 4  # maximum counts of a sentence whose ratios are computed
_CHANGE = re.compile(
    r"\b(?:increas|ris(?:e|ing)|rose|gr[eo]w|gain|jump|climb|f[ae]ll|drop|declin|decreas|reduc|cut"
    r"|lower|higher|more|less|fewer|up\b|down\b|shr[aiu]nk|los[est]|cheaper|dearer|surg|plung)",
    re.IGNORECASE,
)
"""Words that make a percentage one of a change."""
_ROUNDING = 0.1  # maximum relative distance of a hedged number from the source's
_BOUND = 0.25  # the same for a bound: "more than 40" of 45; an upper limit for all rounding
_MOST_TERMS = 60  # maximum quantities of one unit: with more, any number is some difference
_MOST_COMPUTED = 40  # maximum quantities of a source that are combined with each other
_FACTORS = (2.0, 3.0, 4.0, 7.0, 10.0, 12.0, 24.0, 60.0, 100.0)
"""Factors that words state: twice, a quarter, a week, a tenth, a dozen, a day, a minute."""
_MOST_ROWS = 12  # maximum numbers of a column that are combined with each other
_DECIMALS = 6  # decimals to which results are compared
_MOST_STATED = 400  # maximum quantities of a source from which numbers are derived
_AGE = 120  # maximum years between two dates that make an age
_DIGITS = 3  # maximum significant digits of a rounded number
_LEAST = 13  # smallest number that small counts do not give by chance
_TIMES = re.compile(
    r"\b(?:times|each|per|every|apiece|worth"
    r"|an? (?:second|minute|hour|day|night|week|month|year|head|person|piece))\b",
    re.IGNORECASE,
)
_COMPARED = frozenset(("", "more", "less", "fewer"))  # instead of a unit
_MONTHS = frozenset(map(stem, MONTHS))
_LAST_DAY = 31
_NEAR = 60  # code points around the numbers of a sentence
_TIME = frozenset(map(stem, ("year", "years", "aged", "age", "decade", "anniversary")))
_PART_WORDS = "half third quarter fifth sixth seventh eighth ninth tenth"
_PARTS: Mapping[float, tuple[str, ...]] = MappingProxyType(
    {
        25.0: ("quarter", "fourth"),
        50.0: ("half", "halves"),
        75.0: ("quarters",),
        100.0: ("all", "every", "perfect", "full"),
    }
)
_COUNTS: Mapping[str, int] = MappingProxyType(
    {
        "a": 1,
        "an": 1,
        **{word: number for word, number in UNITS.items() if number in range(1, 13)},
    }
)
_DENOMINATORS: Mapping[str, int] = MappingProxyType(
    {word: number for number, word in enumerate(_PART_WORDS.split(), start=2)}
)
_FRACTION = re.compile(
    rf"\b({'|'.join(_COUNTS)})[ -]({'|'.join(_DENOMINATORS)})s?\b", re.IGNORECASE
)
_HALF = re.compile(r"\bhalf\b", re.IGNORECASE)
_COUNT = rf"(?:[1-9]\d{{0,2}}|{'|'.join([*_COUNTS][2:])})"
_RATIO = re.compile(
    rf"\b({_COUNT})(?: \w+)? (?:in|out of|of)(?: every)? ({_COUNT})\b", re.IGNORECASE
)
_LIST = re.compile(r"\w+(?:,[ \w'’.-]{1,40}){1,10},? (?:and|or|und|et|y) \w+")
_LAST_COMMA = re.compile(r",\s*(?:and|or)\b")
_PAIR = re.compile(r"\b[A-Z]\w+ and [A-Z]\w+")
_SPEAKER = re.compile(r"^\s*(?:[-*•#]\s*)?([^\W\d_][\w .'’-]{0,30}):\s", re.MULTILINE)
_COUNTED = range(2, 13)  # range of counts made by a writer


def is_hedged(value: float, *, hedges: frozenset[str], within: Sequence[float]) -> bool:
    """Return whether a number is hedged, or a bound, and a number of the source matches.

    Parameters
    ----------
    hedges
        The folded words before it.
    within
        The numbers of the source that are near it.
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


def is_rounding(value: float, within: Sequence[float]) -> bool:
    """Return whether a number of two or more digits is one of `within` with fewer digits."""
    if value < 10:  # noqa: PLR2004
        return False
    return any(
        number != value and float(f"{number:.{digits}g}") == value
        for number in within
        for digits in range(2, _DIGITS + 1)
        if abs(number - value) < _ROUNDING * value
    )


def is_derived(value: float, unit: str, stated: Sequence[Quantity], *, source: str) -> bool:
    """Return whether `value` can be computed from `stated`, the quantities of `source`.

    It may be a sum or a difference of two quantities of one unit, or of one sentence if one of them
    has the unit; the sum of all in a sentence; an age; a product, if the source says "each",
    "a year" or the like; or a fraction of a quantity next to it: two thirds of the 1,200.
    """
    if len(stated) > _MOST_STATED:
        return False
    if unit in _TIME and _is_span_of_years(value, stated):
        return True
    if value >= _LEAST and unit and _is_percent_of(value, unit, stated):
        return True
    of_unit = [quantity.value for quantity in stated if unit and quantity.unit == unit]
    return _combines(value, of_unit) or any(
        _adds_up(value, unit, sentence)
        or _multiplies(value, unit, sentence, stated=stated, source=source)
        or _is_part(value, sentence, source=source)
        for sentence in _by_sentence(stated)
    )


def _by_sentence(stated: Sequence[Quantity]) -> list[list[Quantity]]:
    sentences: dict[int, list[Quantity]] = defaultdict(list)
    for quantity in stated:
        sentences[quantity.sentence].append(quantity)
    return [*sentences.values()]


def _adds_up(value: float, unit: str, sentence: Sequence[Quantity]) -> bool:
    """Return whether `value` is a sum or a difference of quantities in a sentence, except years."""
    by_unit: dict[str, list[float]] = defaultdict(list)
    for quantity in sentence:
        by_unit[quantity.unit].append(quantity.value)
    if any(
        _combines(value, terms) for other, terms in by_unit.items() if not unit or other == unit
    ):
        return True
    if unit not in by_unit and (unit not in _COMPARED or value < _LEAST):
        return False
    counts = [quantity.value for quantity in sentence if _is_plain_count(quantity)]
    return unit != "percent" and _combines(value, counts, whole=False)


def _is_plain_count(quantity: Quantity) -> bool:
    """Return whether a quantity is a count: not a percentage, a year or a day of a month."""
    day = quantity.unit in _MONTHS and quantity.value <= _LAST_DAY
    return not day and quantity.unit not in {"percent", "year"}


def _multiplies(
    value: float,
    unit: str,
    sentence: Sequence[Quantity],
    *,
    stated: Sequence[Quantity],
    source: str,
) -> bool:
    """Return whether `value` is a product of two quantities, one in a sentence with, say, "each".

    The other is in the same sentence, or anywhere if the first has the unit of `value`.
    """
    if value < _LEAST or not _TIMES.search(
        source, max(0, sentence[0].start - _NEAR), sentence[-1].end + _NEAR
    ):
        return False
    return any(
        _same(factor.value * other.value, value)
        for factor in sentence
        for other in (stated if unit and factor.unit == unit else sentence)
        if factor is not other
    )


def _is_percentage(
    value: float, stated: Sequence[Quantity], *, is_hedged: bool, is_change: bool
) -> bool:
    """Return whether `value` is a share, or a change in percent, of two counts of a source.

    The counts are in one sentence without a percentage, or are the only two of a unit; from many,
    any percentage would follow. It is rounded to its last digit or, if hedged, by 1.5 percentage
    points.
    """
    if len(stated) > _MOST_STATED:
        return False
    by_unit: dict[str, list[Quantity]] = defaultdict(list)
    for quantity in stated:
        by_unit[quantity.unit].append(quantity)
    by_unit.pop("", None)
    groups = [group for group in _by_sentence(stated) if all(q.unit != "percent" for q in group)]
    candidates = [
        *((_plain_counts(group), _COMPARED_COUNTS) for group in groups),
        *((_plain_counts(group), 2) for group in by_unit.values()),
    ]
    margin = _PERCENTAGE if is_hedged else _half_digit(value)
    return any(
        abs(value - 100 * (abs(part - whole) if is_change else part) / whole) <= margin
        for counts, most in candidates
        if len(counts) <= most
        for part, whole in permutations(counts, 2)
        if whole and (is_change or part < whole)
    )


def _plain_counts(group: Iterable[Quantity]) -> frozenset[float]:
    return frozenset(each.value for each in group if _is_plain_count(each))


def _half_digit(value: float) -> float:
    """Return half of the unit of the last decimal of a number: 0.05 for 67.5, 0.5 for 67."""
    decimals = f"{value:.{_DECIMALS}f}".rstrip("0").partition(".")[2]
    return 0.5 * 10.0 ** -len(decimals) + 1e-9


def _sums_up(value: float, source: str) -> bool:
    """Return whether `value` is the length, total or mean of a column of numbers.

    In a short column, it may be the sum or difference of two of its numbers.
    """
    return any(
        value == len(column)
        or _same(sum(column), value)
        or _is_mean(value, column)
        or (len(column) <= _MOST_ROWS and _combines(value, column))
        for column in columns(source)
    )


def _is_mean(value: float, terms: Sequence[float]) -> bool:
    return abs(value - sum(terms) / len(terms)) <= _half_digit(value)


def _is_part(value: float, sentence: Sequence[Quantity], *, source: str) -> bool:
    """Return whether `value` is a fraction, stated in words, of a plain count in one sentence.

    It may be rounded or truncated to an integer.
    """
    if value < _LEAST or not value.is_integer():
        return False
    around = source[max(0, sentence[0].start - _NEAR) : sentence[-1].end + _NEAR]
    shares = {*_shares(around), *((0.5,) if _HALF.search(around) else ())}
    shares.update(each.value / 100 for each in sentence if each.unit == "percent")
    counts = [quantity.value for quantity in sentence if _is_plain_count(quantity)]
    return any(abs(share * count - value) < 1 for share in shares for count in counts)


def _is_percent_of(value: float, unit: str, stated: Sequence[Quantity]) -> bool:
    """Return whether `value` is a percentage of a quantity, or the quantity changed by it.

    The percentage is in the same sentence as the quantity or in one next to it.
    """
    shares = [(each.value / 100, each.sentence) for each in stated if each.unit == "percent"]
    margin = _half_digit(value)
    return any(
        abs(result - value) <= margin
        for quantity in stated
        if quantity.unit == unit
        for share, sentence in shares
        if abs(quantity.sentence - sentence) <= 1
        for result in (
            share * quantity.value,
            (1 - share) * quantity.value,
            (1 + share) * quantity.value,
        )
    )


def _combines(value: float, terms: Sequence[float], *, whole: bool = True) -> bool:
    """Return whether `value` is a sum or difference of two `terms`, or with `whole` of all."""
    if not 2 <= len(terms) <= _MOST_TERMS:  # noqa: PLR2004
        return False
    if whole and (_same(sum(terms), value) or (len(terms) > 2 and _is_mean(value, terms))):  # noqa: PLR2004
        return True
    return any(_same(a + b, value) or _same(abs(a - b), value) for a, b in combinations(terms, 2))


def _same(left: float, right: float) -> bool:
    return abs(left - right) <= 1e-9 * max(1.0, abs(right))


def _is_span_of_years(value: float, stated: Iterable[Quantity]) -> bool:
    years = {quantity.value for quantity in stated if quantity.unit == "year"}
    years = {year for year in years if year > _AGE}
    return any(abs(a - b) in {value, value * 10} for a, b in combinations(sorted(years), 2))


def is_computable(value: float, stated: Sequence[Quantity]) -> bool:
    """Return whether `value` can be computed from one or two quantities of a source.

    Units are ignored. Such a number may be right, so it proves no error.
    """
    values = {round(quantity.value, _DECIMALS) for quantity in stated[:_MOST_COMPUTED]}
    return any(
        not values.isdisjoint(round(other, _DECIMALS) for other in _others(value, held))
        for held in values
    ) or not values.isdisjoint(round(other, _DECIMALS) for other in _multiples(value))


def _multiples(value: float) -> Iterator[float]:
    """Yield the numbers of which `value` is a multiple or a part that words can state."""
    yield 100.0 - value
    for factor in _FACTORS:
        yield value / factor
        yield value * factor


def _others(value: float, held: float) -> Iterator[float]:
    """Yield the numbers that give `value` together with `held`, by arithmetic or as a share."""
    yield from (value - held, held - value, value + held, value * held)
    if held and value:
        yield from (value / held, held / value, 100.0 * value / held, 100.0 - 100.0 * value / held)


def is_share(value: float, index: SourceIndex) -> bool:
    """Return whether the source states a percentage in words, such as half for 50%.

    Fractions and ratios count, rounded or truncated to a whole percentage: two thirds, three in
    ten.
    """
    if any(stem(word) in index.where for word in _PARTS.get(value, ())):
        return True
    return any(abs(value - 100 * share) < 1 for share in _shares(index.text))


@lru_cache(maxsize=4)
def _shares(source: str) -> frozenset[float]:
    """Return the fractions and ratios stated in words: a tenth, two thirds, three in ten."""
    fractions = (
        _count(over) / _DENOMINATORS[under.lower().removesuffix("s")]
        for over, under in _FRACTION.findall(source)
    )
    ratios = (_count(over) / _count(under) for over, under in _RATIO.findall(source))
    return frozenset((*fractions, *ratios))


def _count(word: str) -> int:
    return int(word) if word.isdecimal() else _COUNTS[word.lower()]


def is_count(value: float, sentence: str, source: str) -> bool:
    """Return whether a small number counts a list in the sentence, or the source's speakers."""
    if value not in _COUNTED:
        return False
    return value in {*_counts(sentence)} or value == _speakers(source)


@lru_cache(maxsize=4)
def _speakers(source: str) -> int:
    return len({*_SPEAKER.findall(source)})


def _counts(text: str) -> Iterator[int]:
    """Yield the number of items of each list in `text`."""
    for match in _LIST.finditer(text):
        closed = bool(_LAST_COMMA.search(match.group()))  # there is a comma before the last "and"
        yield match.group().count(",") + (1 if closed else 2)
    if _PAIR.search(text):
        yield 2


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
    before, after = (
        text[max(0, numeral.start - 2) : numeral.start],
        text[numeral.end : numeral.end + 2],
    )
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
    if is_hedged(value, hedges=hedges, within=near) or is_rounding(value, near):
        return True
    counted = unit(words, number, text=text)
    return _is_bound(value, counted, hedges=hedges, source=index.text)


def _before(words: Sequence[Word], number: Number) -> frozenset[str]:
    """Return the folded words before a number that may hedge it."""
    return frozenset(word.folded for word in words[max(0, number.first - _REACH) : number.first])


def _is_bound(value: float, counted: str, *, hedges: frozenset[str], source: str) -> bool:
    """Return whether a bound includes an exact number of the same unit, up to twice or half.

    ``More than 2`` includes a bound of the source, ``at least 3``, too.
    """
    above = not hedges.isdisjoint(_LOWER) or ("than" in hedges and not hedges.isdisjoint(_GREATER))
    below = not hedges.isdisjoint(_UPPER) or ("than" in hedges and not hedges.isdisjoint(_FEWER))
    stated = quantities(source)
    if not counted or above == below or len(stated) > _MOST_STATED:
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
        or _is_percentage(
            value,
            quantities(index.text),
            is_hedged=not hedges.isdisjoint(_ROUGHLY),
            is_change=bool(_CHANGE.search(text, max(words[0].start, start - _NEAR), start + _NEAR)),
        )
    ):
        return True
    if value < 1 and index.states(round(100 * value, _DECIMALS)):
        return True
    nearby = text[max(words[0].start, start - _BESIDE) : min(words[-1].end, start + _BESIDE)]
    stated = quantities(index.text)
    return (
        is_count(value, nearby, index.text)
        or is_derived(value, counted, stated, source=index.text)
        or _sums_up(value, index.text)
        or is_converted(text, start, [index.text])
        or is_gap(value, counted, index.text)
        or start in following(text, words[0].start, words[-1].end, index.text)
        or (value <= _LAST_DAY and is_counted_on(text, start, index.text))
    )


@lru_cache(maxsize=4)
def lowered(source: str) -> str:
    """Return `source` in lower case."""
    return source.lower()


def _is_year(value: float) -> bool:
    """Return whether a number is more likely a year than one that another was rounded from."""
    return _YEARS[0] <= value < _YEARS[1]
