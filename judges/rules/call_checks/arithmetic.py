"""Arithmetic: whether a number in a reply follows from the numbers that texts state.

Ids and the parts of dates are no operands. A number is converted only into or from a unit that is
named, and rounded to the decimals with which the reply writes it, more roughly after "about".
"""

import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from types import MappingProxyType

from spanjury.judges.core.transcript import json_leaves
from spanjury.judges.rules.call_checks.context import containers, is_usable, number_of
from spanjury.judges.rules.call_checks.moments import moments
from spanjury.judges.rules.call_checks.numerals import (
    NUMERAL,
    SMALL,
    TWO_PARTS,
    Numerals,
    data_of,
    identifies,
    number_in,
    numerals,
    of_quadruples,
    of_triples,
)
from spanjury.judges.rules.quantities import quantities
from spanjury.judges.text.kept import KeptByText
from spanjury.judges.text.lexicon import MONTHS
from spanjury.judges.text.sentences import sentence_intervals

_MONTH = rf"(?:{'|'.join(name[:3] for name in MONTHS)})[a-z]*"
DATES = re.compile(
    rf"\b\d\d?(?:st|nd|rd|th|\.)?(?: (?:of )?{_MONTH}\b\.?(?:,? \d{{4}}\b)?)"
    rf"|\b{_MONTH}\.? \d\d?(?:st|nd|rd|th)?\b(?:,? \d{{4}}\b)?|\b{_MONTH} \d{{4}}\b"
    r"|\b\d{4}-\d\d(?:-\d\d)?(?:[T ]\d\d:\d\d[\d:.]*)?"
    r"|\b\d\d?([./])\d\d?\1(?:\d{2}){1,2}\b|\b\d\d?[:.]\d\d ?[ap]\.?m\b|\b\d\d? ?[ap]\.?m\b"
    r"|\b\d\d?:\d\d\b"
    r"|\b(?:in|since|from|until|of|by|before|after|year|during|is|now) (?:1[5-9]|20)\d\d\b",
    re.IGNORECASE,
)
"""Dates and times, also years, in words."""
_YEAR = re.compile(r"(?<![\d.,])(?:1[5-9]|20)\d\d(?![\d.,]*\d)")
_YEARLY = re.compile(r"year|built|founded|born|since", re.IGNORECASE)
_NUMBERED = re.compile(
    r"\b(?:table|room|gate|platform|track|seat|coach|page|chapter|version|account|flight|train"
    r"|tram|bus|line|ticket|invoice|locker|berth|desk|terminal|no\.|nr\.|#|number|extension"
    r"|po box|apartment|house)s? ?(?:(?:no\.?|nr\.?|number|#) ?)?\d[\d -]*",
    re.IGNORECASE,
)
"""Things that a number identifies."""


def _unit(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![^\W\d_])(?:{words})(?![^\W\d_])", re.IGNORECASE)


