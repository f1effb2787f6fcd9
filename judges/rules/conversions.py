"""Conversions: the same quantity in another unit, and the time between two times of day."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from types import MappingProxyType

from spanjury.judges.rules.quantities import Quantity
from spanjury.judges.text.stems import stem

_SIZES = """
time: second sec secs 1 / minute minutes min mins 60 / hour hours hr hrs h 3600 / day days 86400
time: week weeks 604800
calendar: month months 1 / year years yr yrs 12 / decade decades 120 / century centuries 1200
length: mm millimetre millimeter 1 / cm centimetre centimeter 10 / metre meter metres meters 1000
length: km kilometre kilometer kilometres kilometers 1000000
weight: mg milligram 1 / g gram grams gramme grammes 1000 / kg kilo kilos kilogram 1000000
weight: tonne tonnes 1000000000
volume: ml millilitre milliliter 1 / cl centilitre centiliter 10 / l litre liter litres liters 1000
data: kb kilobyte 1 / mb megabyte 1000 / gb gigabyte 1000000 / tb terabyte 1000000000
"""
_IN_WORDS = re.compile(
    r"\b(half an?|a quarter of an?|an?)\s+(hour|minute|day|week|month|year|decade|century|litre"
    r"|liter|kilo|kilometre|kilometer|metre|meter)\b",
    re.IGNORECASE,
)
_PARTS = MappingProxyType({"half": 0.5, "quarter": 0.25})
_CLOCK = re.compile(r"(?<![\d:.,])([01]?\d|2[0-4]):([0-5]\d)(?![\d:])")
_MOST_TIMES = 20  # times of day beyond which any gap is between some two
_DAY, _HOUR = 24 * 60, 60  # minutes


def _sizes() -> Iterator[tuple[str, tuple[str, float]]]:
    for line in _SIZES.strip().splitlines():
        dimension, _, rest = line.partition(":")
        for part in rest.split("/"):
            *names, size = part.split()
            for name in names:
                yield stem(name), (dimension, float(size))


_SIZE: Mapping[str, tuple[str, float]] = MappingProxyType(dict(_sizes()))
"""Stem of a unit -> its dimension, and its size in the dimension's least unit."""


def is_converted(value: float, unit: str, stated: Sequence[Quantity], *, source: str) -> bool:
    """Say whether the source states this quantity in another unit, as half an hour for 30 minutes.

    Parameters
    ----------
    unit
        Stem of the unit of `value`; no other unit is its equal where it is empty.
    stated
        The quantities of `source`.
    """
    if unit not in _SIZE:
        return False
    dimension, size = _SIZE[unit]
    amounts = [(quantity.value, quantity.unit) for quantity in stated if quantity.unit != unit]
    for amount, other in (*amounts, *_in_words(source)):
        its = _SIZE.get(other)
        if its and its[0] == dimension and abs(amount * its[1] - value * size) <= 1e-9 * size:
            return True
    return dimension == "time" and value * size / 60 in _gaps(source)


@lru_cache(maxsize=4)
def _in_words(source: str) -> tuple[tuple[float, str], ...]:
    """Return the quantities that stand without a number: an hour, half a year."""
    return tuple(
        (next((part for word, part in _PARTS.items() if word in much.lower()), 1.0), stem(unit))
        for much, unit in ((much, unit.lower()) for much, unit in _IN_WORDS.findall(source))
    )


@lru_cache(maxsize=4)
def _gaps(source: str) -> frozenset[int]:
    """Return the minutes between any two times of day, the later before or after midnight."""
    times = {int(hour) * _HOUR + int(minute) for hour, minute in _CLOCK.findall(source)}
    if len(times) > _MOST_TIMES:
        return frozenset()
    gaps = {abs(later - time) for time, later in combinations(times, 2)}
    return frozenset((*gaps, *(_DAY - gap for gap in gaps)))
