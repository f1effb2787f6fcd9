"""A source, indexed for the question whether it supports a word, a number or a join."""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from itertools import chain, pairwise
from math import isinf

from spanjury.judges.rules.dates import dates
from spanjury.judges.rules.numbers import ORDINALS, numbers
from spanjury.judges.rules.quantities import compounds, other_readings
from spanjury.judges.rules.source_text import SourceText, cut_source
from spanjury.judges.text.kept import KeptByText
from spanjury.judges.text.lexicon import FUNCTION_WORDS
from spanjury.judges.text.stems import STEMS, stem

_NEIGHBOURS = 16  # numbers on either side of one that are near it

_PREFIX = 5  # letters that a derived word shares with its origin, as legal and legalise do

_CAMEL = re.compile(r"\b[a-z]+(?:[A-Z][a-z]+)+\b")

_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")

_FULL_STOP = "|"  # no word, so that no number is read across sentences

_LETTERS = ":"  # sorts after digits and before letters

SENTENCES = 4096  # kept apart; those of longer texts share numbers, so that memory is bounded

_PROSE = 0.15  # share of function words that a source made of sentences reaches

_SHORT = 20  # words below which that share means nothing

_MARKUP = ("[", "{", "|", "=", "<", "_", '":')

_DENSE = 8  # words for each mark that a source made of sentences exceeds

SHORT = 1500
"""Words of a text up to which a search in it is faster than sets of its sequences."""

_SIGNS = "".join(map(chr, range(1, 4 * SHORT)))

_UNKNOWN = "\0"  # stands for every word that the source does not have


class Sequences:
    """The pairs and triples of words of a source.

    Each of its words has a sign, so that the source is a string, and words side by side are found
    by a search in it: the string is made at once, and takes next to no memory. The search takes
    time in proportion to the source, so that a long one has sets of hashes instead.

    Parameters
    ----------
    signs
        The sign of each of `words`; None for a long source.
    """

    __slots__ = ("_hashes", "_signs", "_text")

    def __init__(self, words: Sequence[str], *, signs: Mapping[str, str] | None) -> None:
        self._signs = signs or {}
        self._text = "".join(map(self._signs.__getitem__, words)) if signs is not None else ""
        self._hashes = (
            {size: frozenset(_hashed(words, size)) for size in (2, 3)} if signs is None else {}
        )

    def held(self, words: Sequence[str], *, size: int) -> list[bool]:
        """Return for each `size` words in a row, 2 or 3, whether the source has them in a row."""
        if self._hashes:
            return [*map(self._hashes[size].__contains__, _hashed(words, size))]
        signs, text = "".join([self._signs.get(word, _UNKNOWN) for word in words]), self._text
        return [signs[at : at + size] in text for at in range(len(signs) - size + 1)]


