"""Numbers that follow from a source: by arithmetic, as a share in words, or as a count of a list.

The more numbers a source has, the more follow by chance. So most rules combine numbers of one
sentence, one unit or one column of a table, and none reads a source with very many.
"""

import csv
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations, groupby, permutations
from math import isclose
from types import MappingProxyType

from spanjury.judges.rules.alignment.record import number_of_cell, records
from spanjury.judges.rules.conversions import gaps
from spanjury.judges.rules.quantities import Quantity, quantities
from spanjury.judges.rules.source_index import SourceIndex
from spanjury.judges.text.kept import KeptByText
from spanjury.judges.text.lexicon import MONTHS
from spanjury.judges.text.numbers import UNITS
from spanjury.judges.text.stems import stem

MOST_STATED = 400
"""Maximum quantities of a source from which numbers are derived."""
_MOST_TERMS = 60  # maximum quantities of one unit: with more, any number is some difference
_MOST_COMPUTED = 40  # maximum quantities of a source that are combined with each other
_MOST_ROWS = 12  # maximum numbers of a column that are combined with each other
_COMPARED_COUNTS = 4  # maximum counts of a sentence whose ratios are computed
_FACTORS = (2.0, 3.0, 4.0, 7.0, 10.0, 12.0, 24.0, 60.0, 100.0)
"""Factors that words state: twice, a quarter, a week, a tenth, a dozen, a day, a minute."""
_DECIMALS = 6  # decimals to which results are compared
_PERCENTAGE = 1.5  # maximum percentage points of a hedged percentage from the computed one
LEAST = 13
"""Smallest number that small counts do not give by chance."""
_SINCE = re.compile(r"\bsince (?:\w+ ){0,2}(\d{4})\b", re.IGNORECASE)
_TODAY = range(2000, 2036)  # years in which a text may have been written
_BEGUN = re.compile(
    r"\b(?:born|built|established|founded|launched|opened|since)\b[^.;\n\d]{0,40}?"
    r"(?:\d{1,2} [A-Z][a-z]+ )?(?P<year>[12]\d{3})\b"
)
"""A year from which years are counted."""
_AGE = 120  # maximum years between two dates that make an age
_NEAR = 60  # code points around the numbers of a sentence
_TIMES = re.compile(
    r"\b(?:times|each|per|every|apiece|worth"
    r"|an? (?:second|minute|hour|day|night|week|month|year|head|person|piece))\b",
    re.IGNORECASE,
)
_COMPARED = frozenset(("", "more", "less", "fewer"))  # instead of a unit
_MONTHS = frozenset(map(stem, MONTHS))
_LAST_DAY = 31
_TIME = frozenset(map(stem, ("year", "years", "aged", "age", "decade", "anniversary")))
_LENGTHS = frozenset(map(stem, ("hour", "minute", "min", "h")))
_CLOCK = re.compile(
    r"(?:\b(?:after|and|at|before|between|from|till|to|until)\s|[–—-]\s?)"
    r"(?:[01]?\d|2[0-4]):[0-5]\d(?![\d:])|\b(?:[01]?\d|2[0-4]):[0-5]\d(?=\s?[–—-]|\s?[ap]\.?m\b)",
    re.IGNORECASE,
)
"""A time of day, and not the result of a match."""
_HOURLY = re.compile(r"\b(?:(?:a|an|each|every|per) hour|hourly)\b|/ ?h\b", re.IGNORECASE)
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
_SPEAKER = re.compile(r"^[ \t]*(?:[-*•#]\s*)?([^\W\d_][\w .'’-]{0,30}):\s", re.MULTILINE)
_COUNTED = range(2, 13)  # range of counts made by a writer
_begun = KeptByText(
    lambda source: frozenset(float(each["year"]) for each in _BEGUN.finditer(source))
)
"""Return the years of births and beginnings."""
_speakers = KeptByText(lambda source: len({*_SPEAKER.findall(source)}))
"""Return the number of different speakers of a dialogue."""
_SEPARATORS = ",;\t"
_LEAST = 3  # minimum lines of a table that separators form
_MOST = 2000  # maximum lines of such a table


def is_derived(value: float, unit: str, source: str) -> bool:
    """Return whether `value` of `unit`, a stem, can be computed from the quantities of `source`.

    It may be a sum, a difference or a mean of quantities of one unit, of one column, or of one
    sentence if one of them has the unit; the length of a column; an age; a percentage of a
    quantity, or that quantity changed by it; a product, if the source says "each", "a year" or the
    like; the cost of the hours between two times; or a fraction of a quantity next to it: two
    thirds of the 1,200.
    """
    if any(_sums_up(value, unit, column) for column in columns(source)):
        return True
    stated = _terms(unit, source)
    if len(stated) > MOST_STATED:
        return False
    years = sorted({each.value for each in stated if each.unit == "year" and each.value > _AGE})
    spans = {abs(a - b) for a, b in combinations(years, 2)} if unit in _TIME else frozenset()
    if not spans.isdisjoint((value, value * 10)):
        return True
    if value >= LEAST and unit and _is_percent_of(value, unit, stated):
        return True
    of_unit = [quantity.value for quantity in stated if unit and quantity.unit == unit]
    if _combines(value, of_unit) or _is_hourly(value, of_unit, source):
        return True
    return any(
        _adds_up(value, unit, sentence)
        or _multiplies(value, unit, sentence, stated=stated, source=source)
        or _is_part(value, sentence, source=source)
        for sentence in _grouped(stated, by="sentence").values()
    )


