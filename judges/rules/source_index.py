"""A source, indexed for the question whether it supports a word, a number or a join."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from math import isinf

from spanjury.judges.rules.dates import dates
from spanjury.judges.rules.numbers import ORDINALS, numbers
from spanjury.judges.rules.quantities import compounds, other_readings
from spanjury.judges.text.lexicon import FUNCTION_WORDS
from spanjury.judges.text.sentences import sentence_intervals
from spanjury.judges.text.stems import stem
from spanjury.judges.text.words import folded_words

_NEIGHBOURS = 16  # numbers on either side of one that are near it
_PREFIX = 5  # letters that a derived word shares with its origin, as legal and legalise do

_CAMEL = re.compile(r"\b[a-z]+(?:[A-Z][a-z]+)+\b")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_FULL_STOP = "|"  # no word, so that no number is read across sentences
_SENTENCES = 4096  # kept apart; those of longer texts share numbers, so that memory is bounded
_PROSE = 0.15  # share of function words that a source made of sentences reaches
_SHORT = 20  # words below which that share means nothing
_MARKUP = ("[", "{", "|", "=", "<", "_", '":')
_DENSE = 8  # words for each mark that a source made of sentences exceeds


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceIndex:
    """Index of a source: its words, numbers and names.

    Parameters
    ----------
    where
        Stem of each word -> the sentences it stands in, one bit each; 0 for a word that
        the source implies but does not hold.
    prefixes
        The first five letters of each stem that has as many.
    trigrams
        Hashes of the stems of three words in a row.
    pairs, triples
        Hashes of the stems of two and three words in a row, function words left out.
    values
        The numbers it states, each numeral for itself too, ascending.
    places
        What its ordinals count.
    text
        The source itself.
    prose
        Whether it is made of sentences, or else of data: a table, triples, JSON.
    """

    where: Mapping[str, int]
    prefixes: AbstractSet[str]
    trigrams: AbstractSet[int]
    pairs: AbstractSet[int]
    triples: AbstractSet[int]
    values: Sequence[float]
    places: AbstractSet[float]
    prose: bool
    text: str

    def knows(self, stemmed: str) -> bool:
        """Whether a word of this stem, or one derived from it, stands in the source."""
        return stemmed in self.where or (
            len(stemmed) >= _PREFIX and stemmed[:_PREFIX] in self.prefixes
        )

    def in_one_sentence(self, left: str, right: str) -> bool:
        """Whether two stems stand in one sentence of the source."""
        return bool(self.where.get(left, 0) & self.where.get(right, 0))

    def states(self, value: float) -> bool:
        """Whether the source states the number `value`."""
        return self.nearest(value) == value

    def near(self, value: float, *, share: float) -> Sequence[float]:
        """Return the nearest of its numbers that are at most `share` of `value` away."""
        at = bisect_left(self.values, value)
        around = self.values[max(0, at - _NEIGHBOURS) : at + _NEIGHBOURS]
        return [known for known in around if abs(known - value) <= share * abs(value)]

    def nearest(self, value: float) -> float | None:
        """Return the number of the source that is nearest to `value`, if it has any."""
        at = bisect_left(self.values, value)
        around = self.values[max(0, at - 1) : at + 1]
        return min(around, key=lambda known: abs(known - value), default=None)


@lru_cache(maxsize=8)  # the aspects and systems that share a source come one after another
def index_source(text: str) -> SourceIndex:
    """Index `text`; takes time and memory in proportion to its length.

    In data, identifiers are read as the words that they are made of: ``leaderName``,
    ``eat_type``.
    """
    index = _index(text)
    if not index.prose and _CAMEL.search(text):
        readable = _index(f"{text}\n\n{_CAMEL.sub(_without_humps, text)}")
        return replace(readable, text=text)
    return index


def _without_humps(identifier: re.Match[str]) -> str:
    return _HUMP.sub(" ", identifier.group())


def _index(text: str) -> SourceIndex:
    """Index `text` word by word as it stands."""
    stems: list[str] = []
    content: list[str] = []
    tokens: list[str] = []
    where: dict[str, int] = {}
    for number, (start, end) in enumerate(sentence_intervals(text)):
        folded = folded_words(text[start:end])
        stemmed = [stem(word) for word in folded]
        stems += stemmed
        content += [known for known in stemmed if known not in FUNCTION_WORDS]
        tokens += folded
        tokens.append(_FULL_STOP)
        sentence = 1 << number % _SENTENCES
        for known in stemmed:
            where[known] = where.get(known, 0) | sentence
    for _, readings in dates(compounds(text)):
        for word in (word for said in readings for word in said):
            where.setdefault(stem(word), 0)
    return SourceIndex(
        where=where,
        prefixes={known[:_PREFIX] for known in where if len(known) >= _PREFIX},
        trigrams=set(triple_hashes(stems)),
        pairs=set(pair_hashes(content)),
        triples=set(triple_hashes(content)),
        values=sorted({*_values(tokens), *other_readings(text)}),
        places={float(ORDINALS[word]) for word in ORDINALS.keys() & where.keys()},
        prose=_is_prose(text, size=len(stems), functional=len(stems) - len(content)),
        text=text,
    )


def _is_prose(text: str, *, size: int, functional: int) -> bool:
    """Whether a text is made of sentences, by its function words and its markup."""
    if sum(map(text.count, _MARKUP)) * _DENSE > size:
        return False
    return size < _SHORT or functional >= _PROSE * size


def pair_hashes(stems: Sequence[str]) -> Iterator[int]:
    """Yield the hash of each two stems in a row: sets of them are small and quickly made."""
    return map(hash, pairwise(stems))


def triple_hashes(stems: Sequence[str]) -> Iterator[int]:
    """Yield the hash of each three stems in a row."""
    return map(hash, zip(stems, stems[1:], stems[2:], strict=False))


def _values(folded: Sequence[str]) -> Iterator[float]:
    """Yield the finite numbers that words state, and that of each numeral alone."""
    for number in numbers(folded):
        if not isinf(number.value):
            yield number.value
        if number.stop > number.first + 1 and not number.spelled:
            yield float(folded[number.first])
