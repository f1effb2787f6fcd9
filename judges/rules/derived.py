"""Numbers that a source does not state and that follow from those it states."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from types import MappingProxyType

from spanjury.judges.rules.quantities import Quantity
from spanjury.judges.text.lexicon import MONTHS
from spanjury.judges.text.stems import stem

_AT_LEAST = frozenset(("above", "beyond", "exceed", "exceeding", "least", "over", "than", "up"))
_AT_MOST = frozenset(("almost", "below", "fewer", "less", "nearly", "than", "under", "up"))
_FEWER = frozenset(("fewer", "less"))
_ABOUT = frozenset(
    ("about", "approximately", "around", "circa", "estimated", "roughly", "some", "ca", "rund")
)
_ROUNDING = 0.1  # distance of a hedged number from the source's, as a share of it
_BOUND = 0.25  # the same for a bound: "more than 40" of 45
_MOST_TERMS = 60  # quantities of one unit beyond which any number is some difference
_MOST_COMPUTED = 40  # quantities of a source that are combined with each other
_FACTORS = (2.0, 3.0, 4.0, 7.0, 10.0, 12.0, 24.0, 60.0, 100.0)
"""Factors that words state: twice, a quarter, a week, a tenth, a dozen, a day, a minute."""
_DECIMALS = 6  # decimals in which two results are equal
_MOST_STATED = 400  # quantities of a source beyond which nothing is derived
_AGE = 120  # years between two dates that make an age
_DIGITS = 3  # significant digits that a rounded number may have
_LEAST = 13  # which no count of a few things makes by chance
_TIMES = re.compile(
    r"\b(?:times|each|per|every|apiece|worth"
    r"|an? (?:second|minute|hour|day|night|week|month|year|head|person|piece))\b",
    re.IGNORECASE,
)
_COMPARED = frozenset(("", "more", "less", "fewer"))  # in place of a unit
_MONTHS = frozenset(map(stem, MONTHS))
_LAST_DAY = 31
_NEAR = 60  # code points around the numbers of a sentence
_TIME = frozenset(map(stem, ("year", "years", "aged", "age", "decade", "anniversary")))
_PARTS: Mapping[float, tuple[str, ...]] = MappingProxyType(
    {
        25.0: ("quarter", "fourth"),
        50.0: ("half", "halves"),
        75.0: ("quarters",),
        100.0: ("all", "every", "perfect", "full"),
    }
)
_LIST = re.compile(r"\w+(?:,[ \w'’.-]{1,40}){1,10},? (?:and|or|und|et|y) \w+")
_LAST_COMMA = re.compile(r",\s*(?:and|or)\b")
_PAIR = re.compile(r"\b[A-Z]\w+ and [A-Z]\w+")
_SPEAKER = re.compile(r"^\s*(?:[-*•#]\s*)?([^\W\d_][\w .'’-]{0,30}):\s", re.MULTILINE)
_COUNTED = range(2, 13)  # counts that a writer makes


def is_hedged(value: float, *, hedges: frozenset[str], within: Sequence[float]) -> bool:
    """Say whether a number is said to be rounded, or a bound, and a number of the source fits.

    Parameters
    ----------
    hedges
        The folded words before it.
    within
        The numbers of the source that are near it.
    """
    if not hedges.isdisjoint(_ABOUT | _AT_LEAST | _AT_MOST) and any(
        abs(value - number) <= _ROUNDING * abs(number) for number in within
    ):
        return True
    if not hedges.isdisjoint(_AT_LEAST) and hedges.isdisjoint(_FEWER):
        return any(value <= number <= (1 + _BOUND) * value for number in within)
    if not hedges.isdisjoint(_AT_MOST):
        return any((1 - _BOUND) * value <= number <= value for number in within)
    return False


def is_rounding(value: float, within: Sequence[float]) -> bool:
    """Say whether a number of two digits or more is one of `within` with fewer digits."""
    if value < 10:  # noqa: PLR2004
        return False
    return any(
        number != value and float(f"{number:.{digits}g}") == value
        for number in within
        for digits in range(2, _DIGITS + 1)
        if abs(number - value) < _ROUNDING * value
    )


def is_derived(value: float, unit: str, stated: Sequence[Quantity], *, source: str) -> bool:
    """Say whether `value` can be computed from `stated`, the quantities of `source`.

    It may be a sum or a difference of two quantities of one unit, or of one sentence of which one
    has the unit; the sum of all in a sentence; an age; or a product, where the source says
    "each", "a year" or the like.
    """
    if len(stated) > _MOST_STATED:
        return False
    if unit in _TIME and _is_span_of_years(value, stated):
        return True
    of_unit = [quantity.value for quantity in stated if unit and quantity.unit == unit]
    return _combines(value, of_unit) or any(
        _adds_up(value, unit, sentence)
        or _multiplies(value, unit, sentence, stated=stated, source=source)
        for sentence in _by_sentence(stated)
    )


def _by_sentence(stated: Sequence[Quantity]) -> list[list[Quantity]]:
    sentences: dict[int, list[Quantity]] = defaultdict(list)
    for quantity in stated:
        sentences[quantity.sentence].append(quantity)
    return [*sentences.values()]


def _adds_up(value: float, unit: str, sentence: Sequence[Quantity]) -> bool:
    """Say whether `value` is a sum or a difference of quantities in one sentence, years aside."""
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
    """Say whether a quantity counts things: it is no percentage, no year and no day of a month."""
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
    """Say whether `value` is a product of two quantities, one in a sentence with "each", say.

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


