"""Numbers, units and days that a text and its source state differently."""

import re
from collections.abc import Collection, Iterator, Mapping
from collections.abc import Set as AbstractSet
from itertools import pairwise
from math import floor, isinf, log10
from operator import itemgetter
from types import MappingProxyType

from spanjury.judges.rules.alignment.aligner import Comparison
from spanjury.judges.rules.alignment.contradiction import (
    Category,
    Contradiction,
    Difference,
    contradiction,
    is_copied_otherwise,
    is_firm,
    is_only_difference,
    loose,
)
from spanjury.judges.rules.alignment.index import Search
from spanjury.judges.rules.alignment.keys import key
from spanjury.judges.rules.alignment.lexicon import DETERMINERS
from spanjury.judges.rules.alignment.tokens import UNITS, Phrase, Token, phrase
from spanjury.judges.rules.conversions import is_converted, measure_at
from spanjury.judges.rules.dates import dates
from spanjury.judges.rules.quantities import HEDGES, Quantity, is_date, quantities, whole_number
from spanjury.judges.rules.source_index import cut_source
from spanjury.judges.rules.units import PERIODIC
from spanjury.judges.text.stems import stem

_SEVERITY = 4
_DAYS = frozenset(("weekday", "month"))
_FIGURES = frozenset(("number", "ordinal", *_DAYS))
_HEDGES = HEDGES | {"least", "most"}
_ROUNDING = 0.1  # maximum relative distance of a hedged number from the source's
_BOUNDS = frozenset(
    """than over under above below beyond least most up within until till by before after from to
    minus""".split()  # noqa: SIM905
)
_DIFFERENCE = re.compile(
    r"(?:\s?%|[\s-][^\W\d_]+){1,2}?\s(?:more|less|fewer|higher|lower|longer|shorter|older|younger"
    r"|later|earlier|larger|smaller)\b"
)
"""A unit and a word after a number that make it a difference: ``65 euros more than``."""
_CURRENCIES = frozenset("$£€¥")
_YEARS = range(1500, 2100)
_SMALL = 10  # numbers up to this may count something else by chance
_SHARED = 1  # minimum equal words of the two sentences, apart from numbers and units
_SHARED_WITH_SMALL = 2  # the same for a small number, whose units must have one dimension
_PERIOD = re.compile(rf"\b(?:{PERIODIC})\b", re.IGNORECASE)
_OF = re.compile(r"\s+of\b")
_WORD = re.compile(r"[\s-]*(?:%|[^\W\d_]+)")
_AMBIGUOUS = frozenset(("pound", "cent"))  # money or weight; money or part of "per cent"
_UNITS_BY_STEM: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        stem(word): unit
        for word, unit in UNITS.items()
        if word.isalpha() and stem(word) not in _AMBIGUOUS
    }
)
"""Stem of a word for a unit -> its dimension and name."""
_UNIT_KEYS = frozenset(map(key, UNITS))


def figures(
    comparison: Comparison, searches: Collection[Search], *, is_far: bool
) -> Iterator[Difference]:
    """Yield the numbers, units, weekdays and months that differ.

    If `is_far`, the two sentences are not very similar, and a number that the inputs state
    elsewhere does not count. A figure that they state nowhere needs fewer equal words near it.
    """
    if _FIGURES.isdisjoint(comparison.output.kinds):
        return
    for at in range(len(comparison.links)):
        left, right = comparison.token(at)
        category = _category(comparison, at)
        if category is None or loose(comparison, at) != (0, 0):
            continue
        is_stated = any(search.states(left) for search in searches)
        if is_stated and is_far and left.kind == "number":
            continue
        if is_firm(comparison, at) or (not is_stated and is_only_difference(comparison, at)):
            link = comparison.links[at]
            if left.unit != right.unit:
                own = _extent(comparison.output, link.left)
                theirs, category = _extent(comparison.source, link.right), "unit"
            else:  # a whole time, not only its minutes
                own = whole_number(comparison.output.text, left.start, left.end)
                theirs = whole_number(comparison.source.text, right.start, right.end)
                if category == "number" and is_copied_otherwise(comparison):
                    category = "other number"
            yield Difference(*own, *theirs, category, _SEVERITY)


