"""Quantities that a text states in different units: half an hour and 30 minutes."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations, pairwise
from types import MappingProxyType
from typing import NamedTuple

from spanjury.judges.rules.quantities import is_date, quantities
from spanjury.judges.rules.units import METRE, SIZES
from spanjury.judges.text.kept import KeptByText
from spanjury.judges.text.stems import stem

_IN_WORDS = re.compile(
    r"\b(?P<much>half an?|a quarter of an?|an?|one)\s+(?P<unit>hour|minute|day|week|month|year"
    r"|decade|century|litre|liter|kilo|kilometre|kilometer|metre|meter)\b"
    r"(?P<half>\s+and\s+a\s+half\b)?",
    re.IGNORECASE,
)
_FRACTIONS = MappingProxyType({"half": 0.5, "quarter": 0.25})
_METRES = re.compile(r"\d ?m\Z")
_MILLION = 1e6
_BETWEEN = re.compile(r"\s?[^\W\d_]*\.?,?\s?(?:and\s)?")
_CLOCK = re.compile(r"(?<![\d:.,])([01]?\d|2[0-4]):([0-5]\d)(?![\d:])")
_MOST_TIMES = 20  # maximum times of day: with more, any difference occurs between some two
_DAY, _HOUR = 24 * 60, 60  # minutes


class Measure(NamedTuple):
    """A quantity in the smallest unit of its dimension, with its offsets without the last unit."""

    start: int
    end: int
    dimension: str
    amount: float
    size: float

    def equals(self, other: "Measure") -> bool:
        """Return whether both are the same quantity."""
        gap = abs(self.amount - other.amount)
        return self.dimension == other.dimension and gap <= 1e-9 * max(self.amount, other.amount)


def _measures(text: str) -> tuple[Measure, ...]:
    single = sorted([*_in_numbers(text), *_in_words(text)])
    joint = (
        first._replace(end=second.end, amount=first.amount + second.amount)
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
        if _METRES.search(text, start, end):
            dimension, size = METRE
            yield Measure(start, end, dimension, quantity.value / _MILLION * size, size)
        elif quantity.unit in SIZES and not is_date(quantity):
            dimension, size = SIZES[quantity.unit]
            yield Measure(start, end, dimension, quantity.value * size, size)


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

    Examples
    --------
    >>> is_converted("It takes 90 minutes.", 9, ["It takes an hour and a half."])
    True
    """
    own = measure_at(text, at)
    return own is not None and any(_states(source, own) for source in sources)


def _states(source: str, own: Measure) -> bool:
    if any(own.equals(other) for other in measures(source)):
        return True
    return own.dimension == "time" and own.amount / 60 in _gaps(source)


@lru_cache(maxsize=4)
def _gaps(source: str) -> Collection[float]:
    """Return the minutes between any two times of day, also across midnight."""
    times: set[int] = {int(hour) * _HOUR + int(minute) for hour, minute in _CLOCK.findall(source)}
    if len(times) > _MOST_TIMES:
        return frozenset()
    gaps: Sequence[int] = [abs(later - time) for time, later in combinations(times, 2)]
    return frozenset(map(float, (*gaps, *(_DAY - gap for gap in gaps))))
