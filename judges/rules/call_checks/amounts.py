"""Amounts: whether a sum of money follows from texts, and numbers in another unit than the user's.

Money is added to money and taken from money. It is multiplied by counts and shares, and divided by
counts. So 45 does not follow from 40 euros and 5 glasses.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from types import MappingProxyType
from typing import NamedTuple

from spanjury.judges.core.transcript import json_leaves
from spanjury.judges.rules.call_checks.context import containers, number_of
from spanjury.judges.rules.call_checks.numerals import column_sums, data_of, numerals
from spanjury.judges.rules.call_checks.tool_names import stems_of, words_of
from spanjury.judges.rules.quantities import quantities
from spanjury.judges.text.stems import stem

_CURRENCIES = stems_of("euro dollar pound yen rupee franc crown chf sek nok")
_CENTS = stems_of("cent cents pence")
_MONEY = frozenset(
    """price fee cost costs refund payment eur euro euros usd gbp chf deposit gross salary bonus
    discount balance paid tip subtotal shipping tax vat""".split()  # noqa: SIM905
)
"""Words in the names of fields that hold money, whatever the field belongs to."""
_SUMS = frozenset(("amount", "sum", "total", "net", "value", "cents"))
"""Words in the names of fields that hold money if the tool is about money."""
_PAYS = stems_of(
    """refund pay payment transfer charge invoice expense deposit bonus donate
    wire"""
)
"""Words in the names of tools that are about money."""
_RATES = frozenset("percent percentage pct rate share ratio commission discount vat tax".split())  # noqa: SIM905
_SPOKEN = re.compile(r"[€$£]|\b(?:eur|usd|gbp|chf|euros?|dollars?|pounds?|money)\b", re.IGNORECASE)
_EACH = re.compile(r" ?(?:(?:an?|per|every) [a-z]|each\b|apiece\b|/ ?[a-z])", re.IGNORECASE)
"""Words after a price of one."""
_PAID = re.compile(
    r"\b(?:paid|pay|costs?|owed?s?|minus|less|plus|at|spent|gave|got|refund\w*|transfer\w*|charged?"
    r"|worth|price|total|amount|deposit|fee|rent|bill|invoice|was|is|of|only|another) $",
    re.IGNORECASE,
)
"""Words before a number without a unit that is money."""
_AND_MONEY = re.compile(r"(?:, | and | or | plus | minus | to | ?[-–] ?)[€$£]?$", re.IGNORECASE)
_LONGEST = 40  # code points of the word before a number
_MOST = 16  # sums, counts, or rates, from which nearly any other follows
_PERCENT = 100.0
_ROUNDING = 0.0051
_NUMBER = r"(?<![\w.,])(\d+(?:,\d{3})*(?:\.\d+)?)"
_SIGNS = MappingProxyType({"€": "euro", "$": "dollar", "£": "pound sterling"})
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Amounts:
    """The numbers of some texts by kind.

    Parameters
    ----------
    money
        Sums of money, and totals of their columns.
    counts
        Other numbers, and the factors that words such as "half" stand for.
    rates
        Shares, such as 0.19 for 19 %.
    """

    money: tuple[float, ...]
    counts: tuple[float, ...]
    rates: tuple[float, ...]

    def lead_to(self, value: float) -> bool:
        """Return whether `value` is stated or follows; true if very many numbers are stated."""
        if max(len(self.money), len(self.counts), len(self.rates)) > _MOST:
            return True
        amount = abs(value)
        readings = [amount, 100 * amount, *([amount / 100] if amount.is_integer() else [])]
        parts = _products(self.money, self.factors)  # euros may be given as cents
        return any(self._lead_exactly_to(reading, parts) for reading in readings)

    def _lead_exactly_to(
        self, value: float, parts: Mapping[int, Sequence[tuple[float, float]]]
    ) -> bool:
        multiples = _products(self.money, self.counts)
        return (
            any(_is_near(value, total) for total in self._totals())
            or any(
                _holds(parts, value + sign * other, without=other)
                for other in (0.0, *self.money)
                for sign in (1, -1)
            )
            or any(
                _holds(multiples, value - product, without=amount)
                for products in multiples.values()
                for product, amount in products
                if product < value
            )
        )

    def _totals(self) -> Iterator[float]:
        """Yield stated numbers, sums of money, and parts of these."""
        yield from (*self.money, *self.counts)
        for a, b in combinations(self.money, 2):
            yield from (total * part for total in (a + b, a - b) for part in (1, *self._shares))
        for a, b, c in combinations(self.money, 3):
            yield from (a + b + c, a + b - c, a - b + c, a - b - c)
        gaps = {abs(m - n) for m, n in combinations(self.counts, 2)}
        yield from (amount * gap for amount in self.money for gap in gaps)

    @property
    def _shares(self) -> tuple[float, ...]:
        """The factors of money: counts, one by a count, and rates."""
        by_rate = (factor for rate in self.rates for factor in (rate, 1 + rate, 1 - rate))
        return (*self.counts, *(1 / count for count in self.counts if count), *by_rate)

    @property
    def factors(self) -> tuple[float, ...]:
        """The factors of money, and their products in pairs."""
        return (*self._shares, *(m * n for m, n in combinations(self._shares, 2)))


@lru_cache(maxsize=64)
def _products(
    money: tuple[float, ...], factors: tuple[float, ...]
) -> Mapping[int, Sequence[tuple[float, float]]]:
    """Return cents -> the products of money and factors that round to them, each with its sum."""
    products: defaultdict[int, list[tuple[float, float]]] = defaultdict(list)
    for amount in money:
        for factor in factors:
            products[round(100 * amount * factor)].append((amount * factor, amount))
    return products


def _holds(
    products: Mapping[int, Sequence[tuple[float, float]]], value: float, *, without: float
) -> bool:
    """Return whether a product of another sum than `without` is `value` or its negative."""
    cents = round(100 * abs(value))
    return any(
        amount != without and _is_near(abs(value), product)
        for near in (cents - 1, cents, cents + 1)
        for product, amount in products.get(near, ())
    )


def _is_near(value: float, other: float) -> bool:
    return abs(value - abs(other)) < _ROUNDING


def is_money(path: str, *, name: str, description: str) -> bool:
    """Return whether the argument at `path` of the tool called `name` is a sum of money."""
    parts = words_of(path)
    verbs = {stem(part) for part in words_of(name)}
    is_paid = bool(verbs & _PAYS) or bool(_SPOKEN.search(description))
    return bool(parts & (_MONEY | _CENTS) - _RATES) or (bool(parts & _SUMS) and is_paid)


@lru_cache(maxsize=64)
def amounts(texts: tuple[str, ...]) -> Amounts:
    """Return the sums of money in `texts`, and what these can be computed with.

    Examples
    --------
    >>> amounts(("Refund 40 euros, 5 of the glasses were broken.",)).lead_to(45.0)
    False
    >>> amounts(("Two nights at 131 euros each, less 10 %",)).lead_to(235.8)
    True
    """
    money: dict[float, None] = {}
    counts: dict[float, None] = dict.fromkeys(numerals(texts).factors)
    rates: dict[float, None] = {}
    for text in texts:
        data = data_of(text)
        data = text if isinstance(data, str) else data
        for value, kinds in _numbers(data):
            if "rate" in kinds:
                rates[value / _PERCENT if value > 1 else value] = None
            if "money" in kinds:
                money[abs(value)] = None
            if "count" in kinds:
                counts[abs(value)] = None
        money |= dict.fromkeys(_totals(data))
    return Amounts(money=tuple(money), counts=tuple(counts), rates=tuple(rates))


def _numbers(data: object) -> Iterator[tuple[float, frozenset[str]]]:
    """Yield each number with the kinds that it may have: money, a count, a rate."""
    for path, leaf in json_leaves(data):
        if (number := number_of(leaf)) is not None:
            kinds = _kinds(number, is_money=_names_money(path))
            yield number, kinds | {"rate"} if words_of(path) & _RATES else kinds
        elif isinstance(leaf, str):
            yield from _written(leaf)


def _written(text: str) -> Iterator[tuple[float, frozenset[str]]]:
    """Yield each number of a text in words with the kinds that it may have, last number first."""
    may_be_money, start = False, 0
    for quantity in reversed(quantities(text)):
        is_price = quantity.unit in _CURRENCIES | _CENTS or bool(_EACH.match(text, quantity.end))
        between = text[quantity.end : start] if start else ""
        before = text[max(0, quantity.start - _LONGEST) : quantity.start]
        is_paid = not quantity.unit and bool(_PAID.search(before))
        is_listed = may_be_money and bool(_AND_MONEY.fullmatch(between))
        may_be_money = is_price or is_paid or is_listed
        start = quantity.start
        kinds = _kinds(quantity.value, is_money=is_price)
        kinds |= {"money"} if may_be_money else frozenset()
        yield quantity.value, frozenset(("rate",)) if quantity.unit == "percent" else kinds


def _kinds(value: float, *, is_money: bool) -> frozenset[str]:
    """Return the kinds that a number may have; one with decimals may be money anywhere."""
    if is_money:
        return frozenset(("money",))
    return frozenset(("count",) if value.is_integer() else ("count", "money"))


def _totals(data: object) -> Iterator[float]:
    """Yield the totals of the sums of money in the lists of a result, by key."""
    for part in containers(data):
        if not isinstance(part, Mapping):
            yield from column_sums(part, without=lambda path: not _names_money(path))


def _names_money(path: str) -> bool:
    return bool(words_of(path) & (_MONEY | _SUMS))


def nearest(value: float, texts: Sequence[str]) -> str:
    """Return the sum of money nearest to `value`, as a text writes it; empty without one."""
    written = [
        (quantity.value, text[quantity.start : quantity.end])
        for text in texts
        for quantity in quantities(text)
        if quantity.unit in _CURRENCIES
    ]
    return min(written, key=lambda pair: abs(pair[0] - value), default=(0.0, ""))[1]


class _Unit(NamedTuple):
    """A unit: its dimension and its size."""

    dimension: str
    size: float


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
    words = re.findall(r"[a-z]+", name.lower())
    own = next((_UNITS[word] for word in words if word in _UNITS), None)
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
