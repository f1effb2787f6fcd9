"""Units of measure: dimensions, sizes and words."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

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
