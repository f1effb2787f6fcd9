"""Measures: numbers that a call passes in a unit other than the user's."""

import re
from collections.abc import Iterator, Sequence
from types import MappingProxyType
from typing import NamedTuple

_NUMBER = r"(?<![\w.,])(\d+(?:,\d{3})*(?:\.\d+)?)"
_SIGNS = MappingProxyType({"€": "euro", "$": "dollar", "£": "pound sterling"})


class _Unit(NamedTuple):
    """A unit: its dimension and its size."""

    dimension: str
    size: float


_TABLE = """
money 0.01 cent cents pence penny
money 1 euro euros eur dollar dollars usd gbp sterling
time 0.001 ms millisecond milliseconds
time 1 sec secs second seconds
time 60 min mins minute minutes
time 3600 hr hrs hour hours
time 86400 day days
mass 0.001 gram grams
mass 1 kg kilo kilos kilogram kilograms
mass 0.4536 lb lbs pound pounds
mass 0.02835 oz ounce ounces
mass 1000 ton tons tonne tonnes
length 0.001 mm millimetres millimeters
length 0.01 cm centimetres centimeters
length 1 metre metres meter meters
length 1000 km kilometre kilometres kilometer kilometers
length 1609.344 mile miles mi
length 0.3048 ft foot feet
length 0.0254 inch inches
"""
_UNITS = MappingProxyType(
    {
        name: _Unit(dimension, float(size))
        for dimension, size, *names in map(str.split, _TABLE.strip().splitlines())
        for name in names
    }
)


def other_unit(value: float, *, name: str, asked: Sequence[str]) -> str:
    """Return the user's quantity that has `value` in another unit than that of `name`.

    Both units have the same dimension. Empty if there is none, or if the user also gave it in
    the argument's unit.

    Parameters
    ----------
    name
        Words on the argument; the first unit in them counts.

    Examples
    --------
    >>> other_unit(22, name="weight kg", asked=["A parcel of 22 lbs"])
    '22 lbs'
    """
    own = next((unit for word in _words(name) if (unit := _UNITS.get(word))), None)
    if own is None:
        return ""
    stated = [
        (text, unit.size)
        for number, unit, text in _measures(" ".join(asked))
        if number == value and unit.dimension == own.dimension
    ]
    return stated[0][0] if stated and all(size != own.size for _, size in stated) else ""


def _measures(text: str) -> Iterator[tuple[float, _Unit, str]]:
    """Yield number, unit and words of the quantities in a text."""
    for match in re.finditer(
        rf"([€$£]) ?{_NUMBER}|{_NUMBER}[ -]?([€$£]|[a-z]+)", text, re.IGNORECASE
    ):
        word = match[1] or match[4]
        unit = _UNITS.get(_SIGNS.get(word, word).split()[-1].lower())
        if unit:
            yield float((match[2] or match[3]).replace(",", "")), unit, match.group()


def _words(name: str) -> Sequence[str]:
    return re.findall(r"[a-z]+", name.lower())
