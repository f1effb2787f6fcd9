"""Units of measurement, by the words and signs that stand for them."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

_UNITS = """
length: metre meter metres meters / kilometre kilometer kilometres kilometers km kms / mile \
miles / foot feet ft / inch inches / yard yards / centimetre centimetres centimeter \
centimeters cm / millimetre millimetres millimeter millimeters mm
weight: gram grams gramme grammes g / kilogram kilograms kilo kilos kg / tonne tonnes ton tons \
/ pound pounds lb lbs / ounce ounces oz / milligram milligrams mg / microgram micrograms mcg
volume: litre litres liter liters l / millilitre millilitres milliliter milliliters ml / \
gallon gallons / pint pints / barrel barrels
time: second seconds sec secs / minute minutes min mins / hour hours hr hrs / day days / week \
weeks / month months / year years yr yrs / decade decades / century centuries
area: acre acres / hectare hectares
energy: watt watts w / kilowatt kilowatts kw / megawatt megawatts mw / gigawatt gigawatts gw
data: kilobyte kilobytes kb / megabyte megabytes mb / gigabyte gigabytes gb / terabyte \
terabytes tb
money: $ dollar dollars usd / £ gbp sterling / € euro euros eur / ¥ yen / rupee rupees / cent \
cents / penny pence
share: percent % / degree degrees / point points
"""


def _units() -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield each word for a unit with its dimension and its name."""
    for line in _UNITS.strip().splitlines():
        dimension, _, rest = line.partition(":")
        for names in rest.split("/"):
            for word in names.split():
                yield word, (dimension, names.split()[0])


UNITS: Mapping[str, tuple[str, str]] = MappingProxyType(dict(_units()))
"""Words for units -> dimension and unit."""