def is_percentage(value: float, source: str, *, is_hedged: bool, is_change: bool) -> bool:
    """Return whether `value` is a share, or a change in percent, of two counts of `source`.

    The counts are in one sentence without a percentage, or are the only two of a unit; from many,
    any percentage would follow. It is rounded to its last digit or, if hedged, by 1.5 percentage
    points.
    """
    stated = quantities(source)
    if len(stated) > MOST_STATED:
        return False
    by_unit = _grouped([each for each in stated if each.unit], by="unit")
    sentences = _grouped(stated, by="sentence").values()
    groups = [group for group in sentences if all(each.unit != "percent" for each in group)]
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


def is_share(value: float, index: SourceIndex) -> bool:
    """Return whether the source states a percentage in words, such as half for 50%.

    Fractions and ratios count, rounded or truncated to a whole percentage: two thirds, three in
    ten.
    """
    if any(stem(word) in index.where for word in _PARTS.get(value, ())):
        return True
    return any(abs(value - 100 * share) < 1 for share in _shares(index.text))


def is_count(value: float, sentence: str, source: str) -> bool:
    """Return whether a small number counts a list in the sentence, or the source's speakers."""
    if value not in _COUNTED:
        return False
    return value in {*_counts(sentence)} or value == _speakers(source)


def is_computable(value: float, unit: str, source: str) -> bool:
    """Return whether `value` of `unit` can be computed from one or two quantities of `source`.

    Their units are ignored. Such a number may be right, so it proves no error.
    """
    stated = _terms(unit, source)[:_MOST_COMPUTED]
    values = {round(quantity.value, _DECIMALS) for quantity in stated}
    others = chain(_multiples(value), *(_others(value, held) for held in values))
    return not values.isdisjoint(round(other, _DECIMALS) for other in others)


def _is_hourly(value: float, rates: Sequence[float], source: str) -> bool:
    """Return whether one of `rates` gives `value` from one time of day to another.

    The source must have words for a rate per hour.
    """
    return bool(rates and _HOURLY.search(source)) and any(
        isclose(rate * minutes / 60, value) for minutes in gaps(source) for rate in rates
    )


def _terms(unit: str, source: str) -> Sequence[Quantity]:
    """Return the quantities of `source` from which one of `unit` may be computed.

    Times of day make nothing but lengths of time: the 10 and the 30 of 10:30 are no 40 euros.
    """
    return quantities(source) if unit in _LENGTHS else _without_times(source)


def _apart_from_times(source: str) -> Iterator[Quantity]:
    clocks = [match.span() for match in _CLOCK.finditer(source)]
    for quantity in quantities(source):
        if not any(start <= quantity.start < end for start, end in clocks):
            yield quantity


_without_times = KeptByText(lambda source: tuple(_apart_from_times(source)))


def _sums_up(value: float, unit: str, column: Sequence[float]) -> bool:
    """Return whether `value` is the length, unless it is a percentage, total or mean of a column.

    In a short column, it may be the sum or difference of two of its numbers.
    """
    return (
        (value == len(column) and unit != "percent")
        or _is_total(value, column)
        or (len(column) <= _MOST_ROWS and _combines(value, column))
    )


def _is_total(value: float, terms: Sequence[float]) -> bool:
    """Return whether `value` is the sum, or of more than two the rounded mean, of `terms`."""
    total = sum(terms)
    return isclose(total, value) or (
        len(terms) > 2  # noqa: PLR2004
        and abs(value - total / len(terms)) <= _half_digit(value)
    )


def _combines(value: float, terms: Sequence[float], *, whole: bool = True) -> bool:
    """Return whether `value` is a sum or difference of two `terms`, or with `whole` of all."""
    if not 2 <= len(terms) <= _MOST_TERMS:  # noqa: PLR2004
        return False
    return (whole and _is_total(value, terms)) or any(
        isclose(a + b, value) or isclose(abs(a - b), value) for a, b in combinations(terms, 2)
    )


def _grouped(stated: Sequence[Quantity], *, by: str) -> dict[object, list[Quantity]]:
    """Return the quantities that share a field."""
    groups: dict[object, list[Quantity]] = defaultdict(list)
    for quantity in stated:
        groups[getattr(quantity, by)].append(quantity)
    return groups


def _adds_up(value: float, unit: str, sentence: Sequence[Quantity]) -> bool:
    """Return whether `value` is a sum or a difference of quantities in a sentence, except years."""
    by_unit = _grouped(sentence, by="unit")
    if any(
        _combines(value, [term.value for term in terms])
        for other, terms in by_unit.items()
        if not unit or other == unit
    ):
        return True
    if unit not in by_unit and (unit not in _COMPARED or value < LEAST):
        return False
    counts = [quantity.value for quantity in sentence if _is_plain_count(quantity)]
    return unit != "percent" and _combines(value, counts, whole=False)