def _combines(value: float, terms: Sequence[float], *, whole: bool = True) -> bool:
    """Say whether `value` is the sum or difference of two `terms`; with `whole`, the sum of all."""
    if not 2 <= len(terms) <= _MOST_TERMS:  # noqa: PLR2004
        return False
    if whole and _same(sum(terms), value):
        return True
    return any(_same(a + b, value) or _same(abs(a - b), value) for a, b in combinations(terms, 2))


def _same(left: float, right: float) -> bool:
    return abs(left - right) <= 1e-9 * max(1.0, abs(right))


def _is_span_of_years(value: float, stated: Iterable[Quantity]) -> bool:
    years = {quantity.value for quantity in stated if quantity.unit == "year"}
    years = {year for year in years if year > _AGE}
    return any(abs(a - b) in {value, value * 10} for a, b in combinations(sorted(years), 2))


def is_computable(value: float, stated: Sequence[Quantity]) -> bool:
    """Say whether `value` may be computed from one or two quantities of a source.

    Units do not count. Such a number may be right, so it proves no error.
    """
    values = {round(quantity.value, _DECIMALS) for quantity in stated[:_MOST_COMPUTED]}
    return any(
        not values.isdisjoint(round(other, _DECIMALS) for other in _others(value, held))
        for held in values
    ) or not values.isdisjoint(round(other, _DECIMALS) for other in _multiples(value))


def _multiples(value: float) -> Iterator[float]:
    """Yield the numbers of which `value` is a multiple or a part that words state."""
    yield 100.0 - value
    for factor in _FACTORS:
        yield value / factor
        yield value * factor


def _others(value: float, held: float) -> Iterator[float]:
    """Yield the numbers that make `value` together with `held`, by the four rules or a share."""
    yield from (value - held, held - value, value + held, value * held)
    if held and value:
        yield from (value / held, held / value, 100.0 * value / held, 100.0 - 100.0 * value / held)


def is_part(value: float, unit: str, *, holds: Iterable[str]) -> bool:
    """Say whether a percentage is one that the source says in words, as half for 50%."""
    stems = {*holds}
    return unit == "percent" and any(stem(word) in stems for word in _PARTS.get(value, ()))


def is_count(value: float, sentence: str, source: str) -> bool:
    """Say whether a small number counts what the sentence lists, or the speakers of the source."""
    if value not in _COUNTED:
        return False
    return value in {*_counts(sentence)} or value == _speakers(source)


@lru_cache(maxsize=4)
def _speakers(source: str) -> int:
    return len({*_SPEAKER.findall(source)})


def _counts(text: str) -> Iterator[int]:
    """Yield how many things each list of `text` has."""
    for match in _LIST.finditer(text):
        closed = bool(_LAST_COMMA.search(match.group()))  # a comma stands before the last "and"
        yield match.group().count(",") + (1 if closed else 2)
    if _PAIR.search(text):
        yield 2
