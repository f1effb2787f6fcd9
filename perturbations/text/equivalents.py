"""Equivalents: phrases of a text that may be said another way without a change of meaning."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType

from spanjury.perturbations.text.clusters import masked
from spanjury.perturbations.text.places import Choice, cased_like, fitted
from spanjury.perturbations.text.wordlists import lists

__all__ = ["equivalents", "phrases_of", "phrases_pattern"]


def equivalents(text: str) -> Iterator[Choice]:
    """Yield the phrases of an English `text` that have an equivalent, with it, in order."""
    known = _known()
    for match in phrases_pattern(tuple(known)).finditer(masked(text)):
        phrase = match.group()
        others = (cased_like(other, phrase) for other in known[phrase.lower()])
        yield fitted(text, Choice(match.start(), match.end(), tuple(others)))


def phrases_of(name: str, *, key: str) -> tuple[tuple[str, str], ...]:
    """Return the pairs that the list `key` of the word list `name` writes as ``a = b``."""
    pairs = (line.partition(" = ") for line in lists(name)[key])
    return tuple((first, second) for first, _, second in pairs)


@cache
def phrases_pattern(phrases: tuple[str, ...]) -> re.Pattern[str]:
    """Return what matches any of `phrases` as whole words, the longest first, in any case."""
    longest = sorted(phrases, key=len, reverse=True)
    return re.compile(
        rf"(?<![\w'’-])(?:{'|'.join(map(re.escape, longest))})(?![\w'’-])", re.IGNORECASE
    )


@cache
def _known() -> Mapping[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    pairs = phrases_of("equivalents", key="both")
    for first, second in (*pairs, *((b, a) for a, b in pairs)):
        found[first] = (*found.get(first, ()), second)
    for first, second in phrases_of("equivalents", key="one_way"):
        found[first] = (*found.get(first, ()), second)
    return MappingProxyType(found)