def _is_plain_count(quantity: Quantity) -> bool:
    """Return whether a quantity is a count: not a percentage, a year or a day of a month."""
    day = quantity.unit in _MONTHS and quantity.value <= _LAST_DAY
    return not day and quantity.unit not in {"percent", "year"}


def _plain_counts(group: Iterable[Quantity]) -> frozenset[float]:
    return frozenset(each.value for each in group if _is_plain_count(each))


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
    return (
        value >= LEAST
        and _TIMES.search(_around(sentence, source)) is not None
        and any(
            isclose(factor.value * other.value, value)
            for factor in sentence
            for other in (stated if unit and factor.unit == unit else sentence)
            if factor is not other
        )
    )


def _around(sentence: Sequence[Quantity], source: str) -> str:
    """Return the text that contains the quantities of a sentence, and some on either side."""
    return source[max(0, sentence[0].start - _NEAR) : sentence[-1].end + _NEAR]


def _is_part(value: float, sentence: Sequence[Quantity], *, source: str) -> bool:
    """Return whether `value` is a fraction, stated in words, of a plain count in one sentence.

    It may be rounded or truncated to an integer.
    """
    if value < LEAST or not value.is_integer():
        return False
    around = _around(sentence, source)
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


def _half_digit(value: float) -> float:
    """Return half of the unit of the last decimal of a number: 0.05 for 67.5, 0.5 for 67."""
    decimals = f"{value:.{_DECIMALS}f}".rstrip("0").partition(".")[2]
    return 0.5 * 10.0 ** -len(decimals) + 1e-9


def is_years_after(length: float, year: float, source: str) -> bool:
    """Return whether `year` is `length` years after a birth or a beginning that `source` dates.

    Before a birthday, it is one more.

    Examples
    --------
    >>> is_years_after(34, 2024, "Anna Berg was born in 1990.")
    True
    """
    return length <= _AGE and not _begun(source).isdisjoint({year - length, year - length - 1})


def may_reach_today(value: float, counted: str, source: str) -> bool:
    """Return whether `value` years after a "since" of `source` may be the year of the text."""
    return counted == "year" and any(int(year) + value in _TODAY for year in _SINCE.findall(source))


def _multiples(value: float) -> Iterator[float]:
    """Yield the numbers of which `value` is a multiple or a part that words can state."""
    yield 100.0 - value
    yield from (number for factor in _FACTORS for number in (value / factor, value * factor))


def _others(value: float, held: float) -> Iterator[float]:
    """Yield the numbers that give `value` together with `held`, by arithmetic or as a share."""
    yield from (value - held, held - value, value + held, value * held)
    if held and value:
        yield from (value / held, held / value, 100.0 * value / held, 100.0 - 100.0 * value / held)


def _stated_shares(source: str) -> frozenset[float]:
    """Return the fractions and ratios stated in words: a tenth, two thirds, three in ten."""
    fractions = (
        _count(over) / _DENOMINATORS[under.lower().removesuffix("s")]
        for over, under in _FRACTION.findall(source)
    )
    ratios = (_count(over) / _count(under) for over, under in _RATIO.findall(source))
    return frozenset((*fractions, *ratios))


_shares = KeptByText(_stated_shares)


def _count(word: str) -> int:
    return int(word) if word.isdecimal() else _COUNTS[word.lower()]


def _counts(text: str) -> Iterator[int]:
    """Yield the number of items of each list in `text`."""
    for match in _LIST.finditer(text):
        closed = bool(_LAST_COMMA.search(match.group()))  # there is a comma before the last "and"
        yield match.group().count(",") + (1 if closed else 2)
    if _PAIR.search(text):
        yield 2


def _columns(text: str) -> tuple[Sequence[float], ...]:
    columns: Mapping[object, list[float | None]] = defaultdict(list)
    for record in records(text).records:
        for field in record.fields:
            columns[record.group, field.key].append(number_of_cell(field.value.strip()))
    cells = [*columns.values(), *_separated(text)]
    numbers = ([value for value in column if value is not None] for column in cells)
    return tuple(
        column for column, held in zip(numbers, cells, strict=True) if len(column) == len(held) > 1
    )


columns = KeptByText(_columns)
"""Return the columns of numbers of a text: the values of one key or of one place in all rows."""


def _separated(text: str) -> Iterator[list[float | None]]:
    """Yield the columns of consecutive lines with equally many separators, without a header."""
    for separator in _SEPARATORS:
        if text.count(separator) < _LEAST:
            continue
        for count, group in groupby(text.splitlines(), key=lambda line: line.count(separator)):
            lines = [*group]
            if not count or not _LEAST <= len(lines) <= _MOST:
                continue
            try:
                rows = [*csv.reader(lines, delimiter=separator, skipinitialspace=True)]
            except csv.Error:  # a cell that is too long
                continue
            for column in zip(*rows, strict=False):
                first, *others = (number_of_cell(cell.strip()) for cell in column)
                yield others if first is None else [first, *others]