_SCALES: tuple[tuple[re.Pattern[str], tuple[float, ...]], ...] = tuple(
    (_unit(words), factors)
    for words, factors in (
        (r"s|sec(?:ond)?s?|min(?:ute)?s?|h|hrs?|hours?", (60.0, 1 / 60)),
        (r"h|hrs?|hours?|hourly", (24.0, 1 / 24)),
        (r"days?|nights?|weeks?|weekly|daily", (7.0, 1 / 7)),
        (r"months?|monthly|years?|yearly|annual(?:ly)?", (12.0, 1 / 12)),
        (r"weeks?|weekly", (52.0, 1 / 52)),
        (r"cents?|pence|minor|øre|öre|[€$£]|eur|usd|gbp|chf|euros?|dollars?", (100.0, 0.01)),
        (r"%|percent|percentage|pct|rate|share|discount|vat|tax", (100.0, 0.01)),
        (r"cm|centimet\w+|m²|sqm|square", (100.0, 0.01)),
        (r"k?m|kilomet\w+|k?g|kilos?|kilograms?|grams?|t|tons?|tonnes?|mm", (1000.0, 0.001)),
        (r"ml|cl|l|lit(?:re|er)s?|[km]?wh?|ms|[kmgt]i?b", (1000.0, 0.001)),
        (r"ml|cl|mm|cm", (10.0, 0.1)),
        (r"[kmgt]i?b", (1024.0, 1 / 1024)),
        (r"ha|hectares?", (10000.0, 0.0001)),
    )
)
"""Words for units, and the factors between them and others."""
_FOREIGN: tuple[tuple[re.Pattern[str], tuple[float, ...]], ...] = tuple(
    (_unit(words), factors)
    for words, factors in (
        (r"miles?|mi|mph", (1.609344,)),
        (r"feet|foot|ft", (0.3048, 30.48, 0.09290304)),
        (r"yards?|yd", (0.9144,)),
        (r"inch(?:es)?", (2.54, 25.4)),
        (r"lbs?|pounds? of", (0.45359237,)),
        (r"oz|ounces?", (28.3495,)),
        (r"gal(?:lons?)?|pints?|mpg", (3.78541, 0.473176)),
        (r"km/?h|kph|kmh|m/s|mps", (3.6,)),
    )
)
"""Words for American units and for speeds, and their metric sizes."""
_DEGREES = _unit(r"°[cf]?|degrees?|celsius|fahrenheit|temp\w*")
_PERCENT = re.compile(r"\s?(?:%|per ?cent\b)")
_ABOUT = re.compile(
    r"(?:\b(?:about|around|roughly|approximately|approx\.?|circa|ca\.|nearly|almost|some|over"
    r"|under|below|above|just|more than|less than|close to|up to|well|good|a little|say)"
    r"|[~≈±])\s?(?:(?:[a-z]{3}|[A-Z]{3}) )?[€$£¥]?$",
    re.IGNORECASE,
)
_EACH = re.compile(r"\b(?:each|per|average|mean|an? [a-z]+|every|apiece)\b|/", re.IGNORECASE)
"""Words near a number that may be a rounded quotient."""
_DURATION = re.compile(r"[\s-]?(?:(?:more |full |working )?(?:day|night|week|h\b|hour|hr|min|sec))")
_MOST = 8  # operands beyond which too much follows for a number to be called wrong
_MOST_BESIDE = 8  # operands in the sentence itself
_ROUGHLY, _CONVERTED = (
    0.05,
    0.01,
)  # shares by which a number after "about", or converted, may differ
_WHOLE = 1e-6
_FEW = 6  # numbers from which so little follows that the result may be rounded
_CONSTANTS = (24.0, 52.0, 60.0, 100.0, 365.0, 1000.0)
_SCALE = re.compile(r" ?(k|thousand|m|mn|million|bn|billion)\b", re.IGNORECASE)
_SCALE_SIZES = MappingProxyType({"k": 1e3, "t": 1e3, "m": 1e6, "b": 1e9})
_MOST_SUMMED = 12  # entries of a list of which any two to four may be summed up
_COMMA = re.compile(r"(\d{1,3}(?:[. ]\d{3})+|\d+)(?:,(\d{1,2}))?")
"""A number with a decimal comma, or with points between its groups."""
_BEFORE, _AROUND = 24, 40  # characters beside a number that may hold such words


@dataclass(frozen=True, slots=True)
class _Parts:
    """The numbers of a text with which one can compute, and the years of its dates."""

    operands: tuple[float, ...]
    years: frozenset[float]
    tables: frozenset[float] = frozenset()
    rows: int = 0


def _parts(text: str) -> _Parts:
    data = data_of(text)
    if isinstance(data, str):
        return _parts_of(text)
    operands: dict[float, None] = {}
    years: set[float] = set()
    for path, leaf in json_leaves(data):
        if isinstance(leaf, str):
            own = _parts_of(leaf) if not identifies(path) else _Parts((), frozenset())
            operands |= dict.fromkeys(own.operands)
            years |= own.years
        elif (number := number_of(leaf)) is not None and not identifies(path):
            if _YEARLY.search(path) and _YEAR.fullmatch(f"{number:g}"):
                years.add(number)
            else:
                operands[abs(number)] = None
    lists = [part for part in containers(data) if isinstance(part, list)]
    return _Parts(
        (*operands,),
        frozenset(years),
        tables=frozenset(number for items in lists for number in _totals(items)),
        rows=max(map(len, lists), default=0),
    )


