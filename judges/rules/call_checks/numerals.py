"""Numerals: the numbers that texts state, and whether another number follows from them."""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from types import MappingProxyType

from spanjury.judges.core.transcript import json_leaves
from spanjury.judges.rules.call_checks.clocks import lengths
from spanjury.judges.rules.call_checks.context import containers, is_usable, number_of, parsed
from spanjury.judges.rules.quantities import other_readings, quantities
from spanjury.judges.text.kept import KeptByText
from spanjury.judges.text.numbers import ORDINALS
from spanjury.judges.text.stems import stem
from spanjury.judges.text.words import HUMP

NUMERAL = re.compile(
    r"(?:(?<![\w.,/:-])|(?<=\":))-?"
    r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w/-])|\d+(?:\.\d+)?(?![\w/:-]|\.\d|,\d{3}))"
)
_ANY = re.compile(r"\d+(?:[.,]\d+)*")
TWO_PARTS = re.compile(r"(?<![\d:.])(\d{1,2}):([0-5]\d)(?![\d:])")
_DECADE = re.compile(r"\b(\d{3})0s\b")
_DECADES = MappingProxyType(
    {
        word: 1900 + 10 * number
        for number, word in enumerate(
            "twenties thirties forties fifties sixties seventies eighties nineties".split(),  # noqa: SIM905
            2,
        )
    }
)
_WORDS = (
    (r"\bhalf|halve", (0.5, 1.5)),
    (r"\b(?:double|twice|both|couple|pair|two of us|and back|round[ -]trip)\b", (2.0,)),
    (r"\bthird", (1 / 3, 2 / 3)),
    (r"\bquarter", (0.25, 0.75)),
    (r"\b(?:triple|three times)\b", (3.0,)),
    (r"\bdozen\b", (12.0,)),
    (r"\bweeks?\b", (7.0,)),
    (r"\b(?:years?|months?)\b", (12.0,)),
    (r"\b(?:minutes?|hours?)\b", (60.0, 1 / 60)),
    (r"\b(?:cents?|percent|%)", (100.0, 0.01)),
)
_IDENTITY = re.compile(
    r"(?:^|[._\W]|(?-i:" + HUMP.pattern + r"))"
    r"(?:id|uid|no|nr|num|number|ref|reference|key|code|pin|sku|isbn|iban|phone|tel|mobile|fax|zip"
    r"|postcode|plz|account|card|table|room|gate|platform|track|floor|page|chapter|version|seat"
    r"|coach|carriage|locker|terminal|desk|bay|berth|line|row|ticket|flight|train|bus|tram|invoice"
    r"|order|booking|reservation|house|apartment|lat|latitude|lng|lon|longitude|timestamp|port"
    r"|index)$",
    re.IGNORECASE,
)
"""Ends of names of fields that hold the number of something."""
_SCALES = (
    *(0.01, 100.0, 0.001, 1000.0, 60.0, 1 / 60, 1 / 60000),
    *(24.0, 1 / 24, 7.0, 12.0, 1 / 12, 1 / 7),
)
_UNITS = (1.609344, 0.3048, 0.453592, 28.3495, 2.54, 3.78541, 0.914, 3.6, 0.45359237)
"""Metric sizes of American units, and km/h per metre a second."""
_LEAST_PRECISE = 3  # minimum significant digits of a number that no formula gives by chance
_MOST_PAIRS, _MOST_TRIPLES = 80, 24  # with more numbers, any number follows from some of them
_MOST_SCALED = 12
SMALL = 20
_FEW = 36  # ratios
_WEEKDAY = re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\bweekend\b", re.IGNORECASE)
_LIST = re.compile(r"(?:[\w'’@. -]{1,40},){1,30}[\w'’@. -]{1,40},? (?:and|or) \w+")
_PEOPLE = re.compile(
    r"\b(?:and (?:i|me)|my (?:wife|husband|partner|family|son|daughter|kids?|friends?))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Numerals:
    """The numbers of some texts.

    Parameters
    ----------
    stated
        All numbers, including those within ids and dates.
    amounts
        Numbers that stand alone, with which one can compute.
    sums
        Sums of the values of one key over a list, and the lengths of lists.
    factors
        Factors that words such as "half" stand for.
    counts_people
        Whether a text counts people without a number.
    """

    stated: frozenset[float]
    amounts: tuple[float, ...]
    sums: frozenset[float]
    factors: tuple[float, ...]
    counts_people: bool

    def lead_to(self, value: float) -> bool:
        """Return whether `value` is stated or follows from stated numbers."""
        if abs(value) in self.stated or value in self.sums:
            return True
        if not is_usable(value):
            return False
        if value == int(value) and abs(value) <= SMALL:
            steps = [number * factor for number in self.amounts for factor in self.factors]
            sums = [a + b for a, b in combinations(self.amounts, 2)]
            if self.counts_people:
                steps += [2.0, 3.0, 4.0, *(n + extra for n in self.amounts for extra in (1, 2))]
            ratios = [a / b for a in self.amounts for b in self.amounts if b]
            steps += [a * b for a, b in combinations(self.factors, 2)]  # half a year, in months
            steps += [float(round(n)) for a in self.amounts for n in _degrees(a)]
            steps += (
                [*self.factors, *map(math.ceil, ratios), *map(math.floor, ratios)]
                if len(ratios) <= _FEW
                else self.factors
            )
            sums += [a + b for a, b in combinations(sorted(self.sums)[:_MOST_SCALED], 2)]
            return _any_near(value, (*steps, *sums))
        return _any_near(value, (*self._simple(), *self._pairs(), *self._triples(value)))

    def _simple(self) -> Iterator[float]:
        yield from self.stated
        for number in (*self.amounts, *self.sums):
            yield from (number * factor for factor in (*self.factors, *_SCALES))
            yield from (number * factor for factor in _UNITS)
            yield from (number / factor for factor in _UNITS)
            yield from _degrees(number)
        yield from self.factors

    def _pairs(self) -> Iterator[float]:
        amounts = (*self.amounts, *self.sums)
        if len(amounts) > _MOST_PAIRS:
            return
        for a, b in combinations(amounts, 2):
            yield from (a + b, abs(a - b), a * b, a * b / 100, a * b / 1000, a * b / 60, 10 * a * b)
            yield from (a / b, 100 * a / b) if b else ()
            yield from (b / a, 100 * b / a) if a else ()
            yield from (a * (1 + b / 100), a * (1 - b / 100), b * (1 + a / 100), b * (1 - a / 100))

    def _triples(self, value: float) -> Iterator[float]:
        if len(self.amounts) > _MOST_TRIPLES:
            return
        for a, b, c in combinations(self.amounts[:_MOST_SCALED], 3):  # a recipe for more people
            for x, y, z in ((a, b, c), (a, c, b), (b, c, a)):
                yield from (x * y / z * scale for scale in (1.0, 1000.0, 0.001) if z)
        if _digits(value) < _LEAST_PRECISE:
            return
        for a, b, c in combinations(self.amounts, 3):
            yield from (a * b * c / 60, a * b * c / 1000)
        yield from of_triples(self.amounts)
        yield from of_quadruples(self.amounts[:_MOST_SCALED])


def of_triples(numbers: Sequence[float]) -> Iterator[float]:
    """Yield what follows from any three of some numbers: sums, products, rates and ratios."""
    for a, b, c in combinations(numbers, 3):
        yield from (a + b + c, a * b * c, a + b - c, a + c - b, b + c - a)
        for first, second, third in ((a, b, c), (a, c, b), (b, c, a)):
            product, total, gap = first * second, first + second, abs(first - second)
            yield from (product + third, abs(product - third), product / 100 + third)
            for amount in (product, total):
                yield from (amount * (1 + third / 100), amount * (1 - third / 100))
            yield from (gap * third, gap * third / 100, total * third)
            if third:
                yield product / third


def of_quadruples(numbers: Sequence[float]) -> Iterator[float]:
    """Yield what follows from any four of some numbers: their sum, and sums of two products."""
    for a, b, c, d in combinations(numbers, 4):
        yield a + b + c + d
        for (w, x), (y, z) in (((a, b), (c, d)), ((a, c), (b, d)), ((a, d), (b, c))):
            left, right = w * x, y * z
            yield from (left + right, left + right / 100, right + left / 100)
            for gap, first, second in ((abs(w - x), y, z), (abs(y - z), w, x)):
                yield from (gap * first + second, gap * second + first)
                yield from (gap * first / 100 + second, gap * second / 100 + first)


@lru_cache(maxsize=128)
def numerals(texts: tuple[str, ...]) -> Numerals:
    """Return the numbers of `texts`.

    Examples
    --------
    >>> numerals(("Two nights at 131 each",)).lead_to(262)
    True
    """
    parts = [*map(_read, texts)]
    return Numerals(
        stated=frozenset[float]().union(*(part.stated for part in parts)),
        amounts=tuple(dict.fromkeys(number for part in parts for number in part.amounts)),
        sums=frozenset[float]().union(*(part.sums for part in parts)),
        factors=tuple({factor for part in parts for factor in part.factors}),
        counts_people=any(part.counts_people for part in parts),
    )


def _numerals(text: str) -> Numerals:
    alone = [number_in(match.group()) for match in NUMERAL.finditer(text)]
    data = data_of(text)
    alone += [quantity.value for quantity in quantities(text)] if isinstance(data, str) else []
    stated = {*map(abs, alone), *other_readings(text), *map(float, lengths(text))}
    stated |= {number for part in _ANY.findall(text) for number in _readings(part)}
    sums = {*_sums(data)}
    parts = [60.0 * int(match[1]) + int(match[2]) for match in TWO_PARTS.finditer(text)]
    sums |= {sum(parts)} if len(parts) > 1 else set()  # sum of lengths such as 3:42
    lower = text.lower()
    sums |= {float(count) for count in _listed(text)}
    sums |= {float(f"{decade}{end}") for decade in _DECADE.findall(text) for end in "09"}
    sums |= {float(_DECADES[word] + end) for word in _DECADES if word in lower for end in (0, 9)}
    days = len({*map(str.lower, _WEEKDAY.findall(text))})
    sums |= {float(count) for count in range(2, days + 1 + ("weekend" in lower))}
    sums |= {float(ORDINALS[word]) for word in re.findall(r"[a-z]+", lower) if word in ORDINALS}
    return Numerals(
        stated=frozenset(filter(is_usable, stated)),
        amounts=tuple(dict.fromkeys(abs(number) for number in alone if is_usable(number))),
        sums=frozenset(sums),
        factors=tuple({factor for word, of in _WORDS if re.search(word, lower) for factor in of}),
        counts_people=bool(_PEOPLE.search(text)),
    )


_read = KeptByText(_numerals)


def _listed(text: str) -> Iterator[int]:
    """Yield the lengths of the lists in a text, such as 3 for "a, b and c"."""
    for match in _LIST.finditer(text):
        yield match.group().count(",") + 2


def data_of(text: str) -> object:
    """Return what a result holds as JSON, the name of its tool left out; the text if it is none."""
    return parsed(text if text[:1] in "[{" else text.partition(": ")[2])


def number_in(text: str) -> float:
    """Return the number that a numeral with or without commas states."""
    return float(text.replace(",", ""))


def _readings(part: str) -> Iterator[float]:
    """Yield a run of digits and marks as one number if it is one, else its parts."""
    try:
        yield number_in(part)
    except ValueError:  # a date or a version
        yield from (float(piece) for piece in re.split("[.,]", part) if piece and len(piece) < 16)  # noqa: PLR2004


def identifies(path: str) -> bool:
    """Return whether a number under this path names something: a table, a room, an order.

    Examples
    --------
    >>> identifies("$.tableNo"), identifies("$.guests"), identifies("$.rooms[0].room")
    (True, False, True)
    """
    return _IDENTITY.search(re.sub(r"\[\d+\]$", "", path)) is not None


def _sums(value: object) -> Iterator[float]:
    """Yield sums over each list and object of a result, by key, and the lengths of lists."""
    for part in containers(value):
        if isinstance(part, Mapping):
            own = [
                number
                for key, leaf in part.items()
                if (number := number_of(leaf)) is not None and not identifies(key)
            ]
            yield from [sum(own)] if len(own) > 1 else []
        else:
            yield float(len(part))
            yield from column_sums(part, without=identifies)


def column_sums(rows: Iterable[object], *, without: Callable[[str], bool]) -> Iterable[float]:
    """Return the sums of the numbers at each path of some rows, `without` those at some paths."""
    columns: dict[str, float] = defaultdict(float)
    for row in rows:
        for path, leaf in json_leaves(row):
            if (number := number_of(leaf)) is not None and not without(path):
                columns[path] += number
    return columns.values()


def _degrees(value: float) -> tuple[float, float]:
    """Convert a temperature from Celsius to Fahrenheit, and from Fahrenheit to Celsius."""
    return value * 9 / 5 + 32, (value - 32) * 5 / 9


def _any_near(value: float, numbers: Iterable[float]) -> bool:
    """Return whether `value` is one of `numbers`, or one of them rounded to its decimals."""
    decimals = _decimals(value)
    rounding = 0.5 * 10.0**-decimals * 1.0001 if decimals else 0.0
    size, sizes = abs(value), map(abs, numbers)
    return any(abs(size - n) <= max(1e-9, 1e-9 * n, rounding) for n in sizes)


def _decimals(value: float) -> int:
    _, _, rest = repr(value).partition(".")
    return 0 if rest == "0" or "e" in rest else len(rest)


def _digits(value: float) -> int:
    """Return the number of significant digits of a number.

    Examples
    --------
    >>> _digits(1200.0), _digits(48.3)
    (2, 3)
    """
    digits = f"{abs(value):.6f}".rstrip("0").replace(".", "").lstrip("0")
    return len(digits.rstrip("0")) if value == int(value) else len(digits)


def nearest(value: float, texts: Sequence[str]) -> str:
    """Return the number in `texts` nearest to `value`, as written; empty if there is none."""
    candidates = [match.group() for text in texts for match in NUMERAL.finditer(text)]
    return min(candidates, key=lambda token: abs(number_in(token) - value), default="")


def counts_of(texts: Collection[str], units: Collection[str]) -> list[float]:
    """Return the numbers that `texts` give for any of the `units`, which are stems."""
    units = {*units, stem("kids")} if stem("children") in units else units
    return [
        quantity.value
        for text in texts
        for quantity in quantities(text)
        if quantity.unit in units
        and not text[: quantity.start][-1:].isalnum()  # A5
        and text[quantity.end : quantity.end + 1] not in {",", ";", ":"}
    ]


def spelling_of(value: float, texts: Collection[str]) -> str:
    """Return the spelling of a number in a text; empty if no text has it."""
    stated = ((text, quantity) for text in texts for quantity in quantities(text))
    written = (text[each.start : each.end] for text, each in stated if each.value == value)
    return next(written, "")
