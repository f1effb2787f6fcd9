"""Quantities that a text states in different units: half an hour and 30 minutes."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations, pairwise
from types import MappingProxyType
from typing import NamedTuple

from spanjury.judges.rules.quantities import HEDGES, is_date, quantities
from spanjury.judges.rules.units import METRE, SIZES
from spanjury.judges.text.kept import KeptByText
from spanjury.judges.text.stems import stem
from spanjury.judges.text.words import folded_words

_IN_WORDS = re.compile(
    r"\b(?P<much>half an?|(?:three quarters|a quarter) of an?|an?|one)\s+"
    r"(?P<unit>hour|minute|day|week|fortnight|month|year|decade|century|litre|liter|kilo|kilometre|kilometer|metre|meter)\b"
    r"(?P<half>\s+and\s+a\s+half\b)?",
    re.IGNORECASE,
)
_FRACTIONS = MappingProxyType({"half": 0.5, "quarters": 0.75, "quarter": 0.25})
_METRES = re.compile(r"\d ?m\Z")
_MILLION = 1e6
_DEGREES = re.compile(
    r"(?P<minus>(?<![\w.])[-−])?(?P<value>\d+(?:\.\d+)?)\s?"
    r"(?:°\s?|º\s?|degrees?\s)(?P<scale>[CF])(?:elsius|ahrenheit)?\b"
)
_FREEZING = 32.0  # °F
_NUMERAL = re.compile(r"\d[\d.,]*")
_MONEY = frozenset("£#")  # signs that make a pound one of money
_ROUGH = 0.05  # maximum relative distance of a rounded quantity from the source's in another unit
_WARM = 20.0  # °C that are added to a temperature, since its zero is arbitrary
_REACH = 30  # code points before a quantity that are searched for a hedge
_BETWEEN = re.compile(r"\s?[^\W\d_]*\.?,?\s?(?:and\s)?")
_CLOCK = re.compile(r"(?<![\d:.,])([01]?\d|2[0-4]):([0-5]\d)(?![\d:])")
_MOST_SHIFTED = 24  # maximum times of day to which lengths of time lead: with more, any does
_MOST_TIMES = 20  # maximum times of day: with more, any difference occurs between some two
_DAY, _HOUR = 24 * 60, 60  # minutes


class Measure(NamedTuple):
    """A quantity in the smallest unit of its dimension, with its offsets without the last unit.

    Parameters
    ----------
    size
        The size of its unit; a quantity of two units has that of the first.
    rounding
        Half of its last significant digit; 0 if it has no numeral.
    """

    start: int
    end: int
    dimension: str
    amount: float
    size: float
    rounding: float = 0.0

    def equals(self, other: "Measure", *, is_hedged: bool = False) -> bool:
        """Return whether both are the same quantity.

        In another unit than `other` it may be rounded to its last significant digit, or, if
        `is_hedged`, by 5 %.
        """
        gap = abs(self.amount - other.amount)
        if self.dimension != other.dimension:
            return False
        if gap <= 1e-9 * max(abs(self.amount), abs(other.amount)):
            return True
        base = _WARM if self.dimension == "temperature" else 0.0
        rough = _ROUGH * (abs(other.amount) + base)
        return self.size != other.size and gap <= (
            rough if is_hedged else min(rough, self.rounding)
        )


def _measures(text: str) -> tuple[Measure, ...]:
    single = sorted([*_in_numbers(text), *_in_words(text), *_temperatures(text)])
    joint = (
        first._replace(
            end=second.end,
            amount=first.amount + second.amount,
            rounding=second.rounding,
        )
        for first, second in pairwise(single)
        if first.dimension == second.dimension
        and first.size > second.size
        and _BETWEEN.fullmatch(text, first.end, second.start)
    )
    return (*joint, *single)


measures = KeptByText(_measures)
"""Return the quantities of a text with a unit of `SIZES`; first those of two units: 2 h 30 min."""


def _in_numbers(text: str) -> Iterator[Measure]:
    for quantity in quantities(text):
        start, end = quantity.start, quantity.end
        value = quantity.value
        if _METRES.search(text, start, end):
            (dimension, size), value = METRE, value / _MILLION
        elif quantity.unit in SIZES and not is_date(quantity):
            dimension, size = SIZES[quantity.unit]
        else:
            continue
        if text[max(0, start - 1) : start] not in _MONEY:
            rounding = _last_digit(text[start:end]) * size / 2
            yield Measure(start, end, dimension, value * size, size, rounding)


def _last_digit(written: str) -> float:
    """Return the unit of the last significant digit of a number: 0.1 for 8.4, 10 for 90."""
    numeral = _NUMERAL.match(written)
    if not numeral:
        return 1.0
    whole, _, decimals = numeral.group().replace(",", "").rstrip(".").partition(".")
    if decimals:
        return float(10.0 ** -len(decimals))
    return float(10.0 ** (len(whole) - len(whole.rstrip("0")) if whole.strip("0") else 0))


def _temperatures(text: str) -> Iterator[Measure]:
    """Yield the temperatures in degrees Celsius or Fahrenheit, as degrees Celsius."""
    for match in _DEGREES.finditer(text):
        value, size = float(match["value"]) * (-1 if match["minus"] else 1), 1.0
        if match["scale"] == "F":
            size = 5 / 9
            value = (value - _FREEZING) * size
        start, end = match.span("value")
        rounding = _last_digit(match["value"]) * size / 2
        yield Measure(start, end, "temperature", value, size, rounding)


def _in_words(text: str) -> Iterator[Measure]:
    """Yield the quantities without a numeral: an hour, half a year, an hour and a half."""
    for match in _IN_WORDS.finditer(text):
        much = match["much"].lower()
        share = next((part for word, part in _FRACTIONS.items() if word in much), 1.0)
        dimension, size = SIZES[stem(match["unit"].lower())]
        amount = size * (share + (0.5 if match["half"] else 0.0))
        yield Measure(match.start(), match.end(), dimension, amount, size)


def measure_at(text: str, at: int) -> Measure | None:
    """Return the quantity of `text` with the offset `at`, of two units if it has two."""
    return next((each for each in measures(text) if each.start <= at < each.end), None)


def is_converted(text: str, at: int, sources: Iterable[str]) -> bool:
    """Return whether a source states the quantity of `text` at the offset `at` in any unit.

    In another unit it may be rounded (`Measure.equals`).

    Examples
    --------
    >>> is_converted("It takes 90 minutes.", 9, ["It takes an hour and a half."])
    True
    >>> is_converted("It is 5 km long.", 6, ["It is 3.1 miles long."])
    True
    """
    own = measure_at(text, at)
    if own is None:
        return False
    before = folded_words(text[max(0, own.start - _REACH) : own.start])[-3:]
    is_hedged = not HEDGES.isdisjoint(before)
    return any(
        any(own.equals(other, is_hedged=is_hedged) for other in measures(source))
        or (own.dimension == "time" and own.amount / 60 in gaps(source))
        for source in sources
    )


@lru_cache(maxsize=4)
def shifted_times(source: str) -> Collection[float]:
    """Return the times of day, in minutes, that lie a stated length from a stated time.

    Empty if there are so many that any time may be one of them.

    Examples
    --------
    >>> sorted(shifted_times("The train of 17:50 is 25 minutes late."))
    [1045.0, 1095.0]
    """
    lengths = {each.amount / 60 for each in measures(source) if each.dimension == "time"}
    shifted = {
        (time + sign * length) % _DAY
        for time in _times(source)
        for length in lengths
        for sign in (1, -1)
        if length < _DAY
    }
    return frozenset(shifted if len(shifted) <= _MOST_SHIFTED else ())


def _times(source: str) -> set[int]:
    """Return the times of day, in minutes."""
    return {int(hour) * _HOUR + int(minute) for hour, minute in _CLOCK.findall(source)}


@lru_cache(maxsize=4)
def gaps(source: str) -> Collection[float]:
    """Return the minutes between any two times of day, also across midnight."""
    times = _times(source)
    if len(times) > _MOST_TIMES:
        return frozenset()
    gaps: Sequence[int] = [abs(later - time) for time, later in combinations(times, 2)]
    return frozenset(map(float, (*gaps, *(_DAY - gap for gap in gaps))))