def _totals(items: Sequence[object]) -> Iterator[float]:
    """Yield sums of some entries of a list, or of all of one kind, their means, and products."""
    rows = [dict(json_leaves(item)) for item in items]
    columns: defaultdict[str, dict[int, float]] = defaultdict(dict)
    kinds: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
    for at, row in enumerate(rows):
        for path, leaf in row.items():
            if (number := number_of(leaf)) is not None and not identifies(path):
                columns[path][at] = number
            else:
                kinds[path, str(leaf)].add(at)
    for column in columns.values():
        values = [*column.values()]
        yield sum(values) / len(values)
        if len(values) <= _MOST_SUMMED:
            yield from (sum(some) for size in (2, 3, 4) for some in combinations(values, size))
        for chosen in kinds.values():
            own = [column[at] for at in chosen if at in column]
            if len(own) > 1:
                yield from (sum(own), sum(own) / len(own))
    for first, second in combinations(columns.values(), 2):
        yield sum(number * second[at] for at, number in first.items() if at in second)


def _parts_of(text: str) -> _Parts:
    years = {float(year) for match in DATES.finditer(text) for year in _YEAR.findall(match[0])}
    bare = _NUMBERED.sub(_blank, DATES.sub(_blank, text))
    numbers = [number_in(match.group()) for match in NUMERAL.finditer(bare)]
    numbers += [quantity.value for quantity in quantities(bare)]
    operands = dict.fromkeys(abs(number) for number in numbers if is_usable(number))
    return _Parts((*operands,), frozenset(years))


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