class SourceIndex:
    """Index of a source: its words, numbers and names.

    What not every text asks for is indexed when it is first asked for.

    Parameters
    ----------
    source
        The words that are indexed.
    text
        The source itself, if it is another text than that of `source`.

    Attributes
    ----------
    where
        Stem of each word -> the sentences it stands in, one bit each; 0 for a function word, and
        for a word that the source implies but does not hold.
    prose
        Whether it is made of sentences, or else of data: a table, triples, JSON.
    """

    def __init__(self, source: SourceText, *, text: str | None = None) -> None:
        self.text = source.text if text is None else text
        self._source = source
        self._stems = [[*map(STEMS.__getitem__, folded)] for folded in source.folded]
        self._content = [
            [stemmed for stemmed in stems if stemmed not in FUNCTION_WORDS] for stems in self._stems
        ]
        self.where: Mapping[str, int] = _where(self._stems, self._content, source)
        size, content = sum(map(len, self._stems)), sum(map(len, self._content))
        self.prose = _is_prose(source.text, size=size, functional=size - content)
        self._signs = signs_of(self.where) if size <= SHORT else None

    @cached_property
    def sequences(self) -> Sequences:
        """The stems of words in a row."""
        return Sequences([*chain.from_iterable(self._stems)], signs=self._signs)

    @cached_property
    def content_sequences(self) -> Sequences:
        """The same, function words left out."""
        return Sequences([*chain.from_iterable(self._content)], signs=self._signs)

    @cached_property
    def prefixes(self) -> AbstractSet[str]:
        """The first five letters of each stem that has as many."""
        return {stemmed[:_PREFIX] for stemmed in self.where if len(stemmed) >= _PREFIX}

    @cached_property
    def values(self) -> Sequence[float]:
        """The numbers it states, each numeral for itself too, ascending."""
        words = [word for folded in self._source.folded for word in (*folded, _FULL_STOP)]
        return sorted({*_values(words), *other_readings(self._source.text)})

    @cached_property
    def ordinals(self) -> AbstractSet[float]:
        """Places in an order that its ordinals name."""
        return {float(ORDINALS[word]) for word in ORDINALS.keys() & self.where.keys()}

    def knows(self, stemmed: str) -> bool:
        """Say whether a word of this stem, or one derived from it, stands in the source."""
        return stemmed in self.where or (
            len(stemmed) >= _PREFIX and stemmed[:_PREFIX] in self.prefixes
        )

    def in_one_sentence(self, left: str, right: str) -> bool:
        """Say whether two stems stand in one sentence of the source."""
        return bool(self.where.get(left, 0) & self.where.get(right, 0))

    def states(self, value: float) -> bool:
        """Say whether the source states the number `value`."""
        return self.nearest(value) == value

    def near(self, value: float, *, share: float) -> Sequence[float]:
        """Return the nearest of its numbers that are at most `share` of `value` away."""
        at = bisect_left(self.values, value)
        around = self.values[max(0, at - _NEIGHBOURS) : at + _NEIGHBOURS]
        return [number for number in around if abs(number - value) <= share * abs(value)]

    def nearest(self, value: float) -> float | None:
        """Return the number of the source that is nearest to `value`, if it has any."""
        at = bisect_left(self.values, value)
        around = self.values[max(0, at - 1) : at + 1]
        return min(around, key=lambda number: abs(number - value), default=None)


def _indexed(text: str) -> SourceIndex:
    index = SourceIndex(cut_source(text))
    if not index.prose and _CAMEL.search(text):
        return SourceIndex(cut_source(f"{text}\n\n{_CAMEL.sub(_without_humps, text)}"), text=text)
    return index


def _without_humps(identifier: re.Match[str]) -> str:
    return _HUMP.sub(" ", identifier.group())


index_source = KeptByText(_indexed)
"""Index a text; takes time and memory in proportion to its length.

In data, identifiers are read as the words that they are made of: ``leaderName``, ``eat_type``.
"""


def _where(
    stems: Sequence[Sequence[str]], content: Sequence[Sequence[str]], source: SourceText
) -> dict[str, int]:
    """Find the sentences that each stem stands in; add the words that dates in digits imply."""
    where = dict.fromkeys(chain.from_iterable(stems), 0)
    for number, stemmed in enumerate(content):
        sentence = 1 << number % SENTENCES
        for word in stemmed:
            where[word] |= sentence
    for start, end in _with_digits(source):
        for _, readings in dates(compounds(source.text[start:end])):
            for word in chain.from_iterable(readings):
                where.setdefault(stem(word), 0)
    return where


def _with_digits(source: SourceText) -> Iterator[tuple[int, int]]:
    """Yield the sentences that have digits; no date reaches from one into the next."""
    ascii_only = source.text.isascii()
    for interval, folded in zip(source.intervals, source.folded, strict=True):
        if not ascii_only or min(folded, default=_LETTERS) < _LETTERS:  # numerals come first
            yield interval


def _is_prose(text: str, *, size: int, functional: int) -> bool:
    """Say whether a text is made of sentences, by its function words and its markup."""
    if sum(map(text.count, _MARKUP)) * _DENSE > size:
        return False
    return size < _SHORT or functional >= _PROSE * size


def _values(folded: Sequence[str]) -> Iterator[float]:
    """Yield the finite numbers that words state, and that of each numeral alone."""
    for number in numbers(folded):
        if not isinf(number.value):
            yield number.value
        if number.stop > number.first + 1 and not number.spelled:
            yield float(folded[number.first])


def signs_of(words: Collection[str]) -> dict[str, str] | None:
    """Give each of different words a sign of its own; None where they are too many."""
    return dict(zip(words, _SIGNS, strict=False)) if len(words) <= len(_SIGNS) else None


def _hashed(words: Sequence[str], size: int) -> Iterator[int]:
    """Yield the hash of each so many words in a row: sets of them are small and quickly made."""
    if size == 2:  # noqa: PLR2004
        return map(hash, pairwise(words))
    return map(hash, zip(words, words[1:], words[2:], strict=False))
