"""Units of measure: dimensions, sizes and words."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from spanjury.judges.text.stems import stem

_SIZES = """
time: second sec secs 1 / minute minutes min mins 60 / hour hours hr hrs h 3600 / day days 86400
time: week weeks 604800 / fortnight fortnights 1209600
calendar: month months 1 / year years yr yrs 12 / decade decades 120 / century centuries 1200
length: mm millimetre millimeter 1 / cm centimetre centimeter 10 / metre meter metres meters 1000
length: km kilometre kilometer kilometres kilometers 1000000 / mile miles mph 1609344
length: inch inches 25.4 / foot feet ft 304.8 / yard yards 914.4
weight: mg milligram 1 / g gram grams gramme grammes 1000 / kg kilo kilos kilogram 1000000
weight: tonne tonnes 1000000000 / ounce ounces oz 28349.5 / pound pounds lb lbs 453592.37
volume: ml millilitre milliliter 1 / cl centilitre centiliter 10 / l litre liter litres liters 1000
area: hectare hectares 10000 / acre acres 4046.86
data: kb kilobyte 1 / mb megabyte 1000 / gb gigabyte 1000000 / tb terabyte 1000000000
"""
METRE = ("length", 1000.0)
"""Dimension and size of a metre, whose sign "m" may also mean a million."""


def _sizes() -> Iterator[tuple[str, tuple[str, float]]]:
    for line in _SIZES.strip().splitlines():
        dimension, _, rest = line.partition(":")
        for part in rest.split("/"):
            *names, size = part.split()
            for name in names:
                yield name, (dimension, float(size))


SIZES: Mapping[str, tuple[str, float]] = MappingProxyType(
    {stem(name): size for name, size in _sizes()}
)
"""Stem of a unit -> its dimension, and its size in the dimension's smallest unit."""

MATERIAL = frozenset(
    name for name, (dimension, _) in _sizes() if dimension not in {"time", "calendar"}
)
"""Words for units of length, weight, volume and data: a number before one is no year."""

_NOUNS = "second minute hour day night week fortnight month quarter year".split()  # noqa: SIM905
_ADVERBS: Mapping[str, str] = MappingProxyType(
    dict(
        pair.split(":")
        for pair in """hourly:hour daily:day weekly:week fortnightly:fortnight monthly:month
        quarterly:quarter annual:year annually:year yearly:year""".split()  # noqa: SIM905
    )
)
"""Adverb or adjective for the period of a rate -> the period."""
PERIOD, PERIODIC = "|".join(_NOUNS), "|".join(_ADVERBS)
"""Patterns of the nouns, and of the adverbs, for a period, in lower case."""
_SHORTER = """
minute second 60 / hour minute 60 / day hour 24 / week day 7 / week night 7 / month day 30 31
/ month week 4 / quarter month 3 / year day 365 366 / year week 52 / year month 12 / year quarter 4
"""
_LENGTHS: Mapping[tuple[str, str], tuple[float, ...]] = MappingProxyType(
    {
        (period, shorter): tuple(map(float, numbers))
        for period, shorter, *numbers in map(str.split, _SHORTER.split("/"))
    }
)
"""Two periods -> how many of the second the first has."""


def rate_factors(period: str, other: str) -> Sequence[float]:
    """Return the factors by which a rate per `other` becomes one per `period`.

    Both are words for periods in lower case; empty if no factor is usual.

    Examples
    --------
    >>> rate_factors("annual", "month"), rate_factors("day", "week")
    ((12.0,), (0.14285714285714285,))
    """
    first, second = _ADVERBS.get(period, period), _ADVERBS.get(other, other)
    longer = tuple(1 / length for length in _LENGTHS.get((second, first), ()))
    return _LENGTHS.get((first, second), longer)