_read = KeptByText(_parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    """A number of a reply.

    It is written with this number of `decimals`. The flags tell whether it is called approximate,
    is a percentage, or may be a rounded quotient, such as a price per person. `scale` is the number
    that a word after it stands for, such as a million; 0 without one.
    """

    value: float
    decimals: int
    is_rough: bool
    is_share: bool
    is_each: bool
    scale: float

    @property
    def is_whole(self) -> bool:
        """True if it is written without decimals."""
        return not self.decimals

    def is_any(
        self, numbers: Iterable[float], *, within: float = 0.0, exactly: bool = False
    ) -> bool:
        """Return whether it is one of `numbers`, rounded, or differs by a share `within`.

        With `exactly`, a whole number must be equal.
        """
        is_whole = exactly and not (self.decimals or self.is_share)
        rounding = _WHOLE if is_whole else 0.5 * 10.0**-self.decimals * (1 + _WHOLE)
        share = max(within, _ROUGHLY if self.is_rough else 0.0)
        sizes = map(abs, numbers)
        return any(abs(self.value - n) <= max(rounding, share * n) for n in sizes)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Given:
    """Numbers and units from which a number may follow.

    The `totals` are sums, of which at most two are combined. `scales` are factors between units
    that are named, and `units` are sizes of foreign units. `tables` has numbers that follow from a
    list as a whole, or from entries of one kind. `rows` is the length of the longest list; any
    number of its entries may be counted. `is_beside` tells whether the operands stand in the
    number's own sentence.
    """

    numbers: Numerals
    operands: tuple[float, ...]
    totals: tuple[float, ...]
    years: frozenset[float]
    scales: frozenset[float]
    units: frozenset[float]
    tables: frozenset[float]
    rows: int
    has_degrees: bool
    is_beside: bool = False

    def lead_to(self, target: _Target) -> bool:
        """Return whether the target is stated or follows; true if very many numbers are stated."""
        if target.value in self.numbers.stated or target.value in self.numbers.sums:
            return True
        if len(self.operands) > _MOST and not self.is_beside:
            return True
        return (
            target.is_any(self._single(target))
            or target.is_any(self._converted(), within=_CONVERTED)
            or target.is_any(self.tables)
            or (target.is_whole and target.value <= self.rows)
            or any(
                target.is_any(numbers, exactly=len(self._all) > _FEW)
                for numbers in (
                    self._pairs(target),
                    self._triples(),
                    of_quadruples(self.operands),
                )
            )
        )

    @property
    def _all(self) -> tuple[float, ...]:
        return tuple(dict.fromkeys((*self.operands, *self.totals)))

    def _single(self, target: _Target) -> Iterator[float]:
        numbers = self.numbers
        yield from _CONSTANTS
        yield from numbers.stated
        yield from numbers.factors
        if target.scale:
            yield from (number / target.scale for number in (*numbers.stated, *self._all))
        yield from (a * b for a, b in combinations(numbers.factors, 2))  # half a year, in months
        for number in self._all:
            yield from (number * factor for factor in self.scales.union(numbers.factors))
        if numbers.counts_people:
            yield from (2.0, 3.0, 4.0)
            yield from (number + more for number in self.operands for more in (1, 2))
        for first, second in combinations(self.years, 2):
            yield from (abs(first - second), abs(first - second) - 1)
        if target.is_share:
            yield from (100 - number for number in self.operands)

    def _converted(self) -> Iterator[float]:
        for number in self._all:
            yield from (number * unit for unit in self.units)
            yield from (number / unit for unit in self.units)
            if self.has_degrees:
                yield from (number * 9 / 5 + 32, (number - 32) * 5 / 9)

    def _pairs(self, target: _Target) -> Iterator[float]:
        for a, b in combinations(self._all, 2):
            yield from (a + b, abs(a - b), a * b / 100)
            yield from (a * b * scale for scale in (1.0, *self.scales))
            for over, under in ((a, b), (b, a)):
                yield from (over * (1 + under / 100), over * (1 - under / 100))
                if under:
                    yield from self._ratios(over, under, target)

    def _ratios(self, over: float, under: float, target: _Target) -> Iterator[float]:
        ratio = over / under
        is_rounded = target.is_each and not target.decimals
        yield from (float(round(ratio)) if is_rounded else ratio, float(math.ceil(ratio)))
        yield from (ratio * scale for scale in self.scales)
        if target.is_share:
            yield from (100 * ratio, 100 * abs(over - under) / under)

    def _triples(self) -> Iterator[float]:
        yield from of_triples(self.operands)
        for a, b, c in combinations(self.operands, 3):
            yield (a + b + c) / 3
            yield from (a * b * c * scale for scale in self.scales)
            for x, y, z in ((a, b, c), (a, c, b), (b, c, a)):
                yield from (x * y / z * scale for scale in self.scales if z)

    def beside(self, words: str) -> "_Given":
        """Return the numbers in `words`, the rest of a sentence, that are stated."""
        stated = self.numbers.stated | self.numbers.sums
        operands = tuple(number for number in _parts_of(words).operands if number in stated)
        own = operands if len(operands) <= _MOST_BESIDE else ()
        return replace(self, operands=own, totals=(), is_beside=True)


@lru_cache(maxsize=64)
def _given(texts: tuple[str, ...], words: str) -> _Given:
    """Return what numbers may follow from; the units that `words` name count, too."""
    parts = [*map(_read, texts)]
    whole = "\n".join((*texts, words))
    return _Given(
        numbers=numerals(texts),
        operands=tuple(dict.fromkeys(number for part in parts for number in part.operands)),
        totals=tuple(numerals(texts).sums),
        years=frozenset[float]().union(*(part.years for part in parts)),
        scales=frozenset(f for unit, own in _SCALES if unit.search(whole) for f in own),
        units=frozenset(f for unit, own in _FOREIGN if unit.search(whole) for f in own),
        tables=frozenset[float]().union(*(part.tables for part in parts)),
        rows=max((part.rows for part in parts), default=0),
        has_degrees=bool(_DEGREES.search(whole)),
    )


def follows(text: str, interval: tuple[int, int], sources: tuple[str, ...]) -> bool:
    """Return whether the number at these offsets of a reply is stated or follows.

    It may follow from `sources` and from the text before it. True if `sources` state so many
    numbers that nearly any other follows.

    Examples
    --------
    >>> follows("That is 262.", (8, 11), ("Two nights at 131 each",))
    True
    """
    start, end = interval
    words = re.sub(r"\d", " ", text)
    given, with_own = _given(sources, words), _given((*sources, text[:start]), words)
    first, last = next(
        ((first, last) for first, last in sentence_intervals(text) if first <= start < last),
        interval,
    )
    beside = given.beside(f"{text[first:start]} {text[end:last]}")
    is_rough = bool(_ABOUT.search(text[max(0, start - _BEFORE) : start]))
    is_share = bool(_PERCENT.match(text, end))
    is_each = bool(_EACH.search(text, max(0, start - _BEFORE), end + _AROUND))
    named = _SCALE.match(text, end)
    scale = _SCALE_SIZES[named[1][0].lower()] if named else 0.0
    is_lasting = bool(_DURATION.match(text, end))
    return any(
        any(base.lead_to(target) for base in (given, with_own, beside))
        or (is_lasting and value in _lasting(given, sources))
        for value, decimals in _readings(text, start, end)
        if is_usable(value)
        for target in (
            _Target(
                value=value,
                decimals=decimals,
                is_rough=is_rough,
                is_share=is_share,
                is_each=is_each,
                scale=scale,
            ),
        )
    )


def _readings(text: str, start: int, end: int) -> Iterator[tuple[float, int]]:
    """Yield the numbers that a numeral or a number word may be, each with its decimals."""
    written = text[start:end]
    if match := NUMERAL.search(written):
        yield abs(number_in(match.group())), len(match.group().partition(".")[2])
    if match := _COMMA.fullmatch(written):
        whole, decimals = re.sub(r"\D", "", match[1]), match[2] or ""
        yield float(f"{whole}.{decimals or 0}"), len(decimals)
    if written.isalpha():
        yield from ((quantity.value, 0) for quantity in quantities(text) if quantity.start == start)


def _lasting(given: "_Given", texts: tuple[str, ...]) -> Collection[float]:
    """Return the weeks, days, hours and minutes of given lengths and between given moments."""
    lengths = {*_gaps(texts), *filter(is_usable, given.operands)}
    parts = (part for n in lengths for part in (n % 60, n // 60, n // 7, -(-n // 7)))
    return frozenset((*lengths, *parts))


@lru_cache(maxsize=16)
def _gaps(texts: tuple[str, ...]) -> Collection[float]:
    return frozenset(map(float, moments(texts).numbers(with_parts=False)))


def computed_in(text: str, sources: tuple[str, ...]) -> str:
    """Return the numbers and times of `text` that follow from those of `sources`, or are dates."""
    given = numerals(sources)
    dated = [match.span() for match in DATES.finditer(text)]
    computed = [
        match.group()
        for match in NUMERAL.finditer(text)
        if any(start <= match.start() < end for start, end in dated)
        or follows(text, match.span(), sources)
    ]
    for quantity in quantities(text):
        written = text[quantity.start : quantity.end]
        if written.isalpha() and follows(text, (quantity.start, quantity.end), sources):
            computed.append(written)
    for match in TWO_PARTS.finditer(text):
        parts = 60 * int(match[1]) + int(match[2])  # minutes of a day, or seconds
        if moments(sources).names_time(parts) or given.lead_to(parts):
            computed.append(match.group())
    return " ".join(computed)


def is_given(text: str, sources: tuple[str, ...]) -> bool:
    """Return whether `sources` state the number in `text`, or it follows and is not small.

    A small number follows from many others by chance.
    """
    given = numerals(sources)
    if not given.stated.isdisjoint(numerals((text,)).stated):
        return True
    if TWO_PARTS.search(text):
        return any(n > SMALL and given.lead_to(n) for n in numerals((text,)).stated)
    return any(
        number_in(match.group()) > SMALL and follows(text, match.span(), sources)
        for match in NUMERAL.finditer(text)
    )
