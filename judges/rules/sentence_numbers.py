"""Numbers of a sentence that follow from its other numbers or words and the source's numbers.

"Three tickets cost 36 euros" follows from a price of 12 euros, "480 euros a year" from 40 euros a
month, and "for 8 people take 400 g" from a recipe for 4 with 200 g.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import permutations
from math import isclose
from operator import attrgetter

from spanjury.judges.rules.quantities import Quantity, quantities
from spanjury.judges.rules.units import PERIOD, PERIODIC, SIZES, rate_factors

_MOST = 12  # maximum numbers of a sentence that are combined
_MOST_STATED = 60  # the same for a source
_MOST_SCALED = 40  # maximum numbers of a text whose amounts may be scaled
_MOST_TIMES = 100  # maximum count that a price or an amount is multiplied by
_FACTORS = (0.25, 1 / 3, 0.5, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
"""Factors by which a recipe is scaled."""
_SCALED = 2  # minimum numbers with one factor, if a word says that amounts are scaled
_ALL_SCALED = 3  # the same without such a word
_SCALING = re.compile(
    r"\b(?:doubl\w*|twice|tripl\w*|quadrupl\w*|hal(?:f|ve\w*)|times|scal\w*|\w+fold|instead)\b",
    re.IGNORECASE,
)
_INSTEAD = re.compile(r"\b(?:instead of|rather than|not)\s$", re.IGNORECASE)
_MOST_PRICES = 6  # maximum prices of which two are added
_FAR = 60  # maximum code points between a count and a product
_BESIDE = 24  # code points on either side of a number that may name the period of a rate
_RATE = re.compile(
    rf"\b(?:(?:an?|per|each|every|one)\s(?P<noun>{PERIOD})|(?P<adverb>{PERIODIC}))\b"
    rf"|/\s?(?P<sign>{PERIOD})\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=4)
def following(text: str, start: int, end: int, source: str) -> AbstractSet[int]:  # noqa: PLR0917
    """Return the offsets of the numbers in a sentence of `text` that follow from each other.

    Parameters
    ----------
    start, end
        Half-open offsets of the sentence.
    """
    first, stop = (
        bisect_left(quantities(text), at, key=attrgetter("start")) for at in (start, end)
    )
    own = quantities(text)[first:stop]
    stated = quantities(source)
    if not own or len(own) > _MOST or len(stated) > _MOST_STATED:
        return frozenset()
    return frozenset(
        (
            *_products(own, stated, text=text),
            *_rates(own, stated, text=text, source=source),
            *_scaled(quantities(text), stated, text=text),
        )
    )


def _products(own: Sequence[Quantity], stated: Sequence[Quantity], *, text: str) -> Iterator[int]:
    """Yield a count and the product of it with a quantity that the source states.

    ``Two blocks of 60 kilos`` states no product.
    """
    for count, product in permutations(own, 2):
        is_count = count.value.is_integer() and 1 < count.value <= _MOST_TIMES
        if not is_count or not product.unit or count.unit == product.unit:
            continue
        if abs(count.start - product.start) > _FAR or text.endswith(" of ", 0, product.start):
            continue
        if any(
            each.unit == product.unit and isclose(count.value * each.value, product.value)
            for each in stated
        ):
            yield from (count.start, product.start)
    yield from _sums_of_products(own, stated)


def _sums_of_products(own: Sequence[Quantity], stated: Sequence[Quantity]) -> Iterator[int]:
    """Yield two counts and the sum of their products: two adults and three children pay 45."""
    counts = [each for each in own if each.value.is_integer() and 1 < each.value <= _MOST_TIMES]
    for total in own:
        prices = {each.value for each in stated if total.unit and each.unit == total.unit}
        if len(prices) > _MOST_PRICES:
            continue
        for first, second in permutations(counts, 2):
            if total not in {first, second} and any(
                isclose(first.value * price + second.value * other, total.value)
                for price, other in permutations(prices, 2)
            ):
                yield from (first.start, second.start, total.start)


def _rates(
    own: Sequence[Quantity], stated: Sequence[Quantity], *, text: str, source: str
) -> Iterator[int]:
    """Yield the rates that the source states for another period."""
    for rate in own:
        period = _period(text, rate)
        if period and any(
            isclose(rate.value, each.value * factor)
            for each in stated
            if each.unit == rate.unit
            for factor in rate_factors(period, _period(source, each))
        ):
            yield rate.start


def _period(text: str, quantity: Quantity) -> str:
    """Return the word for the period of a rate beside a quantity, or empty."""
    for match in _RATE.finditer(text, quantity.end, quantity.end + 2 * _BESIDE):
        word = match["noun"] or match["sign"] or match["adverb"]
        return word.lower()
    before = [*_RATE.finditer(text, max(0, quantity.start - _BESIDE), quantity.start)]
    words = [match["adverb"] or match["noun"] for match in before if not match["sign"]]
    return words[-1].lower() if words else ""


def _scaled(own: Sequence[Quantity], stated: Sequence[Quantity], *, text: str) -> Iterator[int]:
    """Yield the numbers of a text if all amounts that it shares with the source are scaled alike.

    A length of time need not be, because a larger cake does not bake much longer.
    """
    if len(own) > _MOST_SCALED:
        return
    least = _SCALED if _SCALING.search(text) else _ALL_SCALED
    amounts = [
        each for each in own if not _INSTEAD.search(text[max(0, each.start - _BESIDE) : each.start])
    ]
    by_unit: dict[str, set[float]] = {}
    for each in stated:
        by_unit.setdefault(each.unit, set()).add(each.value)
    values = {each.value for each in stated}
    for factor in _FACTORS:
        scaled = [
            each
            for each in amounts
            if any(isclose(each.value, factor * value) for value in by_unit.get(each.unit, ()))
        ]
        if len(scaled) < min(least, _SCALED):
            continue
        starts = {each.start for each in scaled}
        counts = {
            each.start
            for each in amounts
            if each.unit not in by_unit
            and any(isclose(each.value, factor * value) for value in values)
        }
        kept = any(
            each.start not in starts and each.unit in by_unit and not _lasts(each)
            for each in amounts
        )
        if not kept and len(starts | counts) >= least:
            yield from starts | counts
            return


def _lasts(quantity: Quantity) -> bool:
    """Return whether a quantity is a length of time, or has no unit."""
    return not quantity.unit or SIZES.get(quantity.unit, ("", 0.0))[0] == "time"