def _category(comparison: Comparison, at: int) -> Category | None:
    """Return the category of the difference between the figures of the link `at`, or None."""
    left, right = comparison.token(at)
    if left.kind != right.kind or left.denied != right.denied:
        return None
    if left.kind in {*_DAYS, "ordinal"}:
        is_other = left.key != right.key and left.key not in comparison.source.keys
        if left.kind == "ordinal":
            return "number" if is_other else None
        is_alone = {*left.before} ^ {*right.before} <= DETERMINERS  # not in a range or a list
        return "date" if is_other and is_alone else None
    if left.kind != "number":
        return None
    if (left.value, left.key) == (right.value, right.key):  # versions have no value
        is_other = left.unit != right.unit and bool(left.unit) and left.measure == right.measure
    else:
        is_other = _other_number(comparison, at)
    if not is_other:
        return None
    return "date" if _dates(comparison, at) else "number"


def _other_number(comparison: Comparison, at: int) -> bool:
    """Return whether two numbers of the same thing differ by more than rounding."""
    left, right = comparison.token(at)
    is_other_unit = left.unit != right.unit
    if (is_other_unit and not _other_amount(comparison, at)) or not _is_bound(comparison, at):
        return False
    if not _BOUNDS.isdisjoint({*left.before} ^ {*right.before}):
        return False
    if _is_difference(comparison.output, left) != _is_difference(comparison.source, right):
        return False
    if _states(comparison, at) or _is_of_another(comparison, at):
        return False
    return is_other_unit or not _rounded(left, right)


def _is_difference(sentence: Phrase, token: Token) -> bool:
    """Return whether a number says by how much something differs."""
    return bool(_DIFFERENCE.match(sentence.text, token.end))


def _other_amount(comparison: Comparison, at: int) -> bool:
    """Return whether two numbers with units of one dimension are clearly different amounts."""
    left, right = comparison.token(at)
    output, source = comparison.output.text, comparison.source.text
    own, other = measure_at(output, left.start), measure_at(source, right.start)
    if own is None or other is None or own.dimension != other.dimension:
        return False
    is_far = abs(own.amount - other.amount) > _ROUNDING * other.amount
    return is_far and not is_converted(output, left.start, [source])


def _states(comparison: Comparison, at: int) -> bool:
    """Return whether the source's sentence states the number of the same thing elsewhere."""
    index = comparison.links[at].left
    counted = comparison.output.keys[index : index + 2]
    left, _ = comparison.token(at)
    if any(each.key == left.key and "and" in each.before for each in comparison.source.tokens):
        return True  # the second of two counts: 11 voted for and 3 against it
    if len(counted) == 1:
        return counted[0] in comparison.source.keys
    return any([*pair] == [*counted] for pair in pairwise(comparison.source.keys))


def _is_of_another(comparison: Comparison, at: int) -> bool:
    """Return whether two numbers are of different periods, parts or models."""
    periods, others = (
        {*map(str.lower, _PERIOD.findall(sentence.text))}
        for sentence in (comparison.output, comparison.source)
    )
    if periods != others:
        return True
    left, _ = comparison.token(at)
    if _is_share(comparison.output, left) and any(
        token.key == left.key and _is_share(comparison.source, token)
        for token in comparison.source.tokens
    ):
        return True
    return any(_models(comparison, other) for other in range(at))


def _is_share(sentence: Phrase, token: Token) -> bool:
    """Return whether "of" follows a number: ``60 of them``."""
    return bool(_OF.match(sentence.text, token.end))


def _models(comparison: Comparison, at: int) -> bool:
    """Return whether a name is followed by a number that the source's sentence lacks.

    ``Kestrel 500`` is another model than ``Kestrel 700``.
    """
    link = comparison.links[at]
    own = comparison.output.tokens[link.left : link.left + 2]
    other = comparison.source.tokens[link.right : link.right + 2]
    if not link.same or own[0].kind != "name" or not own[1:] or not other[1:]:
        return False
    adjacent = all(pair[1].start - pair[0].end == 1 and not pair[1].before for pair in (own, other))
    return (
        adjacent
        and own[1].kind == other[1].kind == "number"
        and own[1].key not in comparison.source.keys
    )


def _is_bound(comparison: Comparison, at: int) -> bool:
    """Return whether the word next to the number on either side is the same in both sentences."""
    link = comparison.links[at]
    return any(
        other.same and (other.left - link.left, other.right - link.right) in {(1, 1), (-1, -1)}
        for other in comparison.links[max(0, at - 1) : at + 2]
    )


