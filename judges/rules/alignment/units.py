"""Units: numbers that the source states only with units other than the text's."""

import re
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from types import MappingProxyType

from spanjury.judges.rules.alignment.contradiction import Contradiction, contradiction
from spanjury.judges.rules.alignment.keys import key
from spanjury.judges.rules.alignment.tokens import UNITS, phrase
from spanjury.judges.rules.quantities import Quantity, quantities
from spanjury.judges.rules.source_index import cut_source
from spanjury.judges.text.stems import stem

_SEVERITY = 4
_SMALL = 10  # numbers up to this may count something else by chance
_SHARED = 1  # minimum equal words of the two sentences, apart from numbers and units
_SHARED_WITH_SMALL = 2  # the same for a small number, whose units must have one dimension
_WORD = re.compile(r"[\s-]*(?:%|[^\W\d_]+)")
_SIGNS = frozenset("$£€¥")
_AMBIGUOUS = frozenset(("pound", "cent"))  # money or weight; money or part of "per cent"
_UNITS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        stem(word): unit
        for word, unit in UNITS.items()
        if word.isalpha() and stem(word) not in _AMBIGUOUS
    }
)
"""Stem of a word for a unit -> its dimension and name."""
_UNIT_KEYS = frozenset(map(key, UNITS))


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
        if quantity.unit in _UNITS and not _is_literal(output, quantity, inputs.values())
    ]
    if not claimed:
        return
    stated: dict[float, list[tuple[str, Quantity]]] = {}
    for name, text in inputs.items():
        for quantity in quantities(text):
            stated.setdefault(quantity.value, []).append((name, quantity))
    for quantity in claimed:
        own, others = _UNITS[quantity.unit], stated.get(quantity.value, [])
        units = {_UNITS.get(other.unit, own) for _, other in others}
        if not units or own in units:
            continue
        words = _sentence(output, quantity)
        for name, other in others:
            shared = len(words & _sentence(inputs[name], other))
            is_alike = _UNITS[other.unit][0] == own[0] and shared >= _SHARED_WITH_SMALL
            if is_alike or (quantity.value > _SMALL and shared >= _SHARED):
                yield contradiction(
                    output,
                    _extent(output, quantity),
                    category="unit",
                    severity=_SEVERITY,
                    name=name,
                    source=inputs[name],
                    passage=_extent(inputs[name], other),
                )
                break


def _is_literal(output: str, quantity: Quantity, sources: Iterable[str]) -> bool:
    """Return whether a source has number and unit verbatim, so that no reading is needed."""
    start, end = _extent(output, quantity)
    return any(output[start:end] in source for source in sources)


def _sentence(text: str, quantity: Quantity) -> AbstractSet[str]:
    """Return the keys of the sentence that contains a quantity, apart from numbers and units."""
    start, end = cut_source(text).intervals[quantity.sentence]
    tokens = phrase(text[start:end]).tokens
    return {token.key for token in tokens if token.kind != "number"} - _UNIT_KEYS


def _extent(text: str, quantity: Quantity) -> tuple[int, int]:
    """Return the offsets of a number with its unit."""
    if text[quantity.start - 1 : quantity.start] in _SIGNS:
        return quantity.start - 1, quantity.end
    word = _WORD.match(text, quantity.end)
    return quantity.start, word.end() if word else quantity.end