def _rounded(left: Token, right: Token) -> bool:
    """Return whether a number is the source's number rounded."""
    if isinf(left.value) or isinf(right.value):
        return left.value != right.value or not _readings(left).isdisjoint(_readings(right))
    years = left.value in _YEARS and right.value in _YEARS and not left.unit
    if years or not right.value or not left.value:
        return False
    gap = abs(left.value - right.value) / abs(right.value)
    if gap <= _ROUNDING and not _HEDGES.isdisjoint(left.before + right.before):
        return True
    digits = max(1, len(left.key.lstrip("#").replace(".", "").strip("0")))  # significant ones
    rounded = round(right.value, digits - 1 - floor(log10(abs(right.value))))
    return rounded == left.value and gap < _ROUNDING / 2


def _readings(token: Token) -> AbstractSet[tuple[str, ...]]:
    """Return the dates that a number may be, in words; empty for most."""
    return {reading for _, readings in dates(token.key.lstrip("#")) for reading in readings}


def _dates(comparison: Comparison, at: int) -> bool:
    """Return whether the number is a date, a year or the day of a month."""
    left, _ = comparison.token(at)
    index = comparison.links[at].left
    near = comparison.output.tokens[max(0, index - 1) : index + 2]
    year = left.value in _YEARS and bool({"in", "since", "until", "of"} & {*left.before})
    return year or any(token.kind == "month" for token in near) or bool(_readings(left))


def _extent(sentence: Phrase, at: int) -> tuple[int, int]:
    """Return the offsets of a number with its unit."""
    token = sentence.tokens[at]
    if token.before and token.before[-1] in _CURRENCIES:
        return sentence.text.rindex(token.before[-1], 0, token.start), token.end
    follows = sentence.tokens[at + 1 : at + 2] if token.unit else ()
    return token.start, follows[0].end if follows else token.end


def other_units(output: str, inputs: Mapping[str, str]) -> Iterator[Contradiction]:
    """Yield the quantities of `output` whose number `inputs` state only with other units.

    Examples
    --------
    >>> source = {"Report": "They slept 24 minutes longer on average."}
    >>> [each.text for each in other_units("They slept 24 hours longer.", source)]
    ['24 hours']
    """
    claimed = [
        quantity
        for quantity in quantities(output)
        if quantity.unit in _UNITS_BY_STEM
        and not any(
            output[slice(*_extent_of(output, quantity))] in text for text in inputs.values()
        )
        and not is_converted(output, quantity.start, inputs.values())
    ]
    if not claimed:
        return
    stated: dict[float, list[tuple[str, Quantity]]] = {}
    for name, text in inputs.items():
        for quantity in quantities(text):
            stated.setdefault(quantity.value, []).append((name, quantity))
    for quantity in claimed:
        own, others = _UNITS_BY_STEM[quantity.unit], stated.get(quantity.value, [])
        units = {
            own if is_date(other) else _UNITS_BY_STEM.get(other.unit, own) for _, other in others
        }
        if not units or own in units:
            continue
        words = _words_around(output, quantity)
        shares = [
            (len(words & _words_around(inputs[name], other)), name, other) for name, other in others
        ]
        compared = [
            each
            for each in shares
            if _is_alike(own, _UNITS_BY_STEM[each[2].unit], each[0], value=quantity.value)
        ]
        if compared:
            _, name, other = max(compared, key=itemgetter(0))
            yield contradiction(
                output,
                _extent_of(output, quantity),
                category="unit",
                severity=_SEVERITY,
                name=name,
                source=inputs[name],
                passage=_extent_of(inputs[name], other),
            )


def _is_alike(own: tuple[str, str], other: tuple[str, str], shared: int, *, value: float) -> bool:
    """Return whether two equal numbers are of the same, by their units and the `shared` words."""
    if value > _SMALL and shared >= _SHARED:
        return True
    return own[0] == other[0] and shared >= _SHARED_WITH_SMALL


def _words_around(text: str, quantity: Quantity) -> AbstractSet[str]:
    """Return the keys of the sentence that contains a quantity, apart from numbers and units."""
    start, end = cut_source(text).intervals[quantity.sentence]
    tokens = phrase(text[start:end]).tokens
    return {token.key for token in tokens if token.kind != "number"} - _UNIT_KEYS


def _extent_of(text: str, quantity: Quantity) -> tuple[int, int]:
    """Return the offsets of a number with its unit."""
    if text[quantity.start - 1 : quantity.start] in _CURRENCIES:
        return quantity.start - 1, quantity.end
    word = _WORD.match(text, quantity.end)
    return quantity.start, word.end() if word else quantity.end
